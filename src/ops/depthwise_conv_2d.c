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
        .activation = params->activation,
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
    const TfLiteDepthwiseConvParams *params = node->builtin_data;
    struct hl_conv_2d *op = node->user_data;
    struct hl_conv_node what = describe(node);
    HL_TRY(hl_require_counts(ctx, node, 2, 3, 1));
    HL_TRY(hl_conv_make_temporaries(ctx, node, &what));
    const TfLiteTensor *input = hl_input(ctx, node, 0), *filter = hl_input(ctx, node, 1);
    HL_REQUIRE(ctx, node, hl_rank(input) == 4, "the input has %d dimensions, it must have 4", hl_rank(input));
    HL_REQUIRE(ctx, node, hl_rank(filter) == 4, "the filter has %d dimensions, it must have 4", hl_rank(filter));
    int height = hl_dim(input, 1), width = hl_dim(input, 2), channels = hl_dim(input, 3);
    HL_REQUIRE(ctx, node, height > 0 && width > 0 && channels > 0,
               "input height %d, width %d and channels %d must be positive", height, width, channels);
    HL_REQUIRE(ctx, node, hl_dim(filter, 0) == 1, "the filter's first dimension %d must be 1", hl_dim(filter, 0));
    int outputs = hl_dim(filter, 3);
    HL_REQUIRE(ctx, node, outputs % channels == 0, "%d output channels are not a multiple of %d input channels",
               outputs, channels);

    const TfLiteTensor *bias = hl_input(ctx, node, what.bias);
    HL_REQUIRE(ctx, node, !bias || hl_rank(bias) == 1, "the bias has %d dimensions, it must have 1", hl_rank(bias));
    HL_TRY(hl_conv_check(ctx, node, &what, &op->conv));
    if (op->conv.mode == HL_CONV_HYBRID) HL_TRY(check_hybrid_scales(ctx, node, filter));
    op->conv.asymmetric = true;
    HL_TRY(hl_window_size(ctx, node, "height", params->padding, height, hl_dim(filter, 1), params->stride_height,
                          params->dilation_height_factor, &op->y));
    HL_TRY(hl_window_size(ctx, node, "width", params->padding, width, hl_dim(filter, 2), params->stride_width,
                          params->dilation_width_factor, &op->x));
    HL_TRY(hl_conv_scratch(ctx, node, &what, &op->conv, 1));
    int dims[4] = {hl_dim(input, 0), op->y.out, op->x.out, outputs};
    return hl_resize(ctx, hl_output(ctx, node, 0), 4, dims);
}

// Channels that are added up at once.
enum { BLOCK = 64 };

// What the additions at one output position need: the taps inside the input, and where they are.
struct place {
    int k0, k1, l0, l1;         // taps
    int64_t x, x_down, x_right; // input elements: of tap (0, 0), from tap to tap
    int64_t w_down, w_right;    // the same of the filter
};

// sums[i] = sum over the taps of x * w for output channels first .. first + count. Each input
// channel has `multiplier` output channels.
#define ADD_TAPS(name, type, sum_type)                                                                              \
    static void name(const type *x, const type *w, const struct place *place, int multiplier, int first, int count, \
                     sum_type *restrict sums)                                                                       \
    {                                                                                                               \
        for (int i = 0; i < count; i++) sums[i] = 0;                                                                \
        for (int k = place->k0; k < place->k1; k++)                                                                 \
            for (int l = place->l0; l < place->l1; l++) {                                                           \
                const type *in = x + (place->x + k * place->x_down + l * place->x_right);                           \
                const type *weights = w + (k * place->w_down + l * place->w_right + first);                         \
                if (multiplier == 1) {                                                                              \
                    for (int i = 0; i < count; i++) sums[i] += (sum_type)in[first + i] * weights[i];                \
                    continue;                                                                                       \
                }                                                                                                   \
                int channel = first / multiplier, copy = first % multiplier;                                        \
                for (int i = 0; i < count; i++) {                                                                   \
                    sums[i] += (sum_type)in[channel] * weights[i];                                                  \
                    if (++copy == multiplier) channel++, copy = 0;                                                  \
                }                                                                                                   \
            }                                                                                                       \
    }
ADD_TAPS(add_taps_f32, float, float)
ADD_TAPS(add_taps_wide, int16_t, int64_t)

static void convolve_position(const struct hl_conv_work *work, union hl_conv_weights weights, const struct place *place,
                              int batch, int multiplier, int outputs, int64_t at)
{
    union {
        float f32[BLOCK];
        int64_t wide[BLOCK];
    } sums;
    for (int o = 0; o < outputs; o += BLOCK) {
        int count = outputs - o < BLOCK ? outputs - o : BLOCK;
        if (work->conv->mode == HL_CONV_F32)
            add_taps_f32(work->x_f32, weights.f32, place, multiplier, o, count, sums.f32);
        else
            add_taps_wide(work->x_wide, weights.wide, place, multiplier, o, count, sums.wide);
        hl_conv_store(work, batch, o, count, &sums, at + o);
    }
}

static TfLiteStatus depthwise_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteDepthwiseConvParams *params = node->builtin_data;
    const struct hl_conv_2d *op = node->user_data;
    const TfLiteTensor *input = hl_input(ctx, node, 0), *filter = hl_input(ctx, node, 1);
    struct hl_conv_node what = describe(node);
    struct hl_conv_work work;
    hl_conv_start(ctx, node, &what, &op->conv, &work);
    int batches = hl_dim(input, 0), height = hl_dim(input, 1), width = hl_dim(input, 2);
    int channels = hl_dim(input, 3), kh = hl_dim(filter, 1), kw = hl_dim(filter, 2);
    int outputs = hl_dim(filter, 3);
    if (outputs == 0) return kTfLiteOk;
    union hl_conv_weights weights = hl_conv_rows(&work, 0, hl_elements(filter));

    struct place place = {
        .x_down = (int64_t)params->dilation_height_factor * width * channels,
        .x_right = (int64_t)params->dilation_width_factor * channels,
        .w_down = (int64_t)kw * outputs,
        .w_right = outputs,
    };
    int64_t at = 0;
    for (int b = 0; b < batches; b++)
        for (int i = 0; i < op->y.out; i++) {
            int64_t top = (int64_t)i * params->stride_height - op->y.before;
            hl_conv_taps(top, height, kh, params->dilation_height_factor, &place.k0, &place.k1);
            for (int j = 0; j < op->x.out; j++, at += outputs) {
                int64_t left = (int64_t)j * params->stride_width - op->x.before;
                hl_conv_taps(left, width, kw, params->dilation_width_factor, &place.l0, &place.l1);
                place.x = (((int64_t)b * height + top) * width + left) * channels;
                convolve_position(&work, weights, &place, b, outputs / channels, outputs, at);
            }
        }
    return kTfLiteOk;
}

const struct hl_op hl_op_depthwise_conv_2d = {
    .state_size = sizeof(struct hl_conv_2d),
    .prepare = depthwise_prepare,
    .invoke = depthwise_invoke,
    .work = hl_work_of_filter,
    .release = hl_conv_release,
    .fast = &hl_fast_depthwise_conv_2d,
};
