// SPDX-License-Identifier: Apache-2.0
// ONE_HOT adds an axis of length depth. The position on it that the index names holds `on`, all others hold `off`.
#include "gpu/ops/index.h"

#include "gpu/graph/convert.h"
#include "tensorflow/lite/builtin_ops.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// P_sizes: elements of one index after the new axis, depth. P_values: on, off.
#define LANE(I, NAME, INDEX)                                                                        \
    float NAME = 0.0f;                                                                              \
    if (p.z * 4 + I < y_c) {                                                                        \
        int n = (e + I) / P_sizes.x / P_sizes.y * P_sizes.x + (e + I) % P_sizes.x;                  \
        NAME = pick(INDEX(n) == (e + I) / P_sizes.x % P_sizes.y, bits_to_float(P_values.x), bits_to_float(P_values.y)); \
    }
#define BODY(INDEX)                                                                                 \
    int4 p = position();                                                                            \
    if (outside_y(p)) return;                                                                       \
    int e = ((p.w * y_h + p.y) * y_w + p.x) * y_c + p.z * 4;                                        \
    LANE(0, v0, INDEX)                                                                              \
    LANE(1, v1, INDEX)                                                                              \
    LANE(2, v2, INDEX)                                                                              \
    LANE(3, v3, INDEX)                                                                              \
    write_y(p, finish(to_real4(mkf4(v0, v1, v2, v3)), p));

#define KERNEL(SYMBOL, NAME, K_KIND, INDEX)                                                         \
    static const struct gpu_kernel SYMBOL = {                                                       \
        .name = NAME,                                                                               \
        .group = {32, 4, 1},                                                                        \
        .args = {{K_KIND, "k"}, {GPU_OUT, "y"}},                                                    \
        .params = {"sizes", "values"},                                                              \
        .epilogue = true,                                                                           \
        .body = GPU_TEXT_OF(BODY(INDEX)),                                                               \
    };
KERNEL(by_raw, "one_hot_raw", GPU_RAW_IN, GPU_INDEX_RAW)
KERNEL(by_value, "one_hot", GPU_IN, GPU_INDEX_VALUE)
// clang-format on

enum { INDICES, DEPTH, ON, OFF };

static bool supported(const struct gpu_node_view *view)
{
    for (int i = DEPTH; i <= OFF; i++)
        if (!gpu_check_constant(view, i)) return false;
    const TfLiteTensor *indices = gpu_view_input(view, INDICES), *y = gpu_view_output(view, 0);
    if (hl_is_constant(indices)) return gpu_refuse(view, DELEGATE_CONSTANT, INDICES, "the indices are a constant");
    if (indices->type != kTfLiteInt32) return gpu_refuse(view, DELEGATE_TYPE, INDICES, "the indices must be int32");
    if (y->type != kTfLiteFloat32 && y->type != kTfLiteBool)
        return gpu_refuse(view, DELEGATE_TYPE, ON, "the values must be float32 or bool");
    int rank = y->dims->size, axis = ((const TfLiteOneHotParams *)view->node->builtin_data)->axis;
    if (axis < -1 || axis >= rank)
        return gpu_refuse(view, DELEGATE_PARAMETER, -1, "axis %d of an output of rank %d", axis, rank);
    int depth = y->dims->data[axis < 0 ? rank - 1 : axis];
    return hl_elements(indices) * depth == hl_elements(y) ||
           gpu_refuse(view, DELEGATE_SHAPE, -1, "the output has not depth times as many elements as there are indices");
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *y = node->outputs[0];
    int axis = ((const TfLiteOneHotParams *)node->params)->axis, behind = 1;
    if (axis < 0) axis = y->rank - 1;
    for (int i = axis + 1; i < y->rank; i++) behind *= y->dims[i];
    struct gpu_index index = gpu_index_of(node->inputs[INDICES]);
    struct gpu_dispatch_desc desc = {
        .kernel = index.raw ? &by_raw : &by_value,
        .operands = {{.value = index.value}, {.value = y}},
        .params = {{behind, y->dims[axis]},
                   {gpu_float_bits(node->inputs[ON]->data[0]), gpu_float_bits(node->inputs[OFF]->data[0])}},
        .epilogue = &node->epilogue,
    };
    gpu_grid_over(&desc, y->shape);
    return gpu_plan_dispatch(plan, &desc);
}

const struct gpu_op gpu_op_one_hot = {
    .name = "ONE_HOT",
    .max_version = 1,
    .operands = {.inputs = {4}, .integer_inputs = GPU_ALL_INPUTS, .integer_outputs = true, .any_rank = true},
    .supported = supported,
    .plan = plan,
    GPU_PARAMS(TfLiteOneHotParams),
    .epilogue = true,
    GPU_KERNELS(&by_raw, &by_value),
};
