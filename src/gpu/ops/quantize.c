// SPDX-License-Identifier: Apache-2.0
// QUANTIZE and DEQUANTIZE. Values are floats on the GPU. A value whose tensor is stored in 8 bits is rounded by the
// stages that graph/quantize.c adds to its producer, so that both operators are copies. QUANTIZE passes its rounding to
// the node that produces its input.
#include "gpu/ops/stages.h"

static bool supported(const struct gpu_node_view *view)
{
    if (!gpu_check_same_dims(view)) return false;
    return !hl_is_constant(gpu_view_input(view, 0)) ||
           gpu_refuse(view, DELEGATE_CONSTANT, 0, "the input is a constant");
}

// It has no stage of its own. Only the stages that were fused into it move.
static bool as_stage(const struct gpu_node *node, struct gpu_epilogue *stage)
{
    stage->count = 0;
    return node->epilogue.count > 0;
}

static const struct gpu_kernel *const kernels[] = {GPU_STAGES_KERNELS, NULL};
#define COPY(symbol, text, version)                                                                                  \
    const struct gpu_op gpu_op_##symbol = {.name = text,                                                             \
                                           .max_version = version,                                                   \
                                           .operands = {.inputs = {1}, .any_rank = true},                            \
                                           .supported = supported,                                                   \
                                           .plan = gpu_plan_copy,                                                    \
                                           .epilogue = true,                                                         \
                                           .as_stage = as_stage,                                                     \
                                           .bytes = GPU_BYTES_COMPUTED,                                              \
                                           .rank_blind = true,                                                       \
                                           .axes = GPU_AXES_NONE,                                                    \
                                           .copies = gpu_always, /* rounding, if there is any, is in the epilogue */ \
                                           .kernels = kernels};
COPY(quantize, "QUANTIZE", 6)
COPY(dequantize, "DEQUANTIZE", 9)
