// SPDX-License-Identifier: Apache-2.0
// TRANSPOSE_CONV: the shape of the output, weights [o, kh, kw, i], x [b, h, w, i], bias [o] or none. The custom
// operator Convolution2DTransposeBias has x, weights, bias. Input (ix, iy) contributes to the outputs (ix * stride -
// pad + kx, ...). Outputs with the same remainder modulo the strides read the same taps. For each remainder there is
// one ordinary convolution with every stride-th tap, in reverse order.
#include <stddef.h>

#include "gpu/ops/convolve.h"

extern const struct gpu_op gpu_op_transpose_conv, gpu_op_convolution_2d_transpose_bias;

static bool check_shapes(const struct gpu_node_view *view, const struct gpu_weighted *in,
                         const TfLiteTransposeConvParams *params)
{
    const TfLiteTensor *x = gpu_view_input(view, in->x), *weights = gpu_view_input(view, in->weights);
    const TfLiteTensor *y = gpu_view_output(view, 0);
    if (x->dims->size != 4 || weights->dims->size != 4 || y->dims->size != 4)
        return gpu_refuse(view, DELEGATE_RANK, in->x,
                          "input, weights and output have ranks %d, %d and %d, expected 4 each", x->dims->size,
                          weights->dims->size, y->dims->size);
    const int *k = weights->dims->data, *from = x->dims->data, *out = y->dims->data;
    if (k[0] != out[3] || k[1] < 1 || k[2] < 1 || k[3] != from[3] || from[0] != out[0])
        return gpu_refuse(view, DELEGATE_SHAPE, in->weights,
                          "weights of %d x %d x %d x %d do not fit %d input and %d output channels", k[0], k[1], k[2],
                          k[3], from[3], out[3]);
    struct gpu_window window = {k[2], k[1], params->stride_width, params->stride_height, 1, 1, params->padding};
    if (!gpu_check_bias(view, in->weights, in->bias, k[0]) || !gpu_check_window(view, &window) ||
        !gpu_check_weights(view, in->weights, k[0], (int64_t)k[1] * k[2], k[3]))
        return false;
    return (int64_t)params->stride_width * params->stride_height <= 64 ||
           gpu_refuse(view, DELEGATE_PARAMETER, -1, "strides are %d x %d: more than 64 convolutions",
                      params->stride_width, params->stride_height);
}

static bool check(const struct gpu_node_view *view, const struct gpu_weighted *in,
                  const TfLiteTransposeConvParams *params)
{
    if (hl_is_constant(gpu_view_input(view, in->x)))
        return gpu_refuse(view, DELEGATE_CONSTANT, in->x, "the input is a constant");
    return check_shapes(view, in, params);
}

static bool supported(const struct gpu_node_view *view)
{
    const TfLiteTransposeConvParams *params = view->node->builtin_data;
    if (!params) return gpu_refuse(view, DELEGATE_PARAMETER, -1, "the operator has no options");
    return gpu_check_constant(view, 0) && check(view, &gpu_op_transpose_conv.weighted, params);
}

static bool custom_supported(const struct gpu_node_view *view)
{
    TfLiteTransposeConvParams params = {0};
    gpu_custom_options(view, &params, sizeof params);
    if (params.activation != kTfLiteActNone)
        return gpu_refuse(view, DELEGATE_PARAMETER, -1, "it has a fused activation");
    return check(view, &gpu_op_convolution_2d_transpose_bias.weighted, &params);
}

// One axis: the outputs with this remainder, and their taps. Output o = remainder + stride * position reads input i
// with tap o + pad - stride * i, which is tap first + stride * n of i = (remainder + pad) / stride + position - n.
struct axis {
    int positions;
    int first, taps; // tap n of the convolution, in reverse order, is tap first + stride * n
    int pad;         // zeros before x; may be negative
};

