// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions whose outputs gather what they are made of. In: the shape and weights of a TRANSPOSE_CONV,
// and then its input. Out: its output, each value written once.
#ifndef HALITE_FAST_TRANSPOSE_GATHER_H
#define HALITE_FAST_TRANSPOSE_GATHER_H

#include "ops/transpose_conv.h"

// *gather: NULL, and no error, where adding products to the outputs takes fewer cycles (transpose_conv.c), or memory or
// the limit is exhausted. Weights and bias must be known in prepare.
// shape: the node's, or the same turned.
TfLiteStatus hl_transpose_gather_create(TfLiteContext *ctx, const TfLiteNode *node, const struct hl_conv_shape *shape,
                                        void **gather, size_t *bytes);
void hl_transpose_gather_run(TfLiteContext *ctx, const void *gather, const void *x, void *y);
void hl_transpose_gather_destroy(void *gather);

#endif
