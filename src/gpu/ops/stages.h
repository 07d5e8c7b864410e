// SPDX-License-Identifier: Apache-2.0
// y = finish(x): a copy that applies a node's stages. gpu_op_stages (gpu/graph/op.h) is this alone. The graph puts one
// after a node that cannot have stages itself, for example a fused activation of several outputs, or that has no room
// for more. Operators that are one stage are planned with it as well.
#ifndef HALITE_GPU_OPS_STAGES_H
#define HALITE_GPU_OPS_STAGES_H

#include "gpu/ops/op.h"
#include "gpu/plan/kernels.h"

// An input of the graph that it alone reads is copied from the caller's memory.
bool gpu_plan_stages(struct gpu_plan *plan, const struct gpu_value *x, const struct gpu_value *y,
                     const struct gpu_epilogue *epilogue);
// Plans an operator that is one stage and did not become one of its producer's. Its own stage comes before those that
// were fused into it. If these already fill the epilogue, a copy applies its own stage first.
bool gpu_plan_stage(struct gpu_plan *plan, const struct gpu_node *node, const struct gpu_epilogue *own);
// gpu_op.plan of operators that are a copy with an epilogue.
bool gpu_plan_copy(struct gpu_plan *plan, const struct gpu_node *node);

extern const struct gpu_kernel gpu_kernel_stages;
#define GPU_STAGES_KERNELS &gpu_kernel_stages, &gpu_kernel_from_dense, &gpu_kernel_from_bytes

#endif
