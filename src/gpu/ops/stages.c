// SPDX-License-Identifier: Apache-2.0
// y = finish(x): a copy with an epilogue. See stages.h.
#include "gpu/ops/stages.h"

static const struct gpu_kernel kernel = {
    .name = "stages",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    .epilogue = true,
    .body = GPU_TEXT(int4 p = position(); if (outside_y(p)) return; write_y(p, finish(read_x(p), p));),
};
static const struct gpu_kernel *const kernels[] = {&kernel, NULL};

static bool supported(const struct gpu_node_view *view)
{
    return gpu_check_common(view, 1, 1, 1, GPU_ANY_RANK) && gpu_check_same_dims(view);
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    struct gpu_dispatch_desc desc = {
        .kernel = &kernel,
        .operands = {{.value = node->inputs[0]}, {.value = node->outputs[0]}},
        .epilogue = &node->epilogue,
    };
    gpu_grid_over(&desc, node->outputs[0]->shape);
    return gpu_plan_dispatch(plan, &desc);
}

const struct gpu_op gpu_op_stages = {
    .name = "STAGES",
    .max_version = 1,
    .supported = supported,
    .plan = plan,
    .epilogue = true,
    .kernels = kernels,
};
