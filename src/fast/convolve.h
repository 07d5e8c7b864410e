// SPDX-License-Identifier: Apache-2.0
// Convolutions and products with constant weights, as products of tiles: CONV_2D, DEPTHWISE_CONV_2D of one channel, and
// FULLY_CONNECTED as a convolution of 1x1 positions. In: sizes and tensors. Out: a state that is made of packed weights
// (gemm.h), a row source (rows.h) and an epilogue (epilogue.h), and a run that brings them together.
#ifndef HALITE_FAST_CONVOLVE_H
#define HALITE_FAST_CONVOLVE_H

#include "fast/epilogue.h"
#include "ops/common/conv.h"

struct hl_convolve_params {
    const TfLiteTensor *input, *filter, *bias; // filter and bias are constant; no bias: NULL
    bool outputs_last; // the filter is [kh][kw][outputs], as a depthwise convolution of one channel has it
    int filter_zero;
    bool asymmetric; // hybrid: each batch of the input is quantized with a zero point
    // The state of the depthwise convolution that makes the input, which may make it block by block for this one, of
    // 1x1 windows; NULL: none.
    const void *depthwise;
    struct hl_epilogue_params results;
};

// Those of a node whose inputs are input, filter and bias, as CONV_2D's and DEPTHWISE_CONV_2D's.
struct hl_convolve_params hl_convolve_conv_params(TfLiteContext *ctx, const TfLiteNode *node,
                                                  const struct hl_conv *conv);

// Whether the node may take over the PAD before it (hl_find_pad), with the same values, bit for bit. `shape` is then
// that of the node which pads itself. has_rows: struct hl_rows computes it.
bool hl_fast_pads(TfLiteContext *ctx, const TfLiteNode *node, const struct hl_conv *conv, bool has_rows,
                  struct hl_conv_shape *shape);

// *state: of *bytes bytes, or NULL (fast.h). Input and filter are float32, or the input is int8 or uint8 and hl_widen
// reads the filter, or (hybrid: results.filter_scales) the input is float32 with such a filter, or (results.words) it
// is int16, there is one group, and hl_simd_best_of_pairs has a level. There is at least one output position, and one
// output channel.
TfLiteStatus hl_convolve_create(TfLiteContext *ctx, const TfLiteNode *node, const struct hl_conv_shape *shape,
                                const struct hl_convolve_params *params, void **state, size_t *bytes);
void hl_convolve_destroy(void *convolve);
// Whether it makes its input by params.depthwise: hl_convolve_run is then given what that reads.
bool hl_convolve_has_depthwise(const void *convolve);
// hl_fast.lead.
bool hl_convolve_lead(void *convolve, const struct hl_chain *chain);
// hl_fast.set_row_stride.
bool hl_convolve_set_row_stride(void *convolve, int64_t stride);
void hl_convolve_run(TfLiteContext *ctx, const void *convolve, const void *x, void *y);

#endif
