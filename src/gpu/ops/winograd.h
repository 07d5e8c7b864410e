// SPDX-License-Identifier: Apache-2.0
// 3x3 convolutions by Winograd's algorithm F(4x4, 3x3), which takes 36 products for 16 outputs of a channel instead of
// 144. In: a convolution that gpu_convolve was asked for. Out: whether this takes less time, and its three dispatches.
#ifndef HALITE_GPU_OPS_WINOGRAD_H
#define HALITE_GPU_OPS_WINOGRAD_H

#include "gpu/ops/convolve.h"

// Returns whether `conv` can be computed in this way, is exact enough, and takes less time than the direct convolution
// of this size.
bool gpu_winograd_pays(const struct gpu_plan *plan, const struct gpu_convolution *conv,
                       const struct gpu_conv_size *direct);
bool gpu_plan_winograd(struct gpu_plan *plan, const struct gpu_convolution *conv);

#endif
