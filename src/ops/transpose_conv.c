// SPDX-License-Identifier: Apache-2.0
// TRANSPOSE_CONV: each input position spreads its products over a window of the output; here each
// output position gathers them: y[b, i, j, o] = act(bias[o] + sum over s, t, c of
// w[o, k, l, c] * x[b, s, t, c]), k = i + pad_top - s * stride_h, l = j + pad_left - t * stride_w,
// over all s and t for which k and l are taps of the filter.
// in 0: shape of y, int32 [4], in 1: w [outputs, kh, kw, channels], in 2: x [batch, height, width,
// channels], in 3: bias [outputs], may be absent, out 0: y. A convolution with the same options
// must take y's height and width to x's. Types as in CONV_2D, without int4 and hybrid uint8.
#include "ops/conv.h"
#include "ops/window.h"

struct transpose_conv {
    struct hl_conv conv; // first: hl_conv_release
};

static struct hl_conv_node describe(const TfLiteNode *node)
{
    const TfLiteTransposeConvParams *params = node->builtin_data;
    return (struct hl_conv_node){
        .input = 2,
        .filter = 1,
        .bias = 3,
        .channel_axis = 0,
        .activation = params->activation,
        .accepts = HL_CONV_NO_BIAS | HL_CONV_INT16_BIAS_I32,
    };
}

// The windows that slide over an output of `height` and `width`.
static TfLiteStatus find_windows(TfLiteContext *ctx, TfLiteNode *node, int height, int width,
                                 struct hl_window *y, struct hl_window *x)
{
    const TfLiteTransposeConvParams *params = node->builtin_data;
    const TfLiteTensor *filter = hl_input(ctx, node, 1);
    HL_TRY(hl_window_size(ctx, node, "height", params->padding, height, hl_dim(filter, 1),
                          params->stride_height, 1, y));
    return hl_window_size(ctx, node, "width", params->padding, width, hl_dim(filter, 2),
                          params->stride_width, 1, x);
}

static TfLiteStatus set_output_shape(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *filter = hl_input(ctx, node, 1), *input = hl_input(ctx, node, 2);
    const int32_t *shape = HL_IN(int32_t, hl_input(ctx, node, 0));
    HL_REQUIRE(ctx, node, shape[0] == hl_dim(input, 0),
               "output batch %d differs from the input's %d", (int)shape[0], hl_dim(input, 0));
    HL_REQUIRE(ctx, node, shape[3] == hl_dim(filter, 0),
               "%d output channels differ from the filter's %d", (int)shape[3], hl_dim(filter, 0));
    struct hl_window y, x;
    HL_TRY(find_windows(ctx, node, shape[1], shape[2], &y, &x));
    HL_REQUIRE(ctx, node, y.out == hl_dim(input, 1) && x.out == hl_dim(input, 2),
               "output %dx%d belongs to input %dx%d, the input is %dx%d", (int)shape[1],
               (int)shape[2], y.out, x.out, hl_dim(input, 1), hl_dim(input, 2));
    int dims[4] = {shape[0], shape[1], shape[2], shape[3]};
    return hl_resize(ctx, hl_output(ctx, node, 0), 4, dims);
}

static TfLiteStatus transpose_conv_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTransposeConvParams *params = node->builtin_data;
    struct transpose_conv *op = node->user_data;
    struct hl_conv_node what = describe(node);
    HL_TRY(hl_require_counts(ctx, node, 3, 4, 1));
    HL_TRY(hl_conv_make_temporaries(ctx, node, &what));
    const TfLiteTensor *shape = hl_input(ctx, node, 0);
    const TfLiteTensor *filter = hl_input(ctx, node, 1), *input = hl_input(ctx, node, 2);
    HL_REQUIRE(ctx, node, shape->type == kTfLiteInt32, "the output shape is %s, it must be int32",
               hl_type_name(shape->type));
    HL_REQUIRE(ctx, node, hl_rank(shape) == 1 && hl_dim(shape, 0) == 4,
               "the output shape must be a list of 4 numbers");
    HL_REQUIRE(ctx, node, hl_rank(input) == 4, "the input has %d dimensions, it must have 4",
               hl_rank(input));
    HL_REQUIRE(ctx, node, hl_rank(filter) == 4, "the filter has %d dimensions, it must have 4",
               hl_rank(filter));
    HL_REQUIRE(ctx, node, hl_dim(input, 3) == hl_dim(filter, 3),
               "%d input channels differ from the filter's %d", hl_dim(input, 3),
               hl_dim(filter, 3));
    HL_REQUIRE(ctx, node, params->stride_height > 0 && params->stride_width > 0,
               "stride %dx%d must be positive", params->stride_height, params->stride_width);

    HL_TRY(hl_conv_check(ctx, node, &what, &op->conv));
    op->conv.asymmetric = true;
    HL_TRY(hl_conv_scratch(ctx, node, &what, &op->conv, HL_DOT_ROWS));
    if (hl_is_constant(shape)) return set_output_shape(ctx, node);
    hl_make_dynamic(hl_output(ctx, node, 0));
    return kTfLiteOk;
}

