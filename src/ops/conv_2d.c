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
        .activation = params->activation,
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
    if (op->groups > 1) return true;
    if (filter->type == kTfLiteUInt8) return false;
    const TfLiteFloatArray *scales = hl_affine(filter)->scale;
    for (int i = 1; i < scales->size; i++)
        if (scales->data[i] != scales->data[0]) return true;
    return false;
}

static TfLiteStatus conv_2d_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteConvParams *params = node->builtin_data;
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
    int outputs = hl_dim(filter, 0), filter_channels = hl_dim(filter, 3);
    HL_REQUIRE(ctx, node, filter_channels > 0 && channels % filter_channels == 0,
               "%d input channels are not a multiple of the filter's %d", channels, filter_channels);
    op->groups = channels / filter_channels;
    HL_REQUIRE(ctx, node, outputs % op->groups == 0, "%d output channels are not a multiple of %d groups", outputs,
               op->groups);
    bool hybrid_uint8 = input->type == kTfLiteFloat32 && filter->type == kTfLiteUInt8;
    HL_REQUIRE(ctx, node, op->groups == 1 || !hybrid_uint8,
               "float32 input with uint8 weights is not supported in %d groups", op->groups);

    HL_TRY(hl_conv_check(ctx, node, &what, &op->conv));
    if (op->conv.mode == HL_CONV_8BIT ? filter->type != kTfLiteUInt8 : op->conv.mode == HL_CONV_INT16)
        HL_TRY(check_zero_weight_points(ctx, node, filter));
    if (op->conv.mode == HL_CONV_HYBRID) op->conv.asymmetric = op->conv.two_steps = wants_asymmetric(op, filter);
    HL_TRY(hl_window_size(ctx, node, "height", params->padding, height, hl_dim(filter, 1), params->stride_height,
                          params->dilation_height_factor, &op->y));
    HL_TRY(hl_window_size(ctx, node, "width", params->padding, width, hl_dim(filter, 2), params->stride_width,
                          params->dilation_width_factor, &op->x));
    HL_TRY(hl_conv_scratch(ctx, node, &what, &op->conv, HL_ADD_DOTS_ROWS));
    int dims[4] = {hl_dim(input, 0), op->y.out, op->x.out, outputs};
    return hl_resize(ctx, hl_output(ctx, node, 0), 4, dims);
}

struct sizes {
    int batches, height, width, channels; // of the input
    int outputs, kh, kw, filter_channels; // of the filter
};

// Adds up one output position: rows output channels, whose weights are given, of one group, whose
// channels begin at `channel`.
static void add_window(const TfLiteConvParams *params, const struct sizes *size, const struct hl_conv_work *work,
                       union hl_conv_weights weights, int rows, int64_t plane, int64_t top, int64_t left, int channel,
                       union hl_conv_sums *sums)
{
    int64_t row = (int64_t)size->kh * size->kw * size->filter_channels;
    int dilation_h = params->dilation_height_factor, dilation_w = params->dilation_width_factor;
    int k0, k1, l0, l1;
    hl_conv_taps(top, size->height, size->kh, dilation_h, &k0, &k1);
    hl_conv_taps(left, size->width, size->kw, dilation_w, &l0, &l1);
    // Neighboring taps that are neighbors in memory too are taken as one.
    int together = dilation_w == 1 && size->channels == size->filter_channels ? l1 - l0 : 1;
    for (int k = k0; k < k1; k++)
        for (int l = l0; l < l1; l += together) {
            int64_t position = (plane + top + (int64_t)k * dilation_h) * size->width + left + (int64_t)l * dilation_w;
            hl_conv_add(work, sums, position * size->channels + channel, weights,
                        ((int64_t)k * size->kw + l) * size->filter_channels, row, rows,
                        (int64_t)together * size->filter_channels);
        }
}

static TfLiteStatus conv_2d_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteConvParams *params = node->builtin_data;
    const struct hl_conv_2d *op = node->user_data;
    const TfLiteTensor *input = hl_input(ctx, node, 0), *filter = hl_input(ctx, node, 1);
    struct hl_conv_node what = describe(node);
    struct hl_conv_work work;
    hl_conv_start(ctx, node, &what, &op->conv, &work);
    const struct sizes size = {
        hl_dim(input, 0),  hl_dim(input, 1),  hl_dim(input, 2),  hl_dim(input, 3),
        hl_dim(filter, 0), hl_dim(filter, 1), hl_dim(filter, 2), hl_dim(filter, 3),
    };
    int64_t row = (int64_t)size.kh * size.kw * size.filter_channels;
    int per_group = size.outputs / op->groups;

    // A few rows of weights stay in the cache while all positions pass by.
    for (int o = 0, rows; o < size.outputs; o += rows) {
        int group = o / per_group, left_in_group = (group + 1) * per_group - o;
        rows = left_in_group < HL_ADD_DOTS_ROWS ? left_in_group : HL_ADD_DOTS_ROWS;
        union hl_conv_weights weights = hl_conv_rows(&work, o * row, rows * row);
        int64_t at = o;
        for (int b = 0; b < size.batches; b++)
            for (int i = 0; i < op->y.out; i++)
                for (int j = 0; j < op->x.out; j++, at += size.outputs) {
                    union hl_conv_sums sums;
                    hl_conv_clear(&sums);
                    add_window(params, &size, &work, weights, rows, (int64_t)b * size.height,
                               (int64_t)i * params->stride_height - op->y.before,
                               (int64_t)j * params->stride_width - op->x.before, group * size.filter_channels, &sums);
                    hl_conv_store(&work, b, o, rows, &sums, at);
                }
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_conv_2d = {
    .state_size = sizeof(struct hl_conv_2d),
    .prepare = conv_2d_prepare,
    .invoke = conv_2d_invoke,
    .work = hl_work_of_filter,
    .release = hl_conv_release,
    .fast = &hl_fast_conv_2d,
};
