// SPDX-License-Identifier: Apache-2.0
// 3x3 convolutions by Winograd's algorithm F(4x4, 3x3), which takes 36 products for 16 outputs of a channel instead of
// 144. In: a convolution that gpu_convolve was asked for. Out: whether this takes less time, and its three dispatches.
#ifndef HALITE_GPU_OPS_WINOGRAD_H
#define HALITE_GPU_OPS_WINOGRAD_H

#include "gpu/ops/convolve.h"

// Returns the cycles of a compute unit that `conv` takes in this way; INT64_MAX: it cannot be computed so, or not
// exactly enough.
int64_t gpu_winograd_cycles(const struct gpu_plan *plan, const struct gpu_convolution *conv);
bool gpu_plan_winograd(struct gpu_plan *plan, const struct gpu_convolution *conv);

#endif
