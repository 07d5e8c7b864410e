// SPDX-License-Identifier: Apache-2.0
// TRANSPOSE_CONV: each input position spreads its products over a window of the output; here each
// output position gathers them: y[b, i, j, o] = act(bias[o] + sum over s, t, c of
// w[o, k, l, c] * x[b, s, t, c]), k = i + pad_top - s * stride_h, l = j + pad_left - t * stride_w,
// over all s and t for which k and l are taps of the filter.
// in 0: shape of y, int32 [4], in 1: w [outputs, kh, kw, channels], in 2: x [batch, height, width,
// channels], in 3: bias [outputs], may be absent, out 0: y. A convolution with the same options
// must take y's height and width to x's. Types as in CONV_2D, without int4 and hybrid uint8.
// Convolution2DTransposeBias, of MediaPipe's models, is the same in float32 with in 0: x, in 1: w,
// in 2: bias; the shape of y follows from x's. Its options are the bytes of a TfLiteTransposeConvParams.
#include "ops/transpose_conv.h"

#include <string.h>

#include "fast/fast.h"
#include "ops/common/work.h"

TfLiteStatus hl_transpose_conv_windows(TfLiteContext *ctx, const TfLiteNode *node, int height, int width,
                                       struct hl_window *y, struct hl_window *x)
{
    const struct hl_transpose_conv *op = node->user_data;
    const TfLiteTensor *filter = hl_input(ctx, node, op->what.filter);
    HL_TRY(hl_window_size(ctx, node, "height", op->padding, height, hl_dim(filter, 1), op->stride_height, 1, y));
    return hl_window_size(ctx, node, "width", op->padding, width, hl_dim(filter, 2), op->stride_width, 1, x);
}

static TfLiteStatus set_output_shape(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *filter = hl_input(ctx, node, 1), *input = hl_input(ctx, node, 2);
    const int32_t *shape = HL_IN(int32_t, hl_input(ctx, node, 0));
    HL_REQUIRE(ctx, node, shape[0] == hl_dim(input, 0), "output batch %d differs from the input's %d", (int)shape[0],
               hl_dim(input, 0));
    HL_REQUIRE(ctx, node, shape[3] == hl_dim(filter, 0), "%d output channels differ from the filter's %d",
               (int)shape[3], hl_dim(filter, 0));
    struct hl_window y, x;
    HL_TRY(hl_transpose_conv_windows(ctx, node, shape[1], shape[2], &y, &x));
    HL_REQUIRE(ctx, node, y.out == hl_dim(input, 1) && x.out == hl_dim(input, 2),
               "output %dx%d belongs to input %dx%d, the input is %dx%d", (int)shape[1], (int)shape[2], y.out, x.out,
               hl_dim(input, 1), hl_dim(input, 2));
    int dims[4] = {shape[0], shape[1], shape[2], shape[3]};
    return hl_resize(ctx, hl_output(ctx, node, 0), 4, dims);
}

// What both operators demand of x and w.
static TfLiteStatus check_operands(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct hl_transpose_conv *op = node->user_data;
    const TfLiteTensor *filter = hl_input(ctx, node, op->what.filter);
    const TfLiteTensor *input = hl_input(ctx, node, op->what.input);
    HL_REQUIRE(ctx, node, hl_rank(input) == 4, "the input has %d dimensions, it must have 4", hl_rank(input));
    HL_REQUIRE(ctx, node, hl_rank(filter) == 4, "the filter has %d dimensions, it must have 4", hl_rank(filter));
    HL_REQUIRE(ctx, node, hl_dim(input, 3) == hl_dim(filter, 3), "%d input channels differ from the filter's %d",
               hl_dim(input, 3), hl_dim(filter, 3));
    HL_REQUIRE(ctx, node, op->stride_height > 0 && op->stride_width > 0, "stride %dx%d must be positive",
               op->stride_height, op->stride_width);
    return kTfLiteOk;
}

