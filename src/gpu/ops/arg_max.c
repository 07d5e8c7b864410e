// SPDX-License-Identifier: Apache-2.0
// ARG_MAX and ARG_MIN along one constant axis: the index of the largest or smallest element, and of the first one if
// several are equal. An axis may have up to 2048 elements, because halves represent all integers up to there.
#include "gpu/ops/reshape.h"
#include "tensorflow/lite/builtin_ops.h"

enum { MOST = 2048 };

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
#define TAKE(LANE, I)                                                   \
    if (I == 0 || v.LANE > best.LANE || (is_nan(best.LANE) && !is_nan(v.LANE))) { \
        best.LANE = v.LANE;                                             \
        where.LANE = to_float(I);                                       \
    }
// For whole slices each lane keeps the best element of its own row, in the order of the CPU, which decides which NaN
// stay. The comparisons also look at the bits: llvmpipe turns a bare comparison into a maximum, which loses NaN.
#define TAKE_NEXT(LANE, I)                                              \
    if (v.LANE > best.LANE || (is_nan(best.LANE) && !is_nan(v.LANE))) { \
        best.LANE = v.LANE;                                             \
        where.LANE = to_float(s * 4 + I);                               \
    }
#define TAKE_ONE(LANE, I)                                               \
    if (left > I && (s * 4 + I == 0 || v.LANE > most || (is_nan(most) && !is_nan(v.LANE)))) { \
        most = v.LANE;                                                  \
        channel = to_float(s * 4 + I);                                  \
    }
#define TAKE_LEADER(LANE)                                               \
    if (best.LANE == most && where.LANE < channel) channel = where.LANE;

static const struct gpu_kernel kernel = {
    .name = "arg_max",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    GPU_CONSTANTS({"AXIS", AXIS_C}, {"SMALLEST", 0}),
    .value_names = {GPU_AXES(GPU_VALUE_NAME)},
    .body = GPU_TEXT_OF(
        int4 p = position();
        if (outside_y(p)) return;
        float sense = pick(SMALLEST == 1, -1.0f, 1.0f);
        acc4 where = splatf4(0.0f);
        if (AXIS == AXIS_C) {
            float most = 0.0f;
            float channel = 0.0f;
            acc4 best = splatf4(0.0f);
            for (int s = 0; s < x_c / 4; s += 1) {
                p.z = s;
                acc4 v = to_acc4(read_x(p)) * sense;
                if (s == 0) best = v;
                if (s == 0) where = mkf4(0.0f, 1.0f, 2.0f, 3.0f);
                TAKE_NEXT(x, 0)
                TAKE_NEXT(y, 1)
                TAKE_NEXT(z, 2)
                TAKE_NEXT(w, 3)
            }
            if (x_c >= 4) {
                most = pick(best.y > best.x && !is_nan(best.x), best.y, best.x);
                channel = pick(best.y > best.x && !is_nan(best.x), where.y, where.x);
                float second = pick(best.w > best.z && !is_nan(best.z), best.w, best.z);
                if (second > most) {
                    most = second;
                    channel = pick(best.w > best.z && !is_nan(best.z), where.w, where.z);
                }
                TAKE_LEADER(x)
                TAKE_LEADER(y)
                TAKE_LEADER(z)
                TAKE_LEADER(w)
            }
            for (int s = x_c / 4; s < x_s; s += 1) {
                p.z = s;
                acc4 v = to_acc4(read_x(p)) * sense;
                int left = x_c - s * 4;
                TAKE_ONE(x, 0)
                TAKE_ONE(y, 1)
                TAKE_ONE(z, 2)
                TAKE_ONE(w, 3)
            }
            p.z = 0;
            where.x = channel;
        } else {
            acc4 best = splatf4(0.0f);
            int steps = x_b;
            if (AXIS == AXIS_H) steps = x_h;
            if (AXIS == AXIS_W) steps = x_w;
            int4 q = p;
            for (int i = 0; i < steps; i += 1) {
                if (AXIS == AXIS_B) q.w = i;
                if (AXIS == AXIS_H) q.y = i;
                if (AXIS == AXIS_W) q.x = i;
                acc4 v = to_acc4(read_x(q)) * sense;
                TAKE(x, i)
                TAKE(y, i)
                TAKE(z, i)
                TAKE(w, i)
            }
        }
        write_y(p, to_real4(where));
    ),
};
// clang-format on
static bool supported(const struct gpu_node_view *view)
{
    const TfLiteTensor *x = gpu_view_input(view, 0), *axis = gpu_view_input(view, 1);
    if (hl_is_constant(x)) return gpu_refuse(view, DELEGATE_CONSTANT, 0, "the input is a constant");
    int rank = x->dims->size;
    if (!gpu_check_axis(view, 1, rank)) return false;
    int number = gpu_integer_at(axis, 0);
    int length = x->dims->data[number < 0 ? number + rank : number];
    return length <= MOST ||
           gpu_refuse(view, DELEGATE_SHAPE, 0, "the axis has %d positions, at most %d are searched", length, MOST);
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[0];
    struct gpu_value *y = node->outputs[0];
    int axis = gpu_constant_int(node->inputs[1], 0);
    axis = gpu_axis_of(x->rank, axis < 0 ? axis + x->rank : axis);
    struct gpu_shape kept = x->shape;
    *gpu_along(&kept, axis) = 1;
    struct gpu_value *to = gpu_plan_target(plan, y, kept);
    if (!to) return false;
    struct gpu_dispatch_desc desc = {
        .kernel = &kernel,
        .operands = {{.value = x}, {.value = to}},
        .views = {[1] = kept},
        .constants = {{"AXIS", axis}, {"SMALLEST", node->builtin == kTfLiteBuiltinArgMin}},
    };
    gpu_grid_over(&desc, kept);
    return gpu_plan_dispatch(plan, &desc) && gpu_plan_written_as(plan, to, y, NULL);
}

static const struct gpu_kernel *const kernels[] = {&kernel, &gpu_kernel_reshape, NULL};
const struct gpu_op gpu_op_arg_max = {
    .name = "ARG_MAX",
    .max_version = 3,
    .operands = {.inputs = {2}, .integer_inputs = GPU_INPUT(1), .integer_outputs = true},
    .supported = supported,
    .plan = plan,
    .kernels = kernels,
};
const struct gpu_op gpu_op_arg_min = {
    .name = "ARG_MIN",
    .max_version = 3,
    .operands = {.inputs = {2}, .integer_inputs = GPU_INPUT(1), .integer_outputs = true},
    .supported = supported,
    .plan = plan,
    .kernels = kernels,
};
