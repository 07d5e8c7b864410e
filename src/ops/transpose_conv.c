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

// Gives the output its shape, and the node the padding of the windows that slide over it. *y, *x: these windows.
static TfLiteStatus set_output(TfLiteContext *ctx, const TfLiteNode *node, const int *dims, struct hl_window *y,
                               struct hl_window *x)
{
    struct hl_transpose_conv *op = node->user_data;
    struct hl_conv_shape *shape = &op->shape;
    TfLitePadding padding = op->desc.padding;
    HL_TRY(hl_window_size(ctx, node, "height", padding, dims[1], shape->kh, shape->stride_h, 1, y));
    HL_TRY(hl_window_size(ctx, node, "width", padding, dims[2], shape->kw, shape->stride_w, 1, x));
    shape->out_height = dims[1];
    shape->out_width = dims[2];
    shape->pad_top = y->before;
    shape->pad_left = x->before;
    return kTfLiteOk;
}

static TfLiteStatus set_output_shape(TfLiteContext *ctx, const TfLiteNode *node)
{
    const struct hl_transpose_conv *op = node->user_data;
    const struct hl_conv_shape *s = &op->shape;
    const int32_t *shape = HL_IN(int32_t, hl_input(ctx, node, 0));
    HL_REQUIRE(ctx, node, shape[0] == s->batches, "output batch %d differs from the input's %d", (int)shape[0],
               s->batches);
    HL_REQUIRE(ctx, node, shape[3] == s->outputs, "%d output channels differ from the filter's %d", (int)shape[3],
               s->outputs);
    int dims[4] = {shape[0], shape[1], shape[2], shape[3]};
    struct hl_window y, x;
    HL_TRY(set_output(ctx, node, dims, &y, &x));
    HL_REQUIRE(ctx, node, y.out == s->height && x.out == s->width,
               "output %dx%d belongs to input %dx%d, the input is %dx%d", (int)shape[1], (int)shape[2], y.out, x.out,
               s->height, s->width);
    return hl_resize(ctx, hl_output(ctx, node, 0), 4, dims);
}

// The sizes of x and w, of which both operators demand the same.
static TfLiteStatus read_shape(TfLiteContext *ctx, TfLiteNode *node)
{
    struct hl_transpose_conv *op = node->user_data;
    struct hl_conv_shape *s = &op->shape;
    HL_TRY(hl_conv_read_shape(ctx, node, &op->desc, s));
    HL_REQUIRE(ctx, node, s->channels == s->filter_channels, "%d input channels differ from the filter's %d",
               s->channels, s->filter_channels);
    HL_REQUIRE(ctx, node, s->stride_h > 0 && s->stride_w > 0, "stride %dx%d must be positive", s->stride_h,
               s->stride_w);
    return kTfLiteOk;
}

static TfLiteStatus transpose_conv_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTransposeConvParams *params = node->builtin_data;
    struct hl_transpose_conv *op = node->user_data;
    op->desc = (struct hl_conv_node){
        .input = 2,
        .filter = 1,
        .bias = 3,
        .channel_axis = 0,
        HL_CONV_STRIDES(params),
        .dilation_h = 1,
        .dilation_w = 1,
        .accepts = HL_CONV_NO_BIAS | HL_CONV_INT16_BIAS_I32,
        .short_sums = params->quantized_bias_type == kTfLiteInt32,
    };
    HL_TRY(hl_require_counts(ctx, node, 3, 4, 1));
    HL_TRY(hl_conv_make_temporaries(ctx, node, &op->desc));
    const TfLiteTensor *shape = hl_input(ctx, node, 0);
    HL_REQUIRE(ctx, node, shape->type == kTfLiteInt32, "the output shape is %s, it must be int32",
               hl_type_name(shape->type));
    HL_REQUIRE(ctx, node, hl_rank(shape) == 1 && hl_dim(shape, 0) == 4, "the output shape must be a list of 4 numbers");
    HL_TRY(read_shape(ctx, node));

    HL_TRY(hl_conv_check(ctx, node, &op->desc, &op->conv));
    op->conv.asymmetric = op->conv.scaled_products = true;
    HL_TRY(hl_conv_scratch(ctx, node, &op->desc, &op->conv, HL_ADD_DOTS_ROWS));
    return hl_resize_when_known(ctx, node, hl_output(ctx, node, 0), hl_is_constant(shape), set_output_shape);
}

// Hybrid: the weights of `rows` outputs from `first` on side by side, so that their sums, which each have an order of
// their own, are those of a vector. (Four nodes of a U-Net of 128 x 128 take one thread of a Zen 4 28.7 ms row by row,
// and 7.4 so.)
static const int16_t *side_by_side(const struct hl_conv_work *work, int first, int rows, int64_t row)
{
    const int8_t *w = HL_IN(int8_t, work->filter) + first * row;
    for (int r = 0; r < rows; r++)
        for (int64_t i = 0; i < row; i++) work->w_wide[i * rows + r] = w[r * row + i];
    return work->w_wide;
}

// Hybrid: adds the products of one input position as floats, each with its scales, as the original does. Where large
// products cancel out, sums of integers would differ visibly. Products are exact in floats as well.
static void add_scaled(float x_scale, const float *scales, const int16_t *x, const int16_t *w, int rows, int count,
                       float *sums)
{
    if (rows < HL_ADD_DOTS_ROWS) {
        for (int r = 0; r < rows; r++)
            for (int c = 0; c < count; c++)
                sums[r] += (float)x[c] * (float)w[(int64_t)c * rows + r] * scales[r] * x_scale;
        return;
    }
    float eight[HL_ADD_DOTS_ROWS];
    memcpy(eight, sums, sizeof eight);
    for (int c = 0; c < count; c++, w += HL_ADD_DOTS_ROWS)
        for (int r = 0; r < HL_ADD_DOTS_ROWS; r++) eight[r] += (float)x[c] * (float)w[r] * scales[r] * x_scale;
    memcpy(sums, eight, sizeof eight);
}

