// SPDX-License-Identifier: Apache-2.0
// CAST between float, int32, int64 and bool, and LOGICAL_NOT. All of these are floats on the GPU: a cast to an integer
// truncates, and a cast to bool compares with zero.
#include "gpu/ops/op.h"
#include "tensorflow/lite/builtin_ops.h"

#define MODES(X) X(COPY) X(CUT_OFF) X(IS_NOT_ZERO) X(IS_ZERO)
enum mode { MODES(GPU_VALUE) };

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
#define PER_LANE(OP)                                                                        \
    v = mkf4(pick(v.x OP 0.0f, 1.0f, 0.0f), pick(v.y OP 0.0f, 1.0f, 0.0f),                   \
             pick(v.z OP 0.0f, 1.0f, 0.0f), pick(v.w OP 0.0f, 1.0f, 0.0f));

static const struct gpu_kernel kernel = {
    .name = "cast",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    GPU_CONSTANTS({"MODE", COPY}),
    .value_names = {MODES(GPU_VALUE_NAME)},
    .epilogue = true,
    .body = GPU_TEXT_OF(
        int4 p = position();
        if (outside_y(p)) return;
        float4 v = to_acc4(read_x(p));
        if (MODE == CUT_OFF) v = sign_of(v) * floor(abs(v));
        if (MODE == IS_NOT_ZERO) PER_LANE(!=)
        if (MODE == IS_ZERO) PER_LANE(==)
        write_y(p, finish(to_real4(v), p));
    ),
};
// clang-format on
static bool supported(const struct gpu_node_view *view)
{
    const TfLiteTensor *x = gpu_view_input(view, 0), *y = gpu_view_output(view, 0);
    if (hl_is_constant(x)) return gpu_refuse(view, DELEGATE_CONSTANT, 0, "the input is a constant");
    if ((x->type == kTfLiteInt32 || x->type == kTfLiteInt64) && (y->type == kTfLiteInt32 || y->type == kTfLiteInt64))
        return gpu_refuse(view, DELEGATE_TYPE, 0, "integers stay as they are only on the CPU");
    return gpu_check_no_codes(view, 0) && gpu_check_no_codes(view, -1);
}

static bool plan_mode(struct gpu_plan *plan, const struct gpu_node *node, enum mode mode)
{
    struct gpu_dispatch_desc desc = {
        .kernel = &kernel,
        .operands = {{.value = node->inputs[0]}, {.value = node->outputs[0]}},
        .constants = {{"MODE", (int)mode}},
        .epilogue = &node->epilogue,
    };
    gpu_grid_over(&desc, node->outputs[0]->shape);
    return gpu_plan_dispatch(plan, &desc);
}

static bool cast_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    switch (node->outputs[0]->type) {
    case kTfLiteInt32:
    case kTfLiteInt64: return plan_mode(plan, node, CUT_OFF);
    case kTfLiteBool: return plan_mode(plan, node, IS_NOT_ZERO);
    default: return plan_mode(plan, node, COPY);
    }
}

static bool not_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    return plan_mode(plan, node, IS_ZERO);
}

static const struct gpu_kernel *const kernels[] = {&kernel, NULL};
const struct gpu_op gpu_op_cast = {
    .name = "CAST",
    .max_version = 9,
    .operands = {.inputs = {1}, .integer_inputs = GPU_INPUT(0), .integer_outputs = true, .any_rank = true},
    .supported = supported,
    .plan = cast_plan,
    .epilogue = true,
    .rank_blind = true,
    .kernels = kernels,
};
const struct gpu_op gpu_op_logical_not = {
    .name = "LOGICAL_NOT",
    .max_version = 1,
    .operands = {.inputs = {1}, .integer_inputs = GPU_INPUT(0), .integer_outputs = true, .any_rank = true},
    .supported = supported,
    .plan = not_plan,
    .epilogue = true,
    .rank_blind = true,
    .kernels = kernels,
};
