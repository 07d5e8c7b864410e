// SPDX-License-Identifier: Apache-2.0
// The reshape of RESHAPE, for operators whose kernels give the right elements under another shape. Where slices lie
// right in memory as they are, a view of the same value does.
#ifndef HALITE_GPU_OPS_RESHAPE_H
#define HALITE_GPU_OPS_RESHAPE_H

#include "gpu/ops/op.h"

extern const struct gpu_kernel gpu_kernel_reshape;
bool gpu_plan_reshape(struct gpu_plan *plan, const struct gpu_value *x, const struct gpu_value *y,
                      const struct gpu_epilogue *epilogue);

// Whether memory of a value in its own shape is right in another of as many elements, too.
bool gpu_can_view(struct gpu_shape own, struct gpu_shape other);
// What to read where the elements of x are wanted in another shape: x itself, to be seen under that shape, or a
// reshaped copy.
const struct gpu_value *gpu_plan_seen_as(struct gpu_plan *plan, const struct gpu_value *x, struct gpu_shape shape);
// What to write where a kernel makes y's elements in another shape: y itself, or a scratch value, to be given with y
// and the epilogue (NULL for the kernel itself, then) to gpu_plan_written_as.
struct gpu_value *gpu_plan_target(struct gpu_plan *plan, struct gpu_value *y, struct gpu_shape shape);
bool gpu_plan_written_as(struct gpu_plan *plan, const struct gpu_value *target, const struct gpu_value *y,
                         const struct gpu_epilogue *epilogue);

// Of an operand that broadcasts over an output of rank above 4: whether the axes that are one, b, are all there or all
// missing. As a check: they must be.
bool gpu_folds(int rank, const int *dims, int y_rank, const int *y_dims);
bool gpu_check_folds(const struct gpu_node_view *view, int input);

#endif
