// SPDX-License-Identifier: Apache-2.0
// The reshape of RESHAPE, for operators whose kernels give the right elements under another shape.
#ifndef HALITE_GPU_OPS_RESHAPE_H
#define HALITE_GPU_OPS_RESHAPE_H

#include "gpu/ops/op.h"

extern const struct gpu_kernel gpu_kernel_reshape;
bool gpu_plan_reshape(struct gpu_plan *plan, const struct gpu_value *x, const struct gpu_value *y,
                      const struct gpu_epilogue *epilogue);

#endif