static TfLiteStatus transpose_conv_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTransposeConvParams *params = node->builtin_data;
    struct hl_transpose_conv *op = node->user_data;
    op->what = (struct hl_conv_node){
        .input = 2,
        .filter = 1,
        .bias = 3,
        .channel_axis = 0,
        .activation = params->activation,
        .accepts = HL_CONV_NO_BIAS | HL_CONV_INT16_BIAS_I32,
        .short_sums = params->quantized_bias_type == kTfLiteInt32,
    };
    op->padding = params->padding;
    op->stride_height = params->stride_height;
    op->stride_width = params->stride_width;
    HL_TRY(hl_require_counts(ctx, node, 3, 4, 1));
    HL_TRY(hl_conv_make_temporaries(ctx, node, &op->what));
    const TfLiteTensor *shape = hl_input(ctx, node, 0);
    HL_REQUIRE(ctx, node, shape->type == kTfLiteInt32, "the output shape is %s, it must be int32",
               hl_type_name(shape->type));
    HL_REQUIRE(ctx, node, hl_rank(shape) == 1 && hl_dim(shape, 0) == 4, "the output shape must be a list of 4 numbers");
    HL_TRY(check_operands(ctx, node));

    HL_TRY(hl_conv_check(ctx, node, &op->what, &op->conv));
    op->conv.asymmetric = op->conv.scaled_products = true;
    HL_TRY(hl_conv_scratch(ctx, node, &op->what, &op->conv, HL_ADD_DOTS_ROWS));
    if (hl_is_constant(shape)) return set_output_shape(ctx, node);
    hl_make_dynamic(hl_output(ctx, node, 0));
    return kTfLiteOk;
}

struct sizes {
    int batches, height, width, channels; // of the input
    int outputs, kh, kw;                  // of the filter
    int out_height, out_width;
};

// Hybrid: adds the products of one input position as floats, each with its scales, as the original does. Where large
// products cancel out, sums of integers would differ visibly.
static void add_scaled(const struct hl_conv_work *work, int batch, int channel, const int16_t *x, const int16_t *w,
                       int64_t stride, int rows, int count, float *sums)
{
    for (int r = 0; r < rows; r++) {
        float scale = work->filter_scales[(channel + r) * work->filter_scale_step];
        for (int c = 0; c < count; c++)
            sums[r] += (float)(x[c] * w[r * stride + c]) * scale * work->input_scales[batch];
    }
}

// Adds up one output position, (i, j) counted with the padding in front, of `rows` channels from `channel` on.
static void gather(const struct hl_transpose_conv *op, const struct sizes *size, const struct hl_conv_work *work,
                   union hl_conv_weights weights, int channel, int rows, int batch, int64_t i, int64_t j,
                   union hl_conv_sums *sums)
{
    int64_t row = (int64_t)size->kh * size->kw * size->channels;
    int s0, s1, t0, t1;
    hl_conv_sources(i, size->height, size->kh, op->stride_height, &s0, &s1);
    hl_conv_sources(j, size->width, size->kw, op->stride_width, &t0, &t1);
    for (int s = s0; s < s1; s++)
        for (int t = t0; t < t1; t++) {
            int64_t k = i - (int64_t)s * op->stride_height;
            int64_t l = j - (int64_t)t * op->stride_width;
            int64_t x_at = (((int64_t)batch * size->height + s) * size->width + t) * size->channels;
            int64_t w_at = (k * size->kw + l) * size->channels;
            if (op->conv.mode == HL_CONV_HYBRID)
                add_scaled(work, batch, channel, work->x_wide + x_at, weights.wide + w_at, row, rows, size->channels,
                           sums->f32);
            else
                hl_conv_add(work, sums, x_at, weights, w_at, row, rows, size->channels);
        }
}

static TfLiteStatus transpose_conv_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct hl_transpose_conv *op = node->user_data;
    if (hl_is_dynamic(hl_output(ctx, node, 0))) HL_TRY(set_output_shape(ctx, node));
    const TfLiteTensor *filter = hl_input(ctx, node, op->what.filter);
    const TfLiteTensor *input = hl_input(ctx, node, op->what.input);
    const TfLiteTensor *output = hl_output(ctx, node, 0);
    const struct sizes size = {
        hl_dim(input, 0),  hl_dim(input, 1),  hl_dim(input, 2),  hl_dim(input, 3),  hl_dim(filter, 0),
        hl_dim(filter, 1), hl_dim(filter, 2), hl_dim(output, 1), hl_dim(output, 2),
    };
    struct hl_window y, x;
    HL_TRY(hl_transpose_conv_windows(ctx, node, size.out_height, size.out_width, &y, &x));
    struct hl_conv_work work;
    hl_conv_start(ctx, node, &op->what, &op->conv, &work);

    int64_t row = (int64_t)size.kh * size.kw * size.channels;
    for (int o = 0, rows; o < size.outputs; o += rows) {
        rows = size.outputs - o < HL_ADD_DOTS_ROWS ? size.outputs - o : HL_ADD_DOTS_ROWS;
        union hl_conv_weights weights = hl_conv_rows(&work, o * row, rows * row);
        int64_t at = o;
        for (int b = 0; b < size.batches; b++)
            for (int i = 0; i < size.out_height; i++)
                for (int j = 0; j < size.out_width; j++, at += size.outputs) {
                    union hl_conv_sums sums;
                    hl_conv_clear(&sums);
                    gather(op, &size, &work, weights, o, rows, b, (int64_t)i + y.before, (int64_t)j + x.before, &sums);
                    hl_conv_store(&work, b, o, rows, &sums, at);
                }
    }
    return kTfLiteOk;
}