// Adds up one output position, (i, j) counted with the padding in front, of `rows` channels from `channel` on.
static void gather(const struct hl_transpose_conv *op, const struct hl_conv_work *work, union hl_conv_weights weights,
                   int channel, int rows, int batch, int64_t i, int64_t j, union hl_conv_sums *sums)
{
    const struct hl_conv_shape *shape = &op->shape;
    int64_t row = (int64_t)shape->kh * shape->kw * shape->channels;
    float scales[HL_ADD_DOTS_ROWS];
    for (int r = 0; r < rows && op->conv.mode == HL_CONV_HYBRID; r++)
        scales[r] = work->filter_scales[(channel + r) * work->filter_scale_step];
    int s0, s1, t0, t1;
    hl_conv_sources(i, shape->height, shape->kh, shape->stride_h, &s0, &s1);
    hl_conv_sources(j, shape->width, shape->kw, shape->stride_w, &t0, &t1);
    for (int s = s0; s < s1; s++)
        for (int t = t0; t < t1; t++) {
            int64_t k = i - (int64_t)s * shape->stride_h;
            int64_t l = j - (int64_t)t * shape->stride_w;
            int64_t x_at = (((int64_t)batch * shape->height + s) * shape->width + t) * shape->channels;
            int64_t w_at = (k * shape->kw + l) * shape->channels;
            if (op->conv.mode == HL_CONV_HYBRID)
                add_scaled(work->input_scales[batch], scales, work->x_wide + x_at, weights.wide + w_at * rows, rows,
                           shape->channels, sums->f32);
            else
                hl_conv_add(work, sums, x_at, weights, w_at, row, rows, shape->channels);
        }
}

static TfLiteStatus transpose_conv_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct hl_transpose_conv *op = node->user_data;
    const struct hl_conv_shape *s = &op->shape;
    if (hl_is_dynamic(hl_output(ctx, node, 0))) HL_TRY(set_output_shape(ctx, node));
    struct hl_conv_work work;
    hl_conv_start(ctx, node, &op->desc, &op->conv, &work);

    int64_t row = (int64_t)s->kh * s->kw * s->channels;
    for (int o = 0, rows; o < s->outputs; o += rows) {
        rows = s->outputs - o < HL_ADD_DOTS_ROWS ? s->outputs - o : HL_ADD_DOTS_ROWS;
        union hl_conv_weights weights;
        if (op->conv.mode == HL_CONV_HYBRID)
            weights.wide = side_by_side(&work, o, rows, row);
        else
            weights = hl_conv_rows(&work, o * row, rows * row);
        int64_t at = o;
        for (int b = 0; b < s->batches; b++)
            for (int i = 0; i < s->out_height; i++)
                for (int j = 0; j < s->out_width; j++, at += s->outputs) {
                    union hl_conv_sums sums;
                    hl_conv_clear(&sums);
                    gather(op, &work, weights, o, rows, b, (int64_t)i + s->pad_top, (int64_t)j + s->pad_left, &sums);
                    hl_conv_store(&work, b, o, rows, &sums, at);
                }
    }
    return kTfLiteOk;
}

// The filter once for each position of x.
static double transpose_conv_work(TfLiteContext *ctx, const TfLiteNode *node)
{
    const struct hl_transpose_conv *op = node->user_data;
    return hl_rows(hl_input(ctx, node, op->desc.input)) * (double)hl_elements(hl_input(ctx, node, op->desc.filter));
}

// Both operators differ in options and shapes alone.
#define TRANSPOSE_CONV_FIELDS                                                                                     \
    .state_size = sizeof(struct hl_transpose_conv), .invoke = transpose_conv_invoke, .work = transpose_conv_work, \
    .release = hl_conv_release, .fast = &hl_fast_transpose_conv

const struct hl_op hl_op_transpose_conv = {TRANSPOSE_CONV_FIELDS, .prepare = transpose_conv_prepare};

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
    op->desc = (struct hl_conv_node){
        .input = 0,
        .filter = 1,
        .bias = 2,
        .channel_axis = 0,
        .padding = params.padding,
        .stride_h = params.stride_height,
        .stride_w = params.stride_width,
        .dilation_h = 1,
        .dilation_w = 1,
    };
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
    HL_TRY(read_shape(ctx, node));
    const TfLiteTensor *input = hl_input(ctx, node, 0), *filter = hl_input(ctx, node, 1);
    if (input->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, input);
    if (filter->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, filter);
    HL_TRY(hl_conv_check(ctx, node, &op->desc, &op->conv));
    const struct hl_conv_shape *s = &op->shape;
    int dims[4] = {s->batches, covered(op->desc.padding, s->height, s->kh, s->stride_h),
                   covered(op->desc.padding, s->width, s->kw, s->stride_w), s->outputs};
    HL_REQUIRE(ctx, node, dims[1] > 0 && dims[2] > 0, "an input of %dx%d has no output of usable size", s->height,
               s->width);
    struct hl_window y, x;
    HL_TRY(set_output(ctx, node, dims, &y, &x));
    return hl_resize(ctx, hl_output(ctx, node, 0), 4, dims);
}

const struct hl_op hl_op_convolution_2d_transpose_bias = {
    TRANSPOSE_CONV_FIELDS,
    .parse = with_bias_parse,
    .prepare = with_bias_prepare,
};
