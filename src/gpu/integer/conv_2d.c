// SPDX-License-Identifier: Apache-2.0
// CONV_2D with 8-bit tensors and integer sums; see convolve.h.
#include "gpu/integer/convolve.h"

static bool supported(const struct gpu_node_view *view)
{
    if (!gpu_check_like_floats(view)) return false;
    const TfLiteTensor *y = gpu_view_output(view, 0);
    return gpu_check_integer_weights(view, y->dims->data[3], false);
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const TfLiteConvParams *params = node->params;
    const struct gpu_value *x = node->inputs[0], *y = node->outputs[0], *weights = node->inputs[1];
    struct gpu_shape k = weights->shape;
    struct gpu_integer_sum sum = {
        .x = x,
        .y = y,
        .x_view = x->shape,
        .y_view = y->shape,
        .weights = weights,
        .bias = node->input_count > 2 ? node->inputs[2] : NULL,
        .inputs = k.c,
        .groups = x->shape.c / k.c,
        .kernel_w = k.w,
        .kernel_h = k.h,
        GPU_STRIDES_OF(params),
        .pad_left = node->pad_left + gpu_pad_before(params->padding, x->shape.w, y->shape.w, k.w, params->stride_width,
                                                    params->dilation_width_factor),
        .pad_top = node->pad_top + gpu_pad_before(params->padding, x->shape.h, y->shape.h, k.h, params->stride_height,
                                                  params->dilation_height_factor),
        .by_output = (int64_t)k.h * k.w * k.c,
        .by_h = (int64_t)k.w * k.c,
        .by_w = k.c,
        .activation = params->activation,
    };
    return gpu_integer_convolve(plan, &sum);
}

const struct gpu_op gpu_integer_conv_2d = {
    GPU_INTEGER_OP("CONV_2D", 8),
    GPU_PARAMS_ACTIVATION(TfLiteConvParams),
    .operands = {.inputs = {2, 3}},
    .supported = supported,
    .plan = plan,
    .weighted = {.x = 0, .weights = 1, .bias = 2},
    GPU_KERNELS(GPU_INTEGER_CONVOLVE_KERNELS),
};
