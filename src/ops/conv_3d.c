// SPDX-License-Identifier: Apache-2.0
// CONV_3D: y[b, i, j, k, o] = act(bias[o] + sum over d, e, f, c of w[d, e, f, c, o] * x[b, ..., c]),
// x at i * stride + d * dilation - padding along depth, and so along height and width.
// in 0: x [batch, depth, height, width, channels], in 1: w [kd, kh, kw, channels, outputs], in 2:
// bias [outputs], may be absent, out 0: y [batch, out depth, out height, out width, outputs].
// CONV_3D_TRANSPOSE: each position of x spreads its products over a window of y; here each position
// of y gathers them. in 0: shape of y, int32 [5], in 1: w [kd, kh, kw, outputs, channels], in 2: x,
// in 3: bias, may be absent, out 0: y. A CONV_3D with the same options must turn y's depth, height
// and width into x's.
// float32 only.
#include "ops/common/conv.h"
#include "ops/common/window.h"
#include "ops/common/work.h"

enum { AXES = 3 }; // depth, height, width: dimensions 1, 2, 3 of x and y, 0, 1, 2 of w

struct conv_3d {
    struct hl_window window[AXES];
    float low, high;
};

struct steps {
    int stride[AXES], dilation[AXES];
};

static struct steps steps_of(const TfLiteNode *node)
{
    const TfLiteConv3DParams *params = node->builtin_data;
    return (struct steps){
        {params->stride_depth, params->stride_height, params->stride_width},
        {params->dilation_depth_factor, params->dilation_height_factor, params->dilation_width_factor},
    };
}

// ---- prepare ------------------------------------------------------------------------------------

// What both operators ask of x, w, bias and y. The channels are dimension `channel_axis` of w, 3 or
// 4, and the outputs the other one of these.
static TfLiteStatus check_operands(TfLiteContext *ctx, TfLiteNode *node, const TfLiteTensor *x, const TfLiteTensor *w,
                                   const TfLiteTensor *bias, int channel_axis)
{
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    if (x->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, x);
    if (w->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, w);
    if (y->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, y);
    if (bias && bias->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, bias);
    HL_REQUIRE(ctx, node, hl_rank(x) == 5 && hl_rank(w) == 5,
               "input and filter have %d and %d dimensions, they must have 5", hl_rank(x), hl_rank(w));
    HL_REQUIRE(ctx, node, !w->sparsity, "sparse weights are not supported");
    HL_REQUIRE(ctx, node, hl_dim(x, 4) == hl_dim(w, channel_axis), "%d input channels differ from the filter's %d",
               hl_dim(x, 4), hl_dim(w, channel_axis));
    int outputs = hl_dim(w, channel_axis == 3 ? 4 : 3);
    HL_REQUIRE(ctx, node, !bias || hl_elements(bias) == outputs,
               "a bias of %lld elements does not fit %d output channels", (long long)hl_elements(bias), outputs);
    return kTfLiteOk;
}

// Windows over sizes in[0..2], which are those of CONV_3D's input.
static TfLiteStatus find_windows(TfLiteContext *ctx, TfLiteNode *node, const int *in, const TfLiteTensor *w,
                                 struct hl_window *windows)
{
    static const char *const names[AXES] = {"depth", "height", "width"};
    const TfLiteConv3DParams *params = node->builtin_data;
    struct steps steps = steps_of(node);
    for (int i = 0; i < AXES; i++)
        HL_TRY(hl_window_size(ctx, node, names[i], params->padding, in[i], hl_dim(w, i), steps.stride[i],
                              steps.dilation[i], &windows[i]));
    return kTfLiteOk;
}

