// SPDX-License-Identifier: Apache-2.0
// SELECT and SELECT_V2 choose between two values by a condition of zeros and ones; all three broadcast. The condition
// of SELECT may also be a list with an entry for each index of the first axis.
#include "gpu/ops/reshape.h"
#include "tensorflow/lite/builtin_ops.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
#define POSITION(NAME) mki4(min(p.x, NAME##_w - 1), min(p.y, NAME##_h - 1), min(p.z, NAME##_s - 1), min(p.w, NAME##_b - 1))

static const struct gpu_kernel kernel = {
    .name = "choose",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "wanted"}, {GPU_IN, "yes"}, {GPU_IN, "no"}, {GPU_OUT, "y"}},
    GPU_CONSTANTS({"STRETCH_WANTED", 0}, {"STRETCH_YES", 0}, {"STRETCH_NO", 0}),
    .body = GPU_TEXT_OF(
        int4 p = position();
        if (outside_y(p)) return;
        real4 c = read_wanted(POSITION(wanted));
        real4 u = read_yes(POSITION(yes));
        real4 v = read_no(POSITION(no));
        if (STRETCH_WANTED == 1) c = splat4(c.x);
        if (STRETCH_YES == 1) u = splat4(u.x);
        if (STRETCH_NO == 1) v = splat4(v.x);
        float4 wanted = to_acc4(c);
        v.x = pick(wanted.x != 0.0f, u.x, v.x);
        v.y = pick(wanted.y != 0.0f, u.y, v.y);
        v.z = pick(wanted.z != 0.0f, u.z, v.z);
        v.w = pick(wanted.w != 0.0f, u.w, v.w);
        write_y(p, v);
    ),
};
// clang-format on
static bool supported(const struct gpu_node_view *view)
{
    if (gpu_view_input(view, 0)->type != kTfLiteBool)
        return gpu_refuse(view, DELEGATE_TYPE, 0, "the condition must be bool");
    if (!gpu_check_no_codes(view, -1)) return false;
    bool constant = true;
    for (int i = 0; i < 3; i++) {
        constant = constant && hl_is_constant(gpu_view_input(view, i));
        if (gpu_view_input(view, i)->dims->size > gpu_view_output(view, 0)->dims->size)
            return gpu_refuse(view, DELEGATE_RANK, i, "its rank is above the output's");
        if (!gpu_check_folds(view, i)) return false;
    }
    bool listed = view->registration->builtin_code == kTfLiteBuiltinSelect && gpu_view_input(view, 0)->dims->size == 1;
    if (listed && gpu_view_output(view, 0)->dims->size > 4)
        return gpu_refuse(view, DELEGATE_RANK, 0, "a list of conditions for an output of rank above 4");
    return !constant || gpu_refuse(view, DELEGATE_CONSTANT, 0, "all inputs are constants");
}

static struct gpu_shape aligned(const struct gpu_node *node, int input)
{
    const struct gpu_value *x = node->inputs[input], *y = node->outputs[0];
    int dims[GPU_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1}, first = y->rank - x->rank;
    // A rule of SELECT alone: the list has one entry for each index of the first axis.
    if (input == 0 && node->builtin == kTfLiteBuiltinSelect && x->rank == 1) first = 0;
    for (int i = 0; i < x->rank; i++) dims[first + i] = x->dims[i];
    return gpu_shape_from(y->rank, dims);
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *y = node->outputs[0];
    struct gpu_shape shapes[3];
    const struct gpu_value *seen[3];
    for (int i = 0; i < 3; i++) {
        shapes[i] = aligned(node, i);
        if (!(seen[i] = gpu_plan_seen_as(plan, node->inputs[i], shapes[i]))) return false;
    }
    struct gpu_dispatch_desc desc = {
        .kernel = &kernel,
        .operands = {{.value = seen[0]}, {.value = seen[1]}, {.value = seen[2]}, {.value = y}},
        .views = {shapes[0], shapes[1], shapes[2]},
        .constants = {{"STRETCH_WANTED", shapes[0].c == 1 && y->shape.c > 1},
                      {"STRETCH_YES", shapes[1].c == 1 && y->shape.c > 1},
                      {"STRETCH_NO", shapes[2].c == 1 && y->shape.c > 1}},
    };
    gpu_grid_over(&desc, y->shape);
    return gpu_plan_dispatch(plan, &desc);
}

static const struct gpu_kernel *const kernels[] = {&kernel, &gpu_kernel_reshape, NULL};
const struct gpu_op gpu_op_select = {
    .name = "SELECT",
    .max_version = 4,
    .operands = {.inputs = {3}, .integer_inputs = GPU_INPUT(0), .any_rank = true},
    .supported = supported,
    .plan = plan,
    .kernels = kernels,
};
const struct gpu_op gpu_op_select_v2 = {
    .name = "SELECT_V2",
    .max_version = 2,
    .operands = {.inputs = {3}, .integer_inputs = GPU_INPUT(0), .any_rank = true},
    .supported = supported,
    .plan = plan,
    .kernels = kernels,
};
