// SPDX-License-Identifier: Apache-2.0
// FULLY_CONNECTED with 8-bit tensors and integer sums, which the CPU's reference kernel multiplies by a double. See
// convolve.h.
#include <math.h>
#include <stdlib.h>

#include "gpu/graph/convert.h"
#include "gpu/integer/convolve.h"
#include "gpu/ops/reshape.h"

// The kernel's sums have 32 bits, the CPU's 64: returns whether the former are enough.
static bool sums_fit(const struct gpu_node_view *view)
{
    const TfLiteTensor *weights = gpu_view_input(view, 1), *bias = gpu_view_input(view, 2);
    int64_t largest = (int64_t)weights->dims->data[1] * 255 * 255, most = 0;
    for (int64_t i = 0; bias && i < hl_elements(bias); i++) {
        int64_t size = llabs((long long)bias->data.i32[i]);
        if (size > most) most = size;
    }
    return largest + most < INT32_MAX;
}

static bool supported(const struct gpu_node_view *view)
{
    if (!gpu_check_like_floats(view)) return false;
    if (!gpu_check_integer_weights(view, gpu_view_input(view, 1)->dims->data[0], true)) return false;
    if (!sums_fit(view)) return gpu_refuse(view, DELEGATE_SHAPE, 1, "exact integers: sums may have more than 32 bits");
    const TfLiteAffineQuantization *weights = gpu_affine_of(gpu_view_input(view, 1));
    const TfLiteAffineQuantization *x = gpu_affine_of(gpu_view_input(view, 0));
    const TfLiteAffineQuantization *y = gpu_affine_of(gpu_view_output(view, 0));
    for (int i = 0; i < weights->scale->size; i++)
        if ((double)x->scale->data[0] * (double)weights->scale->data[i] / (double)y->scale->data[0] >= 2048)
            return gpu_refuse(view, DELEGATE_QUANTIZATION, 1, "exact integers: scales of inputs beside the output's");
    return true;
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const TfLiteFullyConnectedParams *params = node->params;
    const struct gpu_value *x = node->inputs[0], *y = node->outputs[0], *weights = node->inputs[1];
    int inputs = weights->shape.c;
    struct gpu_shape rows = y->shape;
    rows.c = inputs;
    struct gpu_integer_sum sum = {
        .x = gpu_plan_seen_as(plan, x, rows),
        .y = y,
        .x_view = rows,
        .y_view = y->shape,
        .weights = weights,
        .bias = node->input_count > 2 ? node->inputs[2] : NULL,
        .inputs = inputs,
        .groups = 1,
        GPU_ONE_POSITION,
        .by_output = inputs,
        .activation = params->activation,
        .wide = true,
    };
    return sum.x && gpu_integer_convolve(plan, &sum);
}

const struct gpu_op gpu_integer_fully_connected = {
    GPU_INTEGER_OP("FULLY_CONNECTED", 14),
    GPU_PARAMS_ACTIVATION(TfLiteFullyConnectedParams),
    .operands = {.inputs = {2, 3}},
    .supported = supported,
    .plan = plan,
    .weighted = {.x = 0, .weights = 1, .bias = 2},
    .rank_blind = true,
    GPU_KERNELS(GPU_INTEGER_CONVOLVE_KERNELS, &gpu_kernel_reshape_codes),
};
