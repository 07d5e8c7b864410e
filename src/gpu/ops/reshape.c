// SPDX-License-Identifier: Apache-2.0
// RESHAPE, SQUEEZE, EXPAND_DIMS: the same elements in [b, h, w, c] order under another shape. Four channels are read at
// once if both channel counts are multiples of four.
#include "gpu/ops/reshape.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
#define LANE(I, NAME)                                                                       \
    real NAME = to_real(0.0f);                                                              \
    if (p.z * 4 + I < y_c) {                                                                \
        int c = (e + I) % x_c;                                                              \
        int r = (e + I) / x_c;                                                              \
        NAME = lane(read_x(mki4(r % x_w, (r / x_w) % x_h, c / 4, r / x_w / x_h)), c % 4);    \
    }

static const char body[] = GPU_TEXT_OF(
    int4 p = position();
    if (outside_y(p)) return;
    int e = ((p.w * y_h + p.y) * y_w + p.x) * y_c + p.z * 4;
    if (WHOLE == 1) {
        int c = e % x_c;
        int r = e / x_c;
        write_y(p, finish(read_x(mki4(r % x_w, (r / x_w) % x_h, c / 4, r / x_w / x_h)), p));
    } else {
        GPU_LANES
        write_y(p, finish(mk4(v0, v1, v2, v3), p));
    }
);

const struct gpu_kernel gpu_kernel_reshape = {
    .name = "reshape",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    GPU_CONSTANTS({"WHOLE", 0}),
    .epilogue = true,
    .body = body,
};

const struct gpu_kernel gpu_kernel_reshape_codes = {
    .name = "reshape_codes",
    .group = {32, 4, 1},
    .args = {{GPU_CODES_IN, "x"}, {GPU_CODES_OUT, "y"}},
    GPU_CONSTANTS({"WHOLE", 0}),
    .moves_codes = true,
    .body = body,
};
// clang-format on
bool gpu_folds(int rank, const int *dims, int y_rank, const int *y_dims)
{
    bool all = true, one = true;
    for (int i = 0; y_rank > 4 && i < y_rank - 3; i++) {
        int own = i - (y_rank - rank), length = own >= 0 ? dims[own] : 1;
        all = all && length == y_dims[i];
        one = one && length == 1;
    }
    return all || one;
}

bool gpu_check_folds(const struct gpu_node_view *view, int input)
{
    const TfLiteIntArray *x = gpu_view_input(view, input)->dims, *y = gpu_view_output(view, 0)->dims;
    return gpu_folds(x->size, x->data, y->size, y->data) ||
           gpu_refuse(view, DELEGATE_RANK, input, "input %d stretches over some of the axes before the last three",
                      input);
}

// The planes of the slices of a batch follow each other in memory, and within a plane the positions are in order.
bool gpu_can_view(struct gpu_shape own, struct gpu_shape other)
{
    return own.c == other.c && (own.b == other.b || gpu_slices(own) == 1);
}

const struct gpu_value *gpu_plan_seen_as(struct gpu_plan *plan, const struct gpu_value *x, struct gpu_shape shape)
{
    if (gpu_can_view(x->shape, shape)) return x;
    struct gpu_value *copy = gpu_plan_scratch_like(plan, x, shape);
    return copy && gpu_plan_reshape(plan, x, copy, NULL) ? copy : NULL;
}

struct gpu_value *gpu_plan_target(struct gpu_plan *plan, struct gpu_value *y, struct gpu_shape shape)
{
    return gpu_can_view(y->shape, shape) ? y : gpu_plan_scratch_like(plan, y, shape);
}

bool gpu_plan_written_as(struct gpu_plan *plan, const struct gpu_value *target, const struct gpu_value *y,
                         const struct gpu_epilogue *epilogue)
{
    return target == y || gpu_plan_reshape(plan, target, y, epilogue);
}

bool gpu_plan_reshape(struct gpu_plan *plan, const struct gpu_value *x, const struct gpu_value *y,
                      const struct gpu_epilogue *epilogue)
{
    struct gpu_dispatch_desc desc = {
        .kernel = y->codes ? &gpu_kernel_reshape_codes : &gpu_kernel_reshape,
        .operands = {{.value = x}, {.value = y}},
        .constants = {{"WHOLE", x->shape.c == y->shape.c || (x->shape.c % 4 == 0 && y->shape.c % 4 == 0)}},
        .epilogue = epilogue,
    };
    gpu_grid_over(&desc, y->shape);
    if (y->shape.w * y->shape.h == 1) { // rows: neighboring work-items take neighboring channels and batches
        desc.group[0] = desc.group[1] = 1;
        desc.group[2] = 64;
    }
    return gpu_plan_dispatch(plan, &desc);
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[0], *y = node->outputs[0];
    if (node->epilogue.count == 0 && gpu_can_view(x->shape, y->shape) && gpu_plan_see(plan, y, x)) return true;
    return gpu_plan_reshape(plan, x, y, &node->epilogue);
}

static const struct gpu_kernel *const kernels[] = {&gpu_kernel_reshape, NULL};
// The new shape is that of the output tensor, which the second input has determined already.
#define SHAPED(symbol, text, version)                                                   \
    const struct gpu_op gpu_op_##symbol = {.name = text,                                \
                                           .max_version = version,                      \
                                           .operands = {.inputs = {1, 2},               \
                                                        .integer_inputs = GPU_INPUT(1), \
                                                        .any_rank = true},              \
                                           .plan = plan,                                \
                                           .epilogue = true,                            \
                                           .bytes = GPU_BYTES_MOVED,                    \
                                           .rank_blind = true,                          \
                                           .copies = gpu_always,                        \
                                           .kernels = kernels};
SHAPED(reshape, "RESHAPE", 1)
SHAPED(squeeze, "SQUEEZE", 2)
SHAPED(expand_dims, "EXPAND_DIMS", 1)
