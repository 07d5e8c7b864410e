// SPDX-License-Identifier: Apache-2.0
// Winograd's algorithm for float convolutions of 3x3 windows with stride 1, F(2x2, 3x3): 16 products where the window
// has 36. In: sizes and tensors as of convolve.h. Out: a state, and a run.
#ifndef HALITE_FAST_WINOGRAD_H
#define HALITE_FAST_WINOGRAD_H

#include "fast/convolve.h"

// Whether it computes such a convolution, and is faster. This depends on the convolution and the CPU level alone, so
// results are the same with any number of threads.
bool hl_winograd_pays(const struct hl_conv_shape *shape, const struct hl_convolve_params *params);
// *state: of *bytes bytes, or NULL (fast.h).
TfLiteStatus hl_winograd_create(TfLiteContext *ctx, const TfLiteNode *node, const struct hl_conv_shape *shape,
                                const struct hl_convolve_params *params, void **state, size_t *bytes);
void hl_winograd_destroy(void *winograd);
// Whether it goes on with the chain from now on (hl_fast.lead).
bool hl_winograd_lead(void *winograd, const struct hl_chain *chain);
// hl_fast.set_row_stride.
bool hl_winograd_set_row_stride(void *winograd, int64_t stride);
void hl_winograd_run(TfLiteContext *ctx, const void *winograd, const float *x, float *y);

#endif
