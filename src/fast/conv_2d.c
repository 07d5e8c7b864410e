// SPDX-License-Identifier: Apache-2.0
// CONV_2D with constant weights, float32, 8-bit (weights of 4 bits, too) or hybrid, in any number of groups.
#include "fast/convolve.h"
#include "fast/fast.h"
#include "ops/common/conv.h"

static TfLiteStatus conv_2d_prepare(TfLiteContext *ctx, TfLiteNode *node, void **state, size_t *bytes)
{
    const struct hl_conv_2d *op = node->user_data;
    const TfLiteTensor *w = hl_input(ctx, node, 1), *bias = hl_input(ctx, node, 2);
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    bool hybrid = op->conv.mode == HL_CONV_HYBRID;
    if (op->conv.mode == HL_CONV_INT16 || (hybrid && w->type == kTfLiteUInt8)) return kTfLiteOk;
    if (!hl_is_packable(w) || (bias && !hl_is_packable(bias)) || hl_elements(y) == 0) return kTfLiteOk;
    struct hl_convolve_params params = hl_convolve_conv_params(ctx, node, &op->conv);
    struct hl_conv_shape shape = op->shape;
    const bool pads = hl_fast_pads(ctx, node, &op->conv, true, &shape);
    HL_TRY(hl_convolve_create(ctx, node, &shape, &params, state, bytes));
    if (pads && *state) hl_take_pad(ctx, node);
    return kTfLiteOk;
}

static TfLiteStatus conv_2d_invoke(TfLiteContext *ctx, TfLiteNode *node, void *state)
{
    hl_convolve_run(ctx, state, hl_data(hl_image(ctx, node)), hl_output(ctx, node, 0)->data.data);
    return kTfLiteOk;
}

const struct hl_fast hl_fast_conv_2d = {conv_2d_prepare, conv_2d_invoke, hl_convolve_destroy};
