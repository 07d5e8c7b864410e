// SPDX-License-Identifier: Apache-2.0
// DEPTHWISE_CONV_2D: each input channel c has a filter of its own for each of its m outputs,
// y[b, i, j, o] = act(bias[o] + sum over k, l of w[0, k, l, o] * x[b, s, t, c]), o = c * m + q,
// s = i * stride_h + k * dilation_h - pad_top, t = j * stride_w + l * dilation_w - pad_left.
// in 0: x [batch, height, width, channels], in 1: w [1, kh, kw, channels * m], in 2: bias
// [channels * m], may be absent, out 0: y [batch, out height, out width, channels * m].
// float32; uint8; int8 or int16 with int8 or int4 weights; float32 with int8 weights. m follows
// from the shapes; the options' depth_multiplier is not looked at.
#include "fast/fast.h"
#include "ops/common/conv.h"
#include "ops/common/work.h"

static struct hl_conv_node describe(const TfLiteNode *node)
{
    const TfLiteDepthwiseConvParams *params = node->builtin_data;
    return (struct hl_conv_node){
        .input = 0,
        .filter = 1,
        .bias = 2,
        .channel_axis = 3,
        HL_CONV_STRIDES(params),
        HL_CONV_DILATIONS(params),
        .accepts = HL_CONV_NO_BIAS | HL_CONV_INT4,
    };
}

// Weights of hybrid nodes have a scale for each output channel.
static TfLiteStatus check_hybrid_scales(TfLiteContext *ctx, TfLiteNode *node, const TfLiteTensor *filter)
{
    const TfLiteAffineQuantization *weights = hl_affine(filter);
    int outputs = hl_dim(filter, 3), scales = weights->scale->size, axis = weights->quantized_dimension;
    HL_REQUIRE(ctx, node, scales == outputs && (axis == 3 || outputs == 1),
               "%d weight scales along dimension %d do not fit %d output channels", scales, axis, outputs);
    return kTfLiteOk;
}

static TfLiteStatus depthwise_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    struct hl_conv_2d *op = node->user_data;
    struct hl_conv_shape *shape = &op->shape;
    const struct hl_conv_node desc = describe(node);
    HL_TRY(hl_conv_2d_begin(ctx, node, &desc, shape));
    const TfLiteTensor *filter = hl_input(ctx, node, desc.filter), *bias = hl_input(ctx, node, desc.bias);
    HL_REQUIRE(ctx, node, hl_dim(filter, 0) == 1, "the filter's first dimension %d must be 1", hl_dim(filter, 0));
    HL_REQUIRE(ctx, node, shape->outputs % shape->channels == 0,
               "%d output channels are not a multiple of %d input channels", shape->outputs, shape->channels);
    HL_REQUIRE(ctx, node, !bias || hl_rank(bias) == 1, "the bias has %d dimensions, it must have 1", hl_rank(bias));
    HL_TRY(hl_conv_check(ctx, node, &desc, &op->conv));
    if (op->conv.mode == HL_CONV_HYBRID) HL_TRY(check_hybrid_scales(ctx, node, filter));
    op->conv.asymmetric = true;
    HL_TRY(hl_conv_scratch(ctx, node, &desc, &op->conv, 1));
    return hl_conv_shape_output(ctx, node, &desc, shape);
}

// Channels that are added up at once.
enum { BLOCK = 64 };

// The taps of one output position that lie inside the input, and where they are.
struct window {
    int k0, k1, l0, l1;         // taps
    int64_t x, x_down, x_right; // input elements: of tap (0, 0), from tap to tap
    int64_t w_down, w_right;    // the same of the filter
};

// sums[i] = sum over the taps of x * w for output channels first .. first + count. Each input
// channel has `multiplier` output channels.
#define ADD_TAPS(name, type, sum_type)                                                                                \
    static void name(const type *x, const type *w, const struct window *window, int multiplier, int first, int count, \
                     sum_type *restrict sums)                                                                         \
    {                                                                                                                 \
        for (int i = 0; i < count; i++) sums[i] = 0;                                                                  \
        for (int k = window->k0; k < window->k1; k++)                                                                 \
            for (int l = window->l0; l < window->l1; l++) {                                                           \
                const type *in = x + (window->x + k * window->x_down + l * window->x_right);                          \
                const type *weights = w + (k * window->w_down + l * window->w_right + first);                         \
                if (multiplier == 1) {                                                                                \
                    for (int i = 0; i < count; i++) sums[i] += (sum_type)in[first + i] * weights[i];                  \
                    continue;                                                                                         \
                }                                                                                                     \
                int channel = first / multiplier, copy = first % multiplier;                                          \
                for (int i = 0; i < count; i++) {                                                                     \
                    sums[i] += (sum_type)in[channel] * weights[i];                                                    \
                    if (++copy == multiplier) channel++, copy = 0;                                                    \
                }                                                                                                     \
            }                                                                                                         \
    }
ADD_TAPS(add_taps_f32, float, float)
ADD_TAPS(add_taps_wide, int16_t, int64_t)

static void convolve_position(const struct hl_conv_work *work, union hl_conv_weights weights,
                              const struct window *window, int batch, int multiplier, int outputs, int64_t at)
{
    union {
        float f32[BLOCK];
        int64_t wide[BLOCK];
    } sums;
    for (int o = 0; o < outputs; o += BLOCK) {
        int count = outputs - o < BLOCK ? outputs - o : BLOCK;
        if (hl_conv_is_f32(work->conv))
            add_taps_f32(work->x_f32, weights.f32, window, multiplier, o, count, sums.f32);
        else
            add_taps_wide(work->x_wide, weights.wide, window, multiplier, o, count, sums.wide);
        hl_conv_store(work, batch, o, count, &sums, at + o);
    }
}

static TfLiteStatus depthwise_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct hl_conv_2d *op = node->user_data;
    const struct hl_conv_shape *s = &op->shape;
    const struct hl_conv_node desc = describe(node);
    struct hl_conv_work work;
    hl_conv_start(ctx, node, &desc, &op->conv, &work);
    if (s->outputs == 0) return kTfLiteOk;
    union hl_conv_weights weights = hl_conv_rows(&work, 0, (int64_t)s->kh * s->kw * s->outputs);

    struct window window = {
        .x_down = (int64_t)s->dilation_h * s->width * s->channels,
        .x_right = (int64_t)s->dilation_w * s->channels,
        .w_down = (int64_t)s->kw * s->outputs,
        .w_right = s->outputs,
    };
    int64_t at = 0;
    for (int b = 0; b < s->batches; b++)
        for (int i = 0; i < s->out_height; i++) {
            int64_t top = (int64_t)i * s->stride_h - s->pad_top;
            hl_conv_taps(top, s->height, s->kh, s->dilation_h, &window.k0, &window.k1);
            for (int j = 0; j < s->out_width; j++, at += s->outputs) {
                int64_t left = (int64_t)j * s->stride_w - s->pad_left;
                hl_conv_taps(left, s->width, s->kw, s->dilation_w, &window.l0, &window.l1);
                window.x = (((int64_t)b * s->height + top) * s->width + left) * s->channels;
                convolve_position(&work, weights, &window, b, s->outputs / s->channels, s->outputs, at);
            }
        }
    return kTfLiteOk;
}

const struct hl_op hl_op_depthwise_conv_2d = {
    HL_CONV_2D_FIELDS,
    .prepare = depthwise_prepare,
    .invoke = depthwise_invoke,
    .fast = &hl_fast_depthwise_conv_2d,
};
