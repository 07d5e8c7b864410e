// SPDX-License-Identifier: Apache-2.0
// DEPTHWISE_CONV_2D with constant weights and one output for each channel, float32 or 8-bit (weights of 4 bits, too): one
// output position after the other, all channels at once.
#include <stdlib.h>
#include <string.h>

#include "fast/fast.h"
#include "fast/simd.h"
#include "ops/conv.h"

// Fewer outputs than this take about as long as it takes to share them.
enum { LEAST_OUTPUTS = 16384 };

struct depthwise {
    const struct hl_simd *simd;
    const float *w_f32; // the model's own
    struct hl_requantise by;
    // [channels] each, behind the struct: float or int32, and for integers the weights [taps][channels].
    char *bias;
    int32_t *w;
};

static void pack(struct depthwise *made, const struct hl_conv_2d *op, const TfLiteTensor *w,
                 const TfLiteTensor *bias, const TfLiteTensor *y, int channels, int32_t *more)
{
    if (bias) memcpy(made->bias, hl_data(bias), (size_t)channels * 4);
    if (op->conv.mode == HL_CONV_F32) {
        made->w_f32 = HL_IN(float, w);
        return;
    }
    int32_t *multiplier = more, *left = multiplier + channels, *right = left + channels;
    for (int c = 0; c < channels; c++) {
        struct hl_rescale by = op->conv.rescales[c];
        multiplier[c] = by.multiplier;
        left[c] = by.shift > 0 ? by.shift : 0;
        right[c] = by.shift > 0 ? 0 : -by.shift;
    }
    made->by =
        (struct hl_requantise){multiplier, left, right, hl_zero(y), op->conv.low, op->conv.high};
    made->w = right + channels;
    for (int64_t i = 0; i < hl_elements(w); i++) {
        int16_t value;
        hl_widen(w->type, hl_data(w), i, 1, w->type == kTfLiteUInt8 ? hl_zero(w) : 0, &value);
        made->w[i] = (uint16_t)value; // its pair is 0
    }
}

static TfLiteStatus depthwise_prepare(TfLiteContext *ctx, TfLiteNode *node, void **state,
                                      size_t *bytes)
{
    const struct hl_conv_2d *op = node->user_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0), *w = hl_input(ctx, node, 1),
                       *bias = hl_input(ctx, node, 2);
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    int channels = hl_dim(x, 3);
    if (op->conv.mode != HL_CONV_F32 && op->conv.mode != HL_CONV_8BIT) return kTfLiteOk;
    if (!hl_is_packable(w) || (bias && !hl_is_packable(bias)) || hl_elements(y) == 0)
        return kTfLiteOk;
    if (hl_dim(w, 3) != channels) return kTfLiteOk;
    bool floats = op->conv.mode == HL_CONV_F32;
    size_t count = (size_t)channels * (floats ? 1 : 4) + (floats ? 0 : (size_t)hl_elements(w));
    if (!hl_mul_size(count, 4, bytes) || *bytes > SIZE_MAX / 2) return kTfLiteOk;
    *bytes += sizeof(struct depthwise);
    HL_TRY(hl_fast_make(ctx, node, *bytes, state));
    if (!*state) return kTfLiteOk;
    struct depthwise *made = *state;
    made->simd = hl_simd_best(channels);
    made->bias = (char *)(made + 1);
    pack(made, op, w, bias, y, channels, (int32_t *)made->bias + channels);
    return kTfLiteOk;
}

struct run {
    TfLiteContext *ctx;
    TfLiteNode *node;
    const struct depthwise *fast;
    int64_t rows; // of output, in each item
};

// Rows of all batches, one after the other, are numbered.
static void run_rows(void *arg, int64_t item, int worker)
{
    (void)worker;
    const struct run *run = arg;
    const struct depthwise *fast = run->fast;
    const TfLiteNode *node = run->node;
    const TfLiteDepthwiseConvParams *params = node->builtin_data;
    const struct hl_conv_2d *op = node->user_data;
    const TfLiteTensor *x = hl_input(run->ctx, node, 0), *w = hl_input(run->ctx, node, 1);
    TfLiteTensor *y = hl_output(run->ctx, run->node, 0);
    int height = hl_dim(x, 1), width = hl_dim(x, 2), channels = hl_dim(x, 3);
    int kh = hl_dim(w, 1), kw = hl_dim(w, 2);
    int dilation_h = params->dilation_height_factor, dilation_w = params->dilation_width_factor;
    struct hl_window_taps taps = {
        .x_down = (int64_t)dilation_h * width * channels,
        .x_right = (int64_t)dilation_w * channels,
        .w_down = (int64_t)kw * channels,
        .w_right = channels,
        .channels = channels,
    };
    bool is_unsigned = x->type == kTfLiteUInt8;
    int64_t row = item * run->rows, end = row + run->rows, all = (int64_t)hl_dim(x, 0) * op->y.out;
    if (end > all) end = all;
    int64_t at = row * op->x.out * channels;
    for (; row < end; row++) {
        int64_t top = row % op->y.out * params->stride_height - op->y.before;
        hl_conv_taps(top, height, kh, dilation_h, &taps.k0, &taps.k1);
        for (int j = 0; j < op->x.out; j++, at += channels) {
            int64_t left = (int64_t)j * params->stride_width - op->x.before;
            hl_conv_taps(left, width, kw, dilation_w, &taps.l0, &taps.l1);
            taps.x = ((row / op->y.out * height + top) * width + left) * channels;
            if (op->conv.mode == HL_CONV_F32)
                fast->simd->depthwise_f32(&taps, HL_IN(float, x), fast->w_f32,
                                          (const float *)fast->bias, op->conv.low_f32,
                                          op->conv.high_f32, HL_OUT(float, y) + at);
            else
                fast->simd->depthwise_integer(&taps, HL_IN(uint8_t, x), is_unsigned, hl_zero(x),
                                              fast->w, (const int32_t *)fast->bias, &fast->by,
                                              HL_OUT(uint8_t, y) + at);
        }
    }
}

static TfLiteStatus depthwise_invoke(TfLiteContext *ctx, TfLiteNode *node, void *state)
{
    const struct hl_conv_2d *op = node->user_data;
    int64_t rows = (int64_t)hl_dim(hl_input(ctx, node, 0), 0) * op->y.out,
            threads = hl_thread_count(ctx);
    int64_t items = rows < 2 * threads ? rows : 2 * threads;
    if (hl_elements(hl_output(ctx, node, 0)) < LEAST_OUTPUTS || threads == 1) items = 1;
    struct run run = {ctx, node, state, (rows + items - 1) / items};
    hl_parallel(ctx, (rows + run.rows - 1) / run.rows, run_rows, &run);
    return kTfLiteOk;
}

const struct hl_fast hl_fast_depthwise_conv_2d = {depthwise_prepare, depthwise_invoke, free};
