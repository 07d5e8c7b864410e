// SPDX-License-Identifier: Apache-2.0
// CONV_2D: y[b, i, j, o] = act(bias[o] + sum over k, l, c of w[o, k, l, c] * x[b, s, t, c]),
// s = i * stride_h + k * dilation_h - pad_top, t = j * stride_w + l * dilation_w - pad_left.
// in 0: x [batch, height, width, channels], in 1: w [outputs, kh, kw, channels / groups], in 2:
// bias [outputs], out 0: y [batch, out height, out width, outputs]. With groups, outputs and
// channels are cut into as many equal parts; each part of the outputs sees only its channels.
// float32; uint8; int8 or int16 with int8 or int4 weights; float32 with int8, int4 or uint8
// weights.
#include "fast/fast.h"
#include "ops/common/conv.h"
#include "ops/common/work.h"

static struct hl_conv_node describe(const TfLiteNode *node)
{
    const TfLiteConvParams *params = node->builtin_data;
    return (struct hl_conv_node){
        .input = 0,
        .filter = 1,
        .bias = 2,
        .channel_axis = 0,
        HL_CONV_STRIDES(params),
        HL_CONV_DILATIONS(params),
        .accepts = HL_CONV_INT4 | HL_CONV_HYBRID_INT4 | HL_CONV_HYBRID_UINT8 | HL_CONV_INT16_BIAS_I32,
    };
}

static TfLiteStatus check_zero_weight_points(TfLiteContext *ctx, TfLiteNode *node, const TfLiteTensor *filter)
{
    const TfLiteAffineQuantization *weights = hl_affine(filter);
    for (int i = 0; weights && weights->zero_point && i < weights->zero_point->size; i++)
        HL_REQUIRE(ctx, node, weights->zero_point->data[i] == 0, "zero point %d of weight channel %d must be 0",
                   weights->zero_point->data[i], i);
    return kTfLiteOk;
}

// Hybrid nodes: one scale for all goes with symmetric quantization of the input, but only where
// there are no groups.
static bool wants_asymmetric(const struct hl_conv_2d *op, const TfLiteTensor *filter)
{
    if (hl_conv_groups(&op->shape) > 1) return true;
    if (filter->type == kTfLiteUInt8) return false;
    const TfLiteFloatArray *scales = hl_affine(filter)->scale;
    for (int i = 1; i < scales->size; i++)
        if (scales->data[i] != scales->data[0]) return true;
    return false;
}

static TfLiteStatus conv_2d_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    struct hl_conv_2d *op = node->user_data;
    struct hl_conv_shape *shape = &op->shape;
    const struct hl_conv_node desc = describe(node);
    HL_TRY(hl_conv_2d_begin(ctx, node, &desc, shape));
    const TfLiteTensor *input = hl_input(ctx, node, 0), *filter = hl_input(ctx, node, 1);
    HL_REQUIRE(ctx, node, shape->filter_channels > 0 && shape->channels % shape->filter_channels == 0,
               "%d input channels are not a multiple of the filter's %d", shape->channels, shape->filter_channels);
    int groups = hl_conv_groups(shape);
    HL_REQUIRE(ctx, node, shape->outputs % groups == 0, "%d output channels are not a multiple of %d groups",
               shape->outputs, groups);
    bool hybrid_uint8 = input->type == kTfLiteFloat32 && filter->type == kTfLiteUInt8;
    HL_REQUIRE(ctx, node, groups == 1 || !hybrid_uint8,
               "float32 input with uint8 weights is not supported in %d groups", groups);

    HL_TRY(hl_conv_check(ctx, node, &desc, &op->conv));
    if (op->conv.mode == HL_CONV_8BIT ? filter->type != kTfLiteUInt8 : op->conv.mode == HL_CONV_INT16)
        HL_TRY(check_zero_weight_points(ctx, node, filter));
    if (op->conv.mode == HL_CONV_HYBRID) op->conv.asymmetric = op->conv.two_steps = wants_asymmetric(op, filter);
    HL_TRY(hl_conv_scratch(ctx, node, &desc, &op->conv, HL_ADD_DOTS_ROWS));
    return hl_conv_shape_output(ctx, node, &desc, shape);
}

// An output position: the input position where its window begins, which may lie in the padding.
struct window {
    int64_t plane; // rows of the batches before
    int64_t top, left;
};

// Adds up one output position: `rows` output channels, whose weights are given, of one group, whose channels begin at
// `channel`.
static void add_window(const struct hl_conv_shape *s, const struct hl_conv_work *work, union hl_conv_weights weights,
                       int rows, const struct window *window, int channel, union hl_conv_sums *sums)
{
    int64_t row = (int64_t)s->kh * s->kw * s->filter_channels;
    int k0, k1, l0, l1;
    hl_conv_taps(window->top, s->height, s->kh, s->dilation_h, &k0, &k1);
    hl_conv_taps(window->left, s->width, s->kw, s->dilation_w, &l0, &l1);
    // Neighboring taps that are neighbors in memory too are taken as one.
    int together = s->dilation_w == 1 && s->channels == s->filter_channels ? l1 - l0 : 1;
    for (int k = k0; k < k1; k++)
        for (int l = l0; l < l1; l += together) {
            int64_t in_y = window->plane + window->top + (int64_t)k * s->dilation_h;
            int64_t position = in_y * s->width + window->left + (int64_t)l * s->dilation_w;
            hl_conv_add(work, sums, position * s->channels + channel, weights,
                        ((int64_t)k * s->kw + l) * s->filter_channels, row, rows,
                        (int64_t)together * s->filter_channels);
        }
}

static TfLiteStatus conv_2d_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct hl_conv_2d *op = node->user_data;
    const struct hl_conv_shape *s = &op->shape;
    const struct hl_conv_node desc = describe(node);
    struct hl_conv_work work;
    hl_conv_start(ctx, node, &desc, &op->conv, &work);
    int64_t row = (int64_t)s->kh * s->kw * s->filter_channels;
    int per_group = s->outputs / hl_conv_groups(s);

    // A few rows of weights stay in the cache while all positions pass by.
    for (int o = 0, rows; o < s->outputs; o += rows) {
        int group = o / per_group, left_in_group = (group + 1) * per_group - o;
        rows = left_in_group < HL_ADD_DOTS_ROWS ? left_in_group : HL_ADD_DOTS_ROWS;
        union hl_conv_weights weights = hl_conv_rows(&work, o * row, rows * row);
        int64_t at = o;
        for (int b = 0; b < s->batches; b++)
            for (int i = 0; i < s->out_height; i++)
                for (int j = 0; j < s->out_width; j++, at += s->outputs) {
                    const struct window window = {(int64_t)b * s->height, (int64_t)i * s->stride_h - s->pad_top,
                                                  (int64_t)j * s->stride_w - s->pad_left};
                    union hl_conv_sums sums;
                    hl_conv_clear(&sums);
                    add_window(s, &work, weights, rows, &window, group * s->filter_channels, &sums);
                    hl_conv_store(&work, b, o, rows, &sums, at);
                }
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_conv_2d = {
    HL_CONV_2D_FIELDS,
    .prepare = conv_2d_prepare,
    .invoke = conv_2d_invoke,
    .fast = &hl_fast_conv_2d,
};
