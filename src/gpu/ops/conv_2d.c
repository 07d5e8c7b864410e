// SPDX-License-Identifier: Apache-2.0
// CONV_2D: x [b, h, w, i], weights [o, kh, kw, i / groups], bias [o] or none. See convolve.h.
#include "gpu/ops/dense_pair.h"
#include "gpu/ops/separable.h"

static bool supported(const struct gpu_node_view *view)
{
    const TfLiteConvParams *params = view->node->builtin_data;
    if (!params) return gpu_refuse(view, DELEGATE_PARAMETER, -1, "the operator has no options");
    const TfLiteTensor *x = gpu_view_input(view, 0), *weights = gpu_view_input(view, 1);
    if (hl_is_constant(x)) return gpu_refuse(view, DELEGATE_CONSTANT, 0, "the input is a constant");
    const TfLiteTensor *y = gpu_view_output(view, 0);
    if (x->dims->size != 4 || weights->dims->size != 4 || y->dims->size != 4)
        return gpu_refuse(view, DELEGATE_RANK, 0, "input, weights and output have ranks %d, %d and %d, expected 4 each",
                          x->dims->size, weights->dims->size, y->dims->size);
    const int *k = weights->dims->data;
    int inputs = x->dims->data[3], outputs = y->dims->data[3];
    if (k[0] < 1 || k[1] < 1 || k[2] < 1 || k[3] < 1 || k[0] != outputs || inputs % k[3] != 0 ||
        outputs % (inputs / k[3]) != 0)
        return gpu_refuse(view, DELEGATE_SHAPE, 1,
                          "weights of %d x %d x %d x %d do not fit %d input and %d output channels", k[0], k[1], k[2],
                          k[3], inputs, outputs);
    const TfLiteTensor *bias = gpu_view_input(view, 2);
    bool constants = hl_is_constant(weights) && (!bias || hl_is_constant(bias));
    if (inputs > k[3] && !constants)
        return gpu_refuse(view, DELEGATE_NOT_CONSTANT, 1, "weights and bias of %d groups must be constants",
                          inputs / k[3]);
    if (inputs > k[3] && outputs > 4 * 65535) // too many work-groups of one output slice each
        return gpu_refuse(view, DELEGATE_SHAPE, 1, "%d output channels in groups, the GPU takes up to %d", outputs,
                          4 * 65535);
    struct gpu_window window = {
        .kernel_w = k[2],
        .kernel_h = k[1],
        GPU_STRIDES_OF(params),
        .padding = params->padding,
    };
    return gpu_check_bias(view, 1, 2, outputs) && gpu_check_window(view, &window) &&
           gpu_check_weights(view, 1, outputs, (int64_t)k[1] * k[2], k[3]);
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    if (gpu_pair_takes(plan, node)) return true;
    if (gpu_pair_ends(plan, node)) return gpu_plan_pair(plan, node);
    const TfLiteConvParams *params = node->params;
    const struct gpu_value *x = node->inputs[0], *y = node->outputs[0], *weights = node->inputs[1];
    const struct gpu_value *bias = node->input_count > 2 ? node->inputs[2] : NULL;
    struct gpu_shape k = weights->shape;
    int pad_left = gpu_pad_before(params->padding, x->shape.w, y->shape.w, k.w, params->stride_width,
                                  params->dilation_width_factor);
    int pad_top = gpu_pad_before(params->padding, x->shape.h, y->shape.h, k.h, params->stride_height,
                                 params->dilation_height_factor);
    struct gpu_convolution sum = {
        .x = x,
        .y = y,
        .inputs = k.c,
        .outputs = k.b,
        .groups = x->shape.c / k.c,
        .kernel_w = k.w,
        .kernel_h = k.h,
        GPU_STRIDES_OF(params),
        .pad_left = pad_left + node->pad_left,
        .pad_top = pad_top + node->pad_top,
        .mirrors = node->pad_mirrors,
        .by_output = (int64_t)k.h * k.w * k.c,
        .by_h = (int64_t)k.w * k.c,
        .by_w = k.c,
        .by_input = 1,
    };
    gpu_set_weights(&sum, weights, bias, 0);
    const struct gpu_node *depthwise = gpu_separable_producer(plan, node);
    return depthwise ? gpu_plan_separable(plan, depthwise, &sum) : gpu_convolve(plan, &sum);
}

const struct gpu_op gpu_op_conv_2d = {
    .name = "CONV_2D",
    .max_version = 8,
    GPU_PARAMS_ACTIVATION(TfLiteConvParams),
    GPU_OP_OF_WEIGHTS,
    GPU_KERNELS(GPU_CONVOLVE_KERNELS, GPU_SEPARABLE_KERNELS, &gpu_kernel_dense_pair),
};