static struct axis axis_at(int remainder, int out, int kernel, int stride, int pad)
{
    struct axis axis = {
        .positions = out > remainder ? (out - remainder - 1) / stride + 1 : 0,
        .first = (remainder + pad) % stride,
    };
    axis.taps = kernel > axis.first ? (kernel - axis.first - 1) / stride + 1 : 0;
    axis.pad = axis.taps - 1 - (remainder + pad) / stride;
    return axis;
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const TfLiteTransposeConvParams *params = node->params;
    const struct gpu_weighted *in = &node->op->weighted;
    const struct gpu_value *x = node->inputs[in->x], *y = node->outputs[0], *weights = node->inputs[in->weights];
    const struct gpu_value *bias = node->input_count > in->bias ? node->inputs[in->bias] : NULL;
    struct gpu_shape k = weights->shape;
    int stride_w = params->stride_width, stride_h = params->stride_height;
    int left = gpu_pad_before(params->padding, y->shape.w, x->shape.w, k.w, stride_w, 1);
    int top = gpu_pad_before(params->padding, y->shape.h, x->shape.h, k.h, stride_h, 1);
    for (int ry = 0; ry < stride_h; ry++)
        for (int rx = 0; rx < stride_w; rx++) {
            struct axis w = axis_at(rx, y->shape.w, k.w, stride_w, left);
            struct axis h = axis_at(ry, y->shape.h, k.h, stride_h, top);
            if (w.positions == 0 || h.positions == 0) continue;
            if (w.taps == 0 || h.taps == 0) w.taps = h.taps = 0;
            int64_t by_h = (int64_t)k.w * k.c, by_w = k.c;
            struct gpu_convolution sum = {
                .x = x,
                .y = y,
                .inputs = k.c,
                .outputs = k.b,
                .kernel_w = w.taps,
                .kernel_h = h.taps,
                .stride_w = 1,
                .stride_h = 1,
                .dilation_w = 1,
                .dilation_h = 1,
                .pad_left = w.pad,
                .pad_top = h.pad,
                .grid_w = w.positions,
                .grid_h = h.positions,
                .spread_w = stride_w,
                .spread_h = stride_h,
                .offset_x = rx,
                .offset_y = ry,
                .by_output = by_h * k.h,
                .by_h = -by_h * stride_h,
                .by_w = -by_w * stride_w,
                .by_input = 1,
            };
            int64_t last = by_h * (h.first + stride_h * (h.taps - 1)) + by_w * (w.first + stride_w * (w.taps - 1));
            gpu_set_weights(&sum, weights, bias, w.taps ? last : 0);
            if (!gpu_convolve(plan, &sum)) return false;
        }
    return true;
}

static const struct gpu_kernel *const kernels[] = {GPU_CONVOLVE_KERNELS, NULL};
#define TRANSPOSE_CONV                                                                                            \
    .plan = plan, .epilogue = true, .bytes = GPU_BYTES_COMPUTED, .rank_blind = true, .macs = gpu_macs_of_weights, \
    .kernels = kernels
const struct gpu_op gpu_op_transpose_conv = {
    .name = "TRANSPOSE_CONV",
    .max_version = 4,
    .operands = {.inputs = {3, 4}, .integer_inputs = GPU_INPUT(0)},
    .supported = supported,
    GPU_PARAMS_ACTIVATION(TfLiteTransposeConvParams),
    .weighted = {.x = 2, .weights = 1, .bias = 3},
    .hybrid = true,
    TRANSPOSE_CONV,
};
// The options in files are padding and strides, in newer files with more fields after them.
const struct gpu_op gpu_op_convolution_2d_transpose_bias = {
    .name = "Convolution2DTransposeBias",
    .max_version = 1,
    .operands = {.inputs = {2, 3}},
    .supported = custom_supported,
    GPU_PARAMS(TfLiteTransposeConvParams),
    .min_params_size = offsetof(TfLiteTransposeConvParams, activation),
    .weighted = {.x = 0, .weights = 1, .bias = 2},
    .hybrid = true,
    TRANSPOSE_CONV,
};
