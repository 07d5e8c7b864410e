// SPDX-License-Identifier: Apache-2.0
// L2_NORMALIZATION and LOG_SOFTMAX: functions of all channels of a position. A work-item computes one position, with
// sums in float.
#include "gpu/ops/op.h"
#include "tensorflow/lite/builtin_ops.h"

#define FUNCTIONS(X) X(L2_NORMALIZATION) X(LOG_SOFTMAX)
enum function { FUNCTIONS(GPU_VALUE) };

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// Channels beyond x_c are zero. They add nothing to a sum of squares, but they would to a sum of exponentials and to a
// maximum.
static const struct gpu_kernel kernel = {
    .name = "across_channels",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    GPU_CONSTANTS({"FUNCTION", L2_NORMALIZATION}),
    .value_names = {FUNCTIONS(GPU_VALUE_NAME)},
    .epilogue = true,
    .body = GPU_TEXT(
        int4 p = mki4(GID0, GID1, 0, GID2);
        if (outside_y(p)) return;
        float most = -3.402823466e38f;
        float sum = 0.0f;
        if (FUNCTION == LOG_SOFTMAX) {
            for (int s = 0; s < x_s; s += 1) {
                p.z = s;
                acc4 v = to_acc4(read_x(p));
                int left = x_c - s * 4;
                most = max(most, v.x);
                if (left > 1) most = max(most, v.y);
                if (left > 2) most = max(most, v.z);
                if (left > 3) most = max(most, v.w);
            }
        }
        for (int s = 0; s < x_s; s += 1) {
            p.z = s;
            acc4 v = to_acc4(read_x(p));
            int left = x_c - s * 4;
            if (FUNCTION == L2_NORMALIZATION) {
                sum += dot4(v, v);
            } else {
                v = exp(v - splatf4(most));
                sum += v.x;
                if (left > 1) sum += v.y;
                if (left > 2) sum += v.z;
                if (left > 3) sum += v.w;
            }
        }
        float rest = log(sum);
        if (FUNCTION == L2_NORMALIZATION) rest = 1.0f / at_least(splatf4(sqrt(sum)), splatf4(1.0e-6f)).x;
        for (int s = 0; s < x_s; s += 1) {
            p.z = s;
            acc4 v = to_acc4(read_x(p));
            if (FUNCTION == L2_NORMALIZATION) v = v * rest;
            if (FUNCTION == LOG_SOFTMAX) v = (v - splatf4(most)) - splatf4(rest);
            write_y(p, finish(to_real4(v), p));
        }
    ),
};
// clang-format on

static bool supported(const struct gpu_node_view *view)
{
    const TfLiteTensor *x = gpu_view_input(view, 0);
    if (hl_is_constant(x)) return gpu_refuse(view, DELEGATE_CONSTANT, 0, "the input is a constant");
    return x->dims->size > 0 || gpu_refuse(view, DELEGATE_RANK, 0, "the input is a scalar");
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[0];
    struct gpu_dispatch_desc desc = {
        .kernel = &kernel,
        .operands = {{.value = x}, {.value = node->outputs[0]}},
        .constants = {{"FUNCTION", node->builtin == kTfLiteBuiltinLogSoftmax ? LOG_SOFTMAX : L2_NORMALIZATION}},
        .grid = {x->shape.w, x->shape.h, x->shape.b},
        .epilogue = &node->epilogue,
    };
    return gpu_plan_dispatch(plan, &desc);
}

static const struct gpu_kernel *const kernels[] = {&kernel, NULL};
const struct gpu_op gpu_op_l2_normalization = {
    .name = "L2_NORMALIZATION",
    .max_version = 2,
    .operands = {.inputs = {1}, .any_rank = true},
    .supported = supported,
    .plan = plan,
    GPU_PARAMS_ACTIVATION(TfLiteL2NormParams),
    .epilogue = true,
    .bytes = GPU_BYTES_COMPUTED,
    .rank_blind = true,
    .kernels = kernels,
};
const struct gpu_op gpu_op_log_softmax = {
    .name = "LOG_SOFTMAX",
    .max_version = 2,
    .operands = {.inputs = {1}, .any_rank = true},
    .supported = supported,
    .plan = plan,
    .epilogue = true,
    .bytes = GPU_BYTES_COMPUTED,
    .rank_blind = true,
    .kernels = kernels,
};