static TfLiteStatus conv_3d_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteConv3DParams *params = node->builtin_data;
    struct conv_3d *op = node->user_data;
    HL_TRY(hl_require_counts(ctx, node, 2, 3, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *w = hl_input(ctx, node, 1);
    HL_TRY(check_operands(ctx, node, x, w, hl_input(ctx, node, 2), 3));
    HL_TRY(find_windows(ctx, node, x->dims->data + 1, w, op->window));
    hl_activation_range_f32(params->activation, &op->low, &op->high);
    int dims[5] = {hl_dim(x, 0), op->window[0].out, op->window[1].out, op->window[2].out, hl_dim(w, 4)};
    return hl_resize(ctx, hl_output(ctx, node, 0), 5, dims);
}

static TfLiteStatus set_transpose_shape(TfLiteContext *ctx, TfLiteNode *node)
{
    struct conv_3d *op = node->user_data;
    const TfLiteTensor *w = hl_input(ctx, node, 1), *x = hl_input(ctx, node, 2);
    const int32_t *shape = HL_IN(int32_t, hl_input(ctx, node, 0));
    int dims[5];
    for (int i = 0; i < 5; i++) dims[i] = shape[i];
    HL_REQUIRE(ctx, node, dims[0] == hl_dim(x, 0), "output batch %d differs from the input's %d", dims[0],
               hl_dim(x, 0));
    HL_REQUIRE(ctx, node, dims[4] == hl_dim(w, 3), "%d output channels differ from the filter's %d", dims[4],
               hl_dim(w, 3));
    HL_TRY(find_windows(ctx, node, dims + 1, w, op->window));
    for (int i = 0; i < AXES; i++)
        HL_REQUIRE(ctx, node, op->window[i].out == hl_dim(x, 1 + i),
                   "output dimension %d of %d belongs to an input of %d, the input has %d", 1 + i, dims[1 + i],
                   op->window[i].out, hl_dim(x, 1 + i));
    return hl_resize(ctx, hl_output(ctx, node, 0), 5, dims);
}

static TfLiteStatus conv_3d_transpose_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteConv3DParams *params = node->builtin_data;
    struct conv_3d *op = node->user_data;
    HL_TRY(hl_require_counts(ctx, node, 3, 4, 1));
    const TfLiteTensor *shape = hl_input(ctx, node, 0);
    HL_REQUIRE(ctx, node, shape->type == kTfLiteInt32, "the output shape is %s, it must be int32",
               hl_type_name(shape->type));
    HL_REQUIRE(ctx, node, hl_rank(shape) == 1 && hl_dim(shape, 0) == 5, "the output shape must be a list of 5 numbers");
    const TfLiteTensor *w = hl_input(ctx, node, 1), *x = hl_input(ctx, node, 2);
    HL_TRY(check_operands(ctx, node, x, w, hl_input(ctx, node, 3), 4));
    struct steps steps = steps_of(node);
    for (int i = 0; i < AXES; i++)
        HL_REQUIRE(ctx, node, steps.stride[i] > 0 && steps.dilation[i] > 0,
                   "stride %d and dilation %d must be positive", steps.stride[i], steps.dilation[i]);
    hl_activation_range_f32(params->activation, &op->low, &op->high);
    if (hl_is_constant(shape)) return set_transpose_shape(ctx, node);
    hl_make_dynamic(hl_output(ctx, node, 0));
    return kTfLiteOk;
}

// ---- invoke -------------------------------------------------------------------------------------

// Output channels that are added up at once.
enum { BLOCK = 32 };

// A position of y, and the taps of the filter or the positions of x that reach it, along each axis.
struct reach {
    int batch;
    int64_t at[AXES]; // of the window's begin in x (CONV_3D), of y with padding (transposed)
    int first[AXES], end[AXES];
};

static void finish(const struct conv_3d *op, const TfLiteTensor *bias, int channel, int count, const float *sums,
                   float *y)
{
    for (int i = 0; i < count; i++) {
        float value = bias ? sums[i] + HL_IN(float, bias)[channel + i] : sums[i];
        y[i] = value < op->low ? op->low : value > op->high ? op->high : value;
    }
}

static int64_t x_element(const TfLiteTensor *x, int batch, int64_t d, int64_t h, int64_t w)
{
    return (((batch * (int64_t)hl_dim(x, 1) + d) * hl_dim(x, 2) + h) * hl_dim(x, 3) + w) * hl_dim(x, 4);
}

static void convolve(const TfLiteTensor *x, const TfLiteTensor *w, const struct steps *steps, const struct reach *reach,
                     int channel, int count, float *sums)
{
    int channels = hl_dim(w, 3), outputs = hl_dim(w, 4);
    if (channels == 0) return; // there is no data
    for (int d = reach->first[0]; d < reach->end[0]; d++)
        for (int e = reach->first[1]; e < reach->end[1]; e++)
            for (int f = reach->first[2]; f < reach->end[2]; f++) {
                const float *in =
                    HL_IN(float, x) + x_element(x, reach->batch, reach->at[0] + (int64_t)d * steps->dilation[0],
                                                reach->at[1] + (int64_t)e * steps->dilation[1],
                                                reach->at[2] + (int64_t)f * steps->dilation[2]);
                int64_t tap = ((int64_t)d * hl_dim(w, 1) + e) * hl_dim(w, 2) + f;
                const float *weights = HL_IN(float, w) + tap * channels * outputs + channel;
                for (int c = 0; c < channels; c++, weights += outputs)
                    for (int i = 0; i < count; i++) sums[i] += in[c] * weights[i];
            }
}

// The tap of the filter that leads from position s of x to position `at` of y; -1: none.
static int64_t tap_of(int64_t at, int s, int stride, int dilation)
{
    int64_t distance = at - (int64_t)s * stride;
    return distance % dilation == 0 ? distance / dilation : -1;
}

