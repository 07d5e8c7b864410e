// SPDX-License-Identifier: Apache-2.0
// Convolutions of 3x3 by Winograd's algorithm, F(4x4, 3x3): 36 products for 16 outputs of a channel in place of 144.
// In: a convolution that gpu_convolve was asked for. Out: whether this way is shorter, and if so its three dispatches.
#ifndef HALITE_GPU_OPS_WINOGRAD_H
#define HALITE_GPU_OPS_WINOGRAD_H

#include "gpu/ops/convolve.h"

// Whether `conv` can be done so, exactly enough, and sooner than as the convolution of this size that it is.
bool gpu_winograd_pays(const struct gpu_plan *plan, const struct gpu_convolution *conv,
                       const struct gpu_conv_size *direct);
bool gpu_plan_winograd(struct gpu_plan *plan, const struct gpu_convolution *conv);

#endif
