// SPDX-License-Identifier: Apache-2.0
// GATHER with constant indices: places along one axis, taken in the order of a list that lies among the weights.
#include "gpu/graph/convert.h"
#include "gpu/ops/reshape.h"
#include "tensorflow/lite/builtin_ops.h"

// A half holds integers up to 2048: an index is two of them.
enum { LOW = 1024, MOST = LOW * 2048 };

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
#define LANE(I, NAME)                                                         \
    real NAME = to_real(0.0f);                                                \
    if (p.z * 4 + I < y_c) {                                                  \
        acc4 index = to_acc4(k(p.z * 4 + I));                                 \
        int c = to_int(index.x) + to_int(index.y) * 1024;                     \
        NAME = lane(read_x(mki4(p.x, p.y, c / 4, p.w)), c % 4);               \
    }
#define TEXT_OF(...) GPU_TEXT(__VA_ARGS__)

static const struct gpu_kernel kernel = {
    .name = "gather",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "x"}, {GPU_WEIGHTS, "k"}, {GPU_OUT, "y"}},
    .constants = {{"AXIS", 0}},
    .epilogue = true,
    .body = TEXT_OF(
        int4 p = position();
        if (outside_y(p)) return;
        real4 v = splat4(to_real(0.0f));
        if (AXIS == 3) {
            LANE(0, v0)
            LANE(1, v1)
            LANE(2, v2)
            LANE(3, v3)
            v = mk4(v0, v1, v2, v3);
        } else {
            int4 q = p;
            int at = p.w;
            if (AXIS == 1) at = p.y;
            if (AXIS == 2) at = p.x;
            acc4 index = to_acc4(k(at));
            at = to_int(index.x) + to_int(index.y) * 1024;
            if (AXIS == 0) q.w = at;
            if (AXIS == 1) q.y = at;
            if (AXIS == 2) q.x = at;
            v = read_x(q);
        }
        write_y(p, finish(v, p));
    ),
};
// clang-format on
static const struct gpu_kernel *const kernels[] = {&kernel, &gpu_kernel_reshape, NULL};

static bool supported(const struct gpu_node_view *view)
{
    if (!gpu_check_common(view, 2, 2, 1, 2) || !gpu_check_constant(view, 1)) return false;
    const TfLiteTensor *x = gpu_view_input(view, 0), *indices = gpu_view_input(view, 1);
    const TfLiteGatherParams *params = view->node->builtin_data;
    int rank = x->dims->size, axis = params->axis < 0 ? params->axis + rank : params->axis;
    if (params->batch_dims != 0) return gpu_refuse(view, GPU_REASON_PARAMETER, -1, "batch_dims must be 0");
    if (gpu_is_constant(x)) return gpu_refuse(view, GPU_REASON_CONSTANT, 0, "the input is a constant");
    if (axis < 0 || axis >= rank)
        return gpu_refuse(view, GPU_REASON_PARAMETER, 0, "axis %d of a tensor of rank %d", axis, rank);
    if (indices->type != kTfLiteInt32) return gpu_refuse(view, GPU_REASON_TYPE, 1, "the indices must be int32");
    int64_t count = gpu_tensor_elements(indices);
    for (int64_t i = 0; i < count; i++)
        if (indices->data.i32[i] < 0 || indices->data.i32[i] >= x->dims->data[axis] || indices->data.i32[i] >= MOST)
            return gpu_refuse(view, GPU_REASON_PARAMETER, 1, "index %d of an axis of length %d", indices->data.i32[i],
                              x->dims->data[axis]);
    return true;
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const TfLiteGatherParams *params = node->params;
    const struct gpu_value *x = node->inputs[0], *indices = node->inputs[1];
    struct gpu_value *y = node->outputs[0];
    int axis = gpu_axis_of(x->rank, params->axis < 0 ? params->axis + x->rank : params->axis);
    int count = (int)gpu_elements(indices->shape);
    struct gpu_shape shape = x->shape;
    *gpu_along(&shape, axis) = count;
    struct gpu_value *to = gpu_plan_target(plan, y, shape);
    struct gpu_weights *weights = gpu_plan_weights(plan, (size_t)count);
    if (!to || !weights) return false;
    for (int i = 0; i < count; i++) {
        int index = gpu_constant_int(indices, i);
        weights->data[4 * i] = (float)(index % LOW);
        weights->data[4 * i + 1] = (float)(index / LOW);
    }
    struct gpu_dispatch_desc desc = {
        .kernel = &kernel,
        .operands = {{.value = x}, {.weights = weights}, {.value = to}},
        .views = {[2] = shape},
        .constants = {{"AXIS", axis}},
        .epilogue = to == y ? &node->epilogue : NULL,
    };
    gpu_grid_over(&desc, shape);
    return gpu_plan_dispatch(plan, &desc) && gpu_plan_written_as(plan, to, y, &node->epilogue);
}

const struct gpu_op gpu_op_gather = {.name = "GATHER", .max_version = 8, .supported = supported, .plan = plan, .epilogue = true,
                                     .params_size = sizeof(TfLiteGatherParams), .kernels = kernels};