// The filter once for each position of x.
static double transpose_conv_work(TfLiteContext *ctx, const TfLiteNode *node)
{
    const struct hl_transpose_conv *op = node->user_data;
    return hl_rows(hl_input(ctx, node, op->what.input)) * (double)hl_elements(hl_input(ctx, node, op->what.filter));
}

const struct hl_op hl_op_transpose_conv = {
    .state_size = sizeof(struct hl_transpose_conv),
    .prepare = transpose_conv_prepare,
    .invoke = transpose_conv_invoke,
    .work = transpose_conv_work,
    .release = hl_conv_release,
    .fast = &hl_fast_transpose_conv,
};

// ---- Convolution2DTransposeBias -----------------------------------------------------------------

static TfLiteStatus with_bias_parse(TfLiteContext *ctx, void *state, const void *options, size_t size)
{
    TfLiteTransposeConvParams params;
    enum { NEEDED = offsetof(TfLiteTransposeConvParams, activation) };
    if (size < NEEDED) {
        ctx->ReportError(ctx, "Convolution2DTransposeBias has %zu bytes of options, it needs %zu", size,
                         (size_t)NEEDED);
        return kTfLiteError;
    }
    memcpy(&params, options, NEEDED);
    struct hl_transpose_conv *op = state;
    op->what = (struct hl_conv_node){.input = 0, .filter = 1, .bias = 2, .channel_axis = 0};
    op->padding = params.padding;
    op->stride_height = params.stride_height;
    op->stride_width = params.stride_width;
    return kTfLiteOk;
}

// The output positions that `in` windows cover, less what SAME takes away. 0 where that is none, or too many.
static int covered(TfLitePadding padding, int in, int filter, int stride)
{
    int64_t all = ((int64_t)in - 1) * stride + filter;
    int64_t over = (int64_t)filter - (in - 1) % stride - 1;
    if (padding == kTfLitePaddingSame && over > 0) all -= over;
    return in > 0 && all > 0 && all <= INT32_MAX ? (int)all : 0;
}

static TfLiteStatus with_bias_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    struct hl_transpose_conv *op = node->user_data;
    HL_TRY(hl_require_counts(ctx, node, 3, 3, 1));
    HL_TRY(check_operands(ctx, node));
    const TfLiteTensor *input = hl_input(ctx, node, 0), *filter = hl_input(ctx, node, 1);
    if (input->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, input);
    if (filter->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, filter);
    HL_TRY(hl_conv_check(ctx, node, &op->what, &op->conv));
    int dims[4] = {hl_dim(input, 0), covered(op->padding, hl_dim(input, 1), hl_dim(filter, 1), op->stride_height),
                   covered(op->padding, hl_dim(input, 2), hl_dim(filter, 2), op->stride_width), hl_dim(filter, 0)};
    HL_REQUIRE(ctx, node, dims[1] > 0 && dims[2] > 0, "an input of %dx%d has no output of usable size",
               hl_dim(input, 1), hl_dim(input, 2));
    struct hl_window y, x;
    HL_TRY(hl_transpose_conv_windows(ctx, node, dims[1], dims[2], &y, &x));
    return hl_resize(ctx, hl_output(ctx, node, 0), 4, dims);
}

const struct hl_op hl_op_convolution_2d_transpose_bias = {
    .state_size = sizeof(struct hl_transpose_conv),
    .parse = with_bias_parse,
    .prepare = with_bias_prepare,
    .invoke = transpose_conv_invoke,
    .work = transpose_conv_work,
    .release = hl_conv_release,
    .fast = &hl_fast_transpose_conv,
};
