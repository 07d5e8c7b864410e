// SPDX-License-Identifier: Apache-2.0
// Two dense layers of one position, and the mean over a plane in front of them if there is one, in one dispatch, as
// squeeze-and-excitation blocks and the heads of classifiers have them. Each layer is a convolution of one position or
// FULLY_CONNECTED. In: a node of the plan. Out: whether it is a part of such a pair on this device, and the dispatch.
#ifndef HALITE_GPU_OPS_DENSE_PAIR_H
#define HALITE_GPU_OPS_DENSE_PAIR_H

#include "gpu/ops/op.h"

// Returns whether another node's dispatch computes this node: it is a pair's mean or its first layer. All calls for the
// same plan give the same answer.
bool gpu_pair_takes(const struct gpu_plan *plan, const struct gpu_node *node);
// Returns whether the node is the second layer of a pair.
bool gpu_pair_ends(const struct gpu_plan *plan, const struct gpu_node *node);
// Adds the dispatch of the pair that the node ends.
bool gpu_plan_pair(struct gpu_plan *plan, const struct gpu_node *node);

extern const struct gpu_kernel gpu_kernel_dense_pair;

#endif
