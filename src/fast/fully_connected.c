// SPDX-License-Identifier: Apache-2.0
// FULLY_CONNECTED with constant dense weights, float32 or 8-bit (weights of fewer bits, too), as a convolution of 1x1.
#include "ops/fully_connected.h"

#include "fast/convolve.h"
#include "fast/fast.h"

// So many products of a value in [-255, 255] with another, and a bias, have a sum of 32 bits, as the reference's has 64.
static bool fits(const TfLiteTensor *bias, int columns)
{
    int64_t largest = 0;
    if (bias && bias->type != kTfLiteInt32) return false;
    for (int64_t i = 0; bias && i < hl_elements(bias); i++) {
        int64_t value = HL_IN(int32_t, bias)[i];
        if (value < 0) value = -value;
        if (value > largest) largest = value;
    }
    return (int64_t)columns * 255 * 255 + largest <= INT32_MAX;
}

static TfLiteStatus fully_connected_prepare(TfLiteContext *ctx, TfLiteNode *node, void **state,
                                            size_t *bytes)
{
    const struct hl_fully_connected *op = node->user_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0), *w = hl_input(ctx, node, 1),
                       *bias = hl_input(ctx, node, 2);
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    if (op->rows == 0 || op->units == 0 || !hl_is_packable(w) || (bias && !hl_is_packable(bias)))
        return kTfLiteOk;
    bool bytes_only = op->mode == HL_FC_INTEGER && x->type != kTfLiteInt16 && x->type == y->type;
    if (op->mode != HL_FC_FLOAT && !(bytes_only && fits(bias, op->columns))) return kTfLiteOk;
    const struct hl_convolve_shape shape = {
        .batches = op->rows,
        .height = 1,
        .width = 1,
        .channels = op->columns,
        .outputs = op->units,
        .kh = 1,
        .kw = 1,
        .filter_channels = op->columns,
        .out_height = 1,
        .out_width = 1,
        .stride_h = 1,
        .stride_w = 1,
        .dilation_h = 1,
        .dilation_w = 1,
    };
    const struct hl_convolve_node what = {
        .input = x,
        .filter = w,
        .bias = bias,
        .output = y,
        .filter_zero = op->filter_zero,
        .low_f32 = op->low_f32,
        .high_f32 = op->high_f32,
        .low = op->low,
        .high = op->high,
        .scales = op->scales,
    };
    return hl_convolve_create(ctx, node, &shape, &what, state, bytes);
}

static TfLiteStatus fully_connected_invoke(TfLiteContext *ctx, TfLiteNode *node, void *state)
{
    hl_convolve_run(ctx, state, hl_data(hl_input(ctx, node, 0)),
                    hl_output(ctx, node, 0)->data.data);
    return kTfLiteOk;
}

const struct hl_fast hl_fast_fully_connected = {fully_connected_prepare, fully_connected_invoke,
                                                hl_convolve_destroy};