static void gather(const TfLiteTensor *x, const TfLiteTensor *w, const struct steps *steps, const struct reach *reach,
                   int channel, int count, float *sums)
{
    int channels = hl_dim(w, 4), outputs = hl_dim(w, 3);
    if (channels == 0) return; // there is no data
    for (int s = reach->first[0]; s < reach->end[0]; s++)
        for (int t = reach->first[1]; t < reach->end[1]; t++)
            for (int u = reach->first[2]; u < reach->end[2]; u++) {
                int64_t d = tap_of(reach->at[0], s, steps->stride[0], steps->dilation[0]);
                int64_t e = tap_of(reach->at[1], t, steps->stride[1], steps->dilation[1]);
                int64_t f = tap_of(reach->at[2], u, steps->stride[2], steps->dilation[2]);
                if (d < 0 || e < 0 || f < 0) continue;
                int64_t tap = (d * hl_dim(w, 1) + e) * hl_dim(w, 2) + f;
                const float *weights = HL_IN(float, w) + (tap * outputs + channel) * channels;
                const float *in = HL_IN(float, x) + x_element(x, reach->batch, s, t, u);
                for (int i = 0; i < count; i += HL_ADD_DOTS_ROWS) {
                    int rows = count - i < HL_ADD_DOTS_ROWS ? count - i : HL_ADD_DOTS_ROWS;
                    hl_add_dots_f32(weights + (int64_t)i * channels, channels, rows, in, channels, sums + i);
                }
            }
}

static void find_reach(const struct conv_3d *op, const struct steps *steps, const TfLiteTensor *x,
                       const TfLiteTensor *w, bool transposed, int axis, int at, struct reach *reach)
{
    const struct hl_window *window = &op->window[axis];
    int in = hl_dim(x, axis + 1), filter = hl_dim(w, axis);
    int stride = steps->stride[axis], dilation = steps->dilation[axis];
    if (transposed) {
        reach->at[axis] = (int64_t)at + window->before;
        hl_conv_sources(reach->at[axis], in, (int64_t)(filter - 1) * dilation + 1, stride, &reach->first[axis],
                        &reach->end[axis]);
    } else {
        reach->at[axis] = (int64_t)at * stride - window->before;
        hl_conv_taps(reach->at[axis], in, filter, dilation, &reach->first[axis], &reach->end[axis]);
    }
}

static void run(const struct conv_3d *op, const struct steps *steps, const TfLiteTensor *x, const TfLiteTensor *w,
                const TfLiteTensor *bias, bool transposed, TfLiteTensor *y)
{
    if (hl_elements(y) == 0) return;
    struct reach reach;
    int outputs = hl_dim(y, 4);
    float *out = HL_OUT(float, y);
    for (reach.batch = 0; reach.batch < hl_dim(y, 0); reach.batch++)
        for (int i = 0; i < hl_dim(y, 1); i++) {
            find_reach(op, steps, x, w, transposed, 0, i, &reach);
            for (int j = 0; j < hl_dim(y, 2); j++) {
                find_reach(op, steps, x, w, transposed, 1, j, &reach);
                for (int k = 0; k < hl_dim(y, 3); k++, out += outputs) {
                    find_reach(op, steps, x, w, transposed, 2, k, &reach);
                    for (int o = 0; o < outputs; o += BLOCK) {
                        float sums[BLOCK] = {0};
                        int count = outputs - o < BLOCK ? outputs - o : BLOCK;
                        (transposed ? gather : convolve)(x, w, steps, &reach, o, count, sums);
                        finish(op, bias, o, count, sums, out + o);
                    }
                }
            }
        }
}

static TfLiteStatus conv_3d_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    struct steps steps = steps_of(node);
    run(node->user_data, &steps, hl_input(ctx, node, 0), hl_input(ctx, node, 1), hl_input(ctx, node, 2), false,
        hl_output(ctx, node, 0));
    return kTfLiteOk;
}

static TfLiteStatus conv_3d_transpose_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    if (hl_is_dynamic(hl_output(ctx, node, 0))) HL_TRY(set_transpose_shape(ctx, node));
    struct steps steps = steps_of(node);
    run(node->user_data, &steps, hl_input(ctx, node, 2), hl_input(ctx, node, 1), hl_input(ctx, node, 3), true,
        hl_output(ctx, node, 0));
    return kTfLiteOk;
}

// The filter once for each position of x.
static double transposed_work(TfLiteContext *ctx, const TfLiteNode *node)
{
    return hl_rows(hl_input(ctx, node, 2)) * (double)hl_elements(hl_input(ctx, node, 1));
}

const struct hl_op hl_op_conv_3d = {
    .state_size = sizeof(struct conv_3d),
    .prepare = conv_3d_prepare,
    .invoke = conv_3d_invoke,
    .work = hl_work_of_filter,
};

const struct hl_op hl_op_conv_3d_transpose = {
    .state_size = sizeof(struct conv_3d),
    .prepare = conv_3d_transpose_prepare,
    .invoke = conv_3d_transpose_invoke,
    .work = transposed_work,
};
