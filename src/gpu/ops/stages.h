// SPDX-License-Identifier: Apache-2.0
// y = finish(x): a copy that applies the node's stages. gpu_op_stages (gpu/graph/op.h) is just this: the graph puts one
// behind a node that cannot take stages itself, such as a fused activation behind several outputs, or has no room for
// them. Operators that are a stage, or nothing but the stages behind them, are planned with it too.
#ifndef HALITE_GPU_OPS_STAGES_H
#define HALITE_GPU_OPS_STAGES_H

#include "gpu/ops/op.h"

bool gpu_plan_stages(struct gpu_plan *plan, const struct gpu_value *x, const struct gpu_value *y,
                     const struct gpu_epilogue *epilogue);
// gpu_op.plan of operators that are a copy with their own epilogue.
bool gpu_plan_copy(struct gpu_plan *plan, const struct gpu_node *node);

extern const struct gpu_kernel gpu_kernel_stages;

#endif
