// SPDX-License-Identifier: Apache-2.0
// CUMSUM along one constant axis. A work-item walks along one line. Lines are parallel, the sums within one are not.
#include "gpu/ops/op.h"
#include "tensorflow/lite/builtin_ops.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// Along channels, lane NAME gets the sum of all lanes before it.
#define NEXT(NAME)                                      \
    before = sum;                                       \
    sum += v.NAME;                                      \
    v.NAME = pick(EXCLUSIVE == 1, before, sum);

static const struct gpu_kernel kernel = {
    .name = "cumsum",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    GPU_CONSTANTS({"AXIS", AXIS_C}, {"EXCLUSIVE", 0}, {"REVERSE", 0}),
    .value_names = {GPU_AXES(GPU_VALUE_NAME)},
    .body = GPU_TEXT_OF(
        if (AXIS == AXIS_C) {
            int4 p = mki4(GID0, GID1, 0, GID2);
            if (outside_y(p)) return;
            float sum = 0.0f;
            float before = 0.0f;
            for (int i = 0; i < x_s; i += 1) {
                p.z = pick(REVERSE == 1, x_s - 1 - i, i);
                acc4 v = to_acc4(read_x(p));
                if (REVERSE == 1) {
                    NEXT(w)
                    NEXT(z)
                    NEXT(y)
                    NEXT(x)
                } else {
                    NEXT(x)
                    NEXT(y)
                    NEXT(z)
                    NEXT(w)
                }
                write_y(p, to_real4(v));
            }
        } else {
            int4 p = mki4(GID0, GID1, GID2, 0);
            int steps = x_b;
            if (AXIS == AXIS_H) {
                p = mki4(GID0, 0, GID2 % x_s, GID2 / x_s);
                steps = x_h;
                if (GID1 > 0) return;
            }
            if (AXIS == AXIS_W) {
                p = mki4(0, GID1, GID2 % x_s, GID2 / x_s);
                steps = x_w;
                if (GID0 > 0) return;
            }
            if (outside_y(p)) return;
            acc4 sum = splatf4(0.0f);
            for (int i = 0; i < steps; i += 1) {
                int at = pick(REVERSE == 1, steps - 1 - i, i);
                if (AXIS == AXIS_B) p.w = at;
                if (AXIS == AXIS_H) p.y = at;
                if (AXIS == AXIS_W) p.x = at;
                acc4 v = to_acc4(read_x(p));
                if (EXCLUSIVE == 1) write_y(p, to_real4(sum));
                sum += v;
                if (EXCLUSIVE == 0) write_y(p, to_real4(sum));
            }
        }
    ),
};
// clang-format on
static bool supported(const struct gpu_node_view *view)
{
    const TfLiteTensor *x = gpu_view_input(view, 0);
    if (hl_is_constant(x)) return gpu_refuse(view, DELEGATE_CONSTANT, 0, "the input is a constant");
    return gpu_check_axis(view, 1, x->dims->size);
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const TfLiteCumsumParams *params = node->params;
    const struct gpu_value *x = node->inputs[0];
    int axis = gpu_constant_int(node->inputs[1], 0), slices = gpu_slices(x->shape);
    axis = gpu_axis_of(x->rank, axis < 0 ? axis + x->rank : axis);
    struct gpu_dispatch_desc desc = {
        .kernel = &kernel,
        .operands = {{.value = x}, {.value = node->outputs[0]}},
        .constants = {{"AXIS", axis}, {"EXCLUSIVE", params->exclusive}, {"REVERSE", params->reverse}},
        .grid = {axis == 2 ? 1 : x->shape.w, axis == 1 ? 1 : x->shape.h,
                 axis == 3   ? x->shape.b
                 : axis == 0 ? slices
                             : slices * x->shape.b},
    };
    return gpu_plan_dispatch(plan, &desc);
}

const struct gpu_op gpu_op_cumsum = {
    .name = "CUMSUM",
    .max_version = 1,
    .operands = {.inputs = {2}, .integer_inputs = GPU_INPUT(1)},
    .supported = supported,
    .plan = plan,
    GPU_PARAMS(TfLiteCumsumParams),
    GPU_KERNELS(&kernel),
};
