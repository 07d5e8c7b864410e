// SPDX-License-Identifier: Apache-2.0
// QUANTIZE and DEQUANTIZE. Values are floats on the GPU, and a value whose tensor is stored in 8 bits is rounded by the
// stages that graph/quantize.c puts behind its producer. So both are copies; QUANTIZE hands its rounding to whoever
// made its input.
#include "gpu/ops/stages.h"

static bool supported(const struct gpu_node_view *view)
{
    if (!gpu_op_stages.supported(view)) return false;
    return !gpu_is_constant(gpu_view_input(view, 0)) ||
           gpu_refuse(view, GPU_REASON_CONSTANT, 0, "the input is a constant");
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    return gpu_op_stages.plan(plan, node);
}

// No stage of its own: only those behind it move.
static bool as_stage(const struct gpu_node *node, struct gpu_epilogue *stage)
{
    stage->count = 0;
    return node->epilogue.count > 0;
}

// The kernel is that of gpu_op_stages.
const struct gpu_op gpu_op_quantize = {
    .name = "QUANTIZE",
    .max_version = 6,
    .supported = supported,
    .plan = plan,
    .epilogue = true,
    .as_stage = as_stage,
};
const struct gpu_op gpu_op_dequantize = {
    .name = "DEQUANTIZE",
    .max_version = 9,
    .supported = supported,
    .plan = plan,
    .epilogue = true,
    .as_stage = as_stage,
};
