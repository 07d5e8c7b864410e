// SPDX-License-Identifier: Apache-2.0
// Convolutions on cooperative matrices whose taps read a patch of x in shared memory, for matrix_window.c, which knows
// which convolutions these are. In: one of them. Out: what it takes, and the dispatch.
#ifndef HALITE_GPU_OPS_COOPERATIVE_WINDOW_H
#define HALITE_GPU_OPS_COOPERATIVE_WINDOW_H

#include "gpu/ops/matrix_window.h"

// The cycles of a compute unit that the fastest block takes; INT64_MAX: there is none.
int64_t gpu_cooperative_window_cycles(const struct gpu_caps *caps, const struct gpu_convolution *conv, int form);
bool gpu_plan_cooperative_window(struct gpu_plan *plan, const struct gpu_convolution *conv, int form, bool guarded);

#endif
