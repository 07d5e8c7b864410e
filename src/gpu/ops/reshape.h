// SPDX-License-Identifier: Apache-2.0
// RESHAPE, and its helpers for operators whose kernels compute the right elements in another shape. Where the slices in
// memory are the same in both shapes, a view of the value is enough.
#ifndef HALITE_GPU_OPS_RESHAPE_H
#define HALITE_GPU_OPS_RESHAPE_H

#include "gpu/ops/op.h"

extern const struct gpu_kernel gpu_kernel_reshape, gpu_kernel_reshape_codes; // of floats, of codes
bool gpu_plan_reshape(struct gpu_plan *plan, const struct gpu_value *x, const struct gpu_value *y,
                      const struct gpu_epilogue *epilogue);

// Returns whether a value's memory is the same in another shape of the same number of elements.
bool gpu_can_view(struct gpu_shape own, struct gpu_shape other);
// Returns the value to read for the elements of x in another shape: x itself, to be seen in that shape, or a reshaped
// copy.
const struct gpu_value *gpu_plan_seen_as(struct gpu_plan *plan, const struct gpu_value *x, struct gpu_shape shape);
// Returns the value to write for a kernel that computes y's elements in another shape: y itself, or a scratch value.
// The kernel gets no epilogue then; gpu_plan_written_as, which is called next, applies it.
struct gpu_value *gpu_plan_target(struct gpu_plan *plan, struct gpu_value *y, struct gpu_shape shape);
bool gpu_plan_written_as(struct gpu_plan *plan, const struct gpu_value *target, const struct gpu_value *y,
                         const struct gpu_epilogue *epilogue);

// For an operand that is broadcast to an output of rank above 4: returns whether it has all of the axes that become b,
// or none of them. gpu_check_folds refuses other operands.
bool gpu_folds(int rank, const int *dims, int y_rank, const int *y_dims);
bool gpu_check_folds(const struct gpu_node_view *view, int input);

#endif
