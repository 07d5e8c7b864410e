// SPDX-License-Identifier: Apache-2.0
// See stages.h. The kernel copies x and applies the epilogue: y = finish(x).
#include "gpu/ops/stages.h"

const struct gpu_kernel gpu_kernel_stages = {
    .name = "stages",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    .epilogue = true,
    // clang-format off
    .body = GPU_TEXT(
        int4 p = position();
        if (outside_y(p)) return;
        write_y(p, finish(read_x(p), p));
    ),
    // clang-format on
};
bool gpu_plan_stages(struct gpu_plan *plan, const struct gpu_value *x, const struct gpu_value *y,
                     const struct gpu_epilogue *epilogue)
{
    if (gpu_plan_may_read_dense(plan, x) && gpu_same_shape(x->shape, y->shape))
        return gpu_plan_read_dense(plan, x, y, epilogue);
    struct gpu_dispatch_desc desc = {
        .kernel = &gpu_kernel_stages,
        .operands = {{.value = x}, {.value = y}},
        .epilogue = epilogue,
    };
    gpu_grid_over(&desc, y->shape);
    return gpu_plan_dispatch(plan, &desc);
}

bool gpu_plan_stage(struct gpu_plan *plan, const struct gpu_node *node, const struct gpu_epilogue *own)
{
    const struct gpu_value *x = node->inputs[0];
    struct gpu_epilogue all = *own;
    if (node->epilogue.count == GPU_EPILOGUE_STAGES) {
        const struct gpu_value *between = gpu_plan_scratch(plan, x->shape);
        if (!between || !gpu_plan_stages(plan, x, between, &all)) return false;
        return gpu_plan_stages(plan, between, node->outputs[0], &node->epilogue);
    }
    for (int i = 0; i < node->epilogue.count; i++) all.stages[all.count++] = node->epilogue.stages[i];
    all.residual = node->epilogue.residual;
    all.residual_slices = node->epilogue.residual_slices;
    return gpu_plan_stages(plan, x, node->outputs[0], &all);
}

bool gpu_plan_copy(struct gpu_plan *plan, const struct gpu_node *node)
{
    return gpu_plan_stages(plan, node->inputs[0], node->outputs[0], &node->epilogue);
}

const struct gpu_op gpu_op_stages = {
    .name = "STAGES",
    .max_version = 1,
    .operands = {.inputs = {1}, .any_rank = true},
    .supported = gpu_check_same_dims,
    .plan = gpu_plan_copy,
    .epilogue = true,
    .rank_blind = true,
    GPU_KERNELS(GPU_STAGES_KERNELS),
};
