// SPDX-License-Identifier: Apache-2.0
// FULLY_CONNECTED: x of any shape as rows of i elements, weights [o, i], bias [o] or none. If a row is the channels of
// a position, it is a convolution with one tap. If a row is a whole image, it is a convolution whose window is the
// image. Any other x is first copied to the positions of the output.
#include "gpu/graph/convert.h"
#include "gpu/ops/convolve.h"
#include "gpu/ops/dense_pair.h"
#include "gpu/ops/reshape.h"

static bool check_shapes(const struct gpu_node_view *view, const TfLiteTensor *x, const TfLiteTensor *weights)
{
    const TfLiteTensor *y = gpu_view_output(view, 0);
    if (weights->dims->size != 2)
        return gpu_refuse(view, DELEGATE_RANK, 1, "the weights have rank %d, expected 2", weights->dims->size);
    int outputs = weights->dims->data[0], inputs = weights->dims->data[1];
    if (outputs < 1 || inputs < 1 || hl_elements(x) % inputs != 0)
        return gpu_refuse(view, DELEGATE_SHAPE, 0, "%lld elements are no rows of %d", (long long)hl_elements(x),
                          inputs);
    int64_t expected = hl_elements(x) / inputs * outputs;
    if (y->dims->size < 1 || y->dims->data[y->dims->size - 1] != outputs || hl_elements(y) != expected)
        return gpu_refuse(view, DELEGATE_SHAPE, -1,
                          "the output has %lld elements, expected rows of %d, %lld elements in all",
                          (long long)hl_elements(y), outputs, (long long)expected);
    return gpu_check_bias(view, 1, 2, outputs) && gpu_check_weights(view, 1, outputs, 1, inputs);
}

static bool supported(const struct gpu_node_view *view)
{
    const TfLiteFullyConnectedParams *params = view->node->builtin_data;
    if (!params) return gpu_refuse(view, DELEGATE_PARAMETER, -1, "the operator has no options");
    if (params->weights_format != kTfLiteFullyConnectedWeightsFormatDefault)
        return gpu_refuse(view, DELEGATE_PARAMETER, -1, "the weights are in shuffled order");
    const TfLiteTensor *x = gpu_view_input(view, 0);
    if (hl_is_constant(x)) return gpu_refuse(view, DELEGATE_CONSTANT, 0, "the input is a constant");
    return check_shapes(view, x, gpu_view_input(view, 1));
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    if (gpu_pair_takes(plan, node)) return true;
    if (gpu_pair_ends(plan, node)) return gpu_plan_pair(plan, node);
    const struct gpu_value *x = node->inputs[0], *y = node->outputs[0], *weights = node->inputs[1];
    const struct gpu_value *bias = node->input_count > 2 ? node->inputs[2] : NULL;
    int outputs = weights->shape.b, inputs = weights->shape.c;
    int rows = (int)(gpu_elements(x->shape) / inputs);
    struct gpu_convolution sum = {
        .x = x,
        .y = y,
        .inputs = inputs,
        .outputs = outputs,
        GPU_ONE_POSITION,
        .by_output = inputs,
        .by_input = 1,
    };
    gpu_set_weights(&sum, weights, bias, 0);
    struct gpu_shape per_position = {x->shape.b, x->shape.h, x->shape.w, y->shape.c};
    bool one_row_per_batch = y->shape.b == rows && y->shape.h * y->shape.w == 1;
    if (x->shape.c == inputs && gpu_same_shape(per_position, y->shape)) return gpu_convolve(plan, &sum);
    if (x->shape.c == inputs && one_row_per_batch) {
        sum.rows = true;
        return gpu_convolve(plan, &sum);
    }
    if (rows == x->shape.b && one_row_per_batch && x->shape.h <= 64 && x->shape.w <= 64) {
        sum.inputs = x->shape.c;
        sum.kernel_w = x->shape.w;
        sum.kernel_h = x->shape.h;
        sum.by_w = x->shape.c;
        sum.by_h = (int64_t)x->shape.w * x->shape.c;
        return gpu_convolve(plan, &sum);
    }
    struct gpu_value *rows_of_x =
        gpu_plan_scratch(plan, (struct gpu_shape){y->shape.b, y->shape.h, y->shape.w, inputs});
    if (!rows_of_x || !gpu_plan_reshape(plan, x, rows_of_x, NULL)) return false;
    sum.x = rows_of_x;
    return gpu_convolve(plan, &sum);
}

const struct gpu_op gpu_op_fully_connected = {
    .name = "FULLY_CONNECTED",
    .max_version = 14,
    GPU_PARAMS_ACTIVATION(TfLiteFullyConnectedParams),
    GPU_OP_OF_WEIGHTS,
    .weighted.rounds_once = true,
    GPU_KERNELS(GPU_CONVOLVE_KERNELS, &gpu_kernel_reshape, &gpu_kernel_dense_pair),
};
