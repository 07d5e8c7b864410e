// SPDX-License-Identifier: Apache-2.0
// FULLY_CONNECTED with constant dense weights, float32, 8-bit (weights of fewer bits, too) or hybrid: as a convolution
// of 1x1, or, where blocks of the weights have scales, by blockwise.h.
#include "ops/fully_connected.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "abi/built_types.h"
#include "fast/blockwise.h"
#include "fast/convolve.h"
#include "fast/fast.h"

// The reference kernel adds in 64 bits. `columns` products of two values in [-255, 255], and a bias, must fit 32.
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

// One of both.
struct fully_connected {
    void *blockwise, *convolve;
};

static void fully_connected_release(void *state)
{
    struct fully_connected *made = state;
    if (!made) return;
    hl_blockwise_destroy(made->blockwise);
    hl_convolve_destroy(made->convolve);
    free(made);
}

// Weights whose stored type is what they mean, one scale for each unit or for blocks of columns, and an activation that
// is a range.
static bool takes_hybrid(const TfLiteNode *node, const struct hl_fully_connected *op, const TfLiteTensor *w)
{
    const TfLiteFullyConnectedParams *params = node->builtin_data;
    bool range = params->activation == kTfLiteActNone || params->activation == kTfLiteActRelu ||
                 params->activation == kTfLiteActReluN1To1 || params->activation == kTfLiteActRelu6;
    const bool scales = op->block == op->columns || (HL_HAS_BLOCKS && hl_blockwise_fits(op, w));
    return range && scales && w->type != kTfLiteUInt8;
}

static TfLiteStatus create(TfLiteContext *ctx, TfLiteNode *node, struct fully_connected *made, size_t *bytes)
{
    const struct hl_fully_connected *op = node->user_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0), *w = hl_input(ctx, node, 1), *bias = hl_input(ctx, node, 2);
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    if (op->rows == 0 || op->units == 0 || !hl_is_packable(w) || (bias && !hl_is_packable(bias))) return kTfLiteOk;
    bool bytes_only = op->mode == HL_FC_INTEGER && x->type != kTfLiteInt16 && x->type == y->type;
    bool hybrid = op->mode == HL_FC_HYBRID && takes_hybrid(node, op, w);
    if (op->mode != HL_FC_FLOAT && !hybrid && !(bytes_only && fits(bias, op->columns))) return kTfLiteOk;
    const TfLiteFullyConnectedParams *params = node->builtin_data;
    const struct hl_conv_shape shape = {
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
    struct hl_convolve_params desc = {
        .input = x,
        .filter = w,
        .bias = bias,
        .filter_zero = op->filter_zero,
        .results = {.low_f32 = op->low_f32, .high_f32 = op->high_f32, .low = op->low, .high = op->high},
    };
    if (bytes_only) {
        desc.results.scales = op->scales;
        desc.results.zero = hl_zero(y);
    }
    if (hybrid) {
        desc.filter_zero = 0;
        desc.asymmetric = params->asymmetric_quantize_inputs;
        desc.results.filter_scales = op->scales;
        desc.results.filter_scale_step = 1;
        desc.results.bias = bias ? HL_IN(float, bias) : NULL;
        // Without an activation there is no bound, and infinities stay.
        if (desc.results.low_f32 == -FLT_MAX) desc.results.low_f32 = -INFINITY;
        if (desc.results.high_f32 == FLT_MAX) desc.results.high_f32 = INFINITY;
    }
    if (HL_HAS_BLOCKS && op->block != op->columns)
        return hl_blockwise_create(ctx, node, op, desc.results.low_f32, desc.results.high_f32, &made->blockwise, bytes);
    return hl_convolve_create(ctx, node, &shape, &desc, &made->convolve, bytes);
}

static TfLiteStatus fully_connected_prepare(TfLiteContext *ctx, TfLiteNode *node, void **state, size_t *bytes)
{
    struct fully_connected made = {0};
    HL_TRY(create(ctx, node, &made, bytes));
    if (!made.blockwise && !made.convolve) return kTfLiteOk;
    struct fully_connected *kept = malloc(sizeof *kept);
    if (!kept) {
        hl_blockwise_destroy(made.blockwise);
        hl_convolve_destroy(made.convolve);
    }
    HL_REQUIRE(ctx, node, kept, "no memory for the %zu bytes of a fast kernel", sizeof *kept);
    *kept = made;
    *state = kept;
    *bytes += sizeof *kept;
    return kTfLiteOk;
}

static TfLiteStatus fully_connected_invoke(TfLiteContext *ctx, TfLiteNode *node, void *state)
{
    const struct fully_connected *made = state;
    const void *x = hl_data(hl_input(ctx, node, 0));
    void *y = hl_result(ctx, node)->data.data;
    if (HL_HAS_BLOCKS && made->blockwise)
        hl_blockwise_run(ctx, made->blockwise, x, y);
    else
        hl_convolve_run(ctx, made->convolve, x, y);
    return kTfLiteOk;
}

static bool fully_connected_lead(void *state, const struct hl_chain *chain)
{
    const struct fully_connected *made = state;
    return made->convolve && hl_convolve_lead(made->convolve, chain);
}

const struct hl_fast hl_fast_fully_connected = {
    .prepare = fully_connected_prepare,
    .invoke = fully_connected_invoke,
    .release = fully_connected_release,
    .lead = fully_connected_lead,
};