struct sizes {
    int batches, height, width, channels; // of the input
    int outputs, kh, kw;                  // of the filter
    int out_height, out_width;
};

// Adds up one output position, (i, j) counted with the padding in front.
static void gather(const TfLiteTransposeConvParams *params, const struct sizes *size,
                   const struct hl_conv_work *work, union hl_conv_weights weights, int rows,
                   int batch, int64_t i, int64_t j, union hl_conv_sums *sums)
{
    int64_t row = (int64_t)size->kh * size->kw * size->channels;
    int s0, s1, t0, t1;
    hl_conv_sources(i, size->height, size->kh, params->stride_height, &s0, &s1);
    hl_conv_sources(j, size->width, size->kw, params->stride_width, &t0, &t1);
    for (int s = s0; s < s1; s++)
        for (int t = t0; t < t1; t++) {
            int64_t k = i - (int64_t)s * params->stride_height;
            int64_t l = j - (int64_t)t * params->stride_width;
            int64_t x_at = (((int64_t)batch * size->height + s) * size->width + t) * size->channels;
            hl_conv_add(work, sums, x_at, weights, (k * size->kw + l) * size->channels, row, rows,
                        size->channels);
        }
}

static TfLiteStatus transpose_conv_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTransposeConvParams *params = node->builtin_data;
    const struct transpose_conv *op = node->user_data;
    if (hl_is_dynamic(hl_output(ctx, node, 0))) HL_TRY(set_output_shape(ctx, node));
    const TfLiteTensor *filter = hl_input(ctx, node, 1), *input = hl_input(ctx, node, 2);
    const TfLiteTensor *output = hl_output(ctx, node, 0);
    const struct sizes size = {
        hl_dim(input, 0),  hl_dim(input, 1),  hl_dim(input, 2),
        hl_dim(input, 3),  hl_dim(filter, 0), hl_dim(filter, 1),
        hl_dim(filter, 2), hl_dim(output, 1), hl_dim(output, 2),
    };
    struct hl_window y, x;
    HL_TRY(find_windows(ctx, node, size.out_height, size.out_width, &y, &x));
    struct hl_conv_node what = describe(node);
    struct hl_conv_work work;
    hl_conv_start(ctx, node, &what, &op->conv, &work);

    int64_t row = (int64_t)size.kh * size.kw * size.channels;
    for (int o = 0, rows; o < size.outputs; o += rows) {
        rows = size.outputs - o < HL_DOT_ROWS ? size.outputs - o : HL_DOT_ROWS;
        union hl_conv_weights weights = hl_conv_rows(&work, o * row, rows * row);
        int64_t at = o;
        for (int b = 0; b < size.batches; b++)
            for (int i = 0; i < size.out_height; i++)
                for (int j = 0; j < size.out_width; j++, at += size.outputs) {
                    union hl_conv_sums sums;
                    hl_conv_clear(&sums);
                    gather(params, &size, &work, weights, rows, b, (int64_t)i + y.before,
                           (int64_t)j + x.before, &sums);
                    hl_conv_store(&work, b, o, rows, &sums, at);
                }
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_transpose_conv = {
    .state_size = sizeof(struct transpose_conv),
    .prepare = transpose_conv_prepare,
    .invoke = transpose_conv_invoke,
    .release = hl_conv_release,
};
