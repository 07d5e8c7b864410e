// SPDX-License-Identifier: Apache-2.0
// The convolution that alone reads an input of few channels, from the caller's dense memory: no dispatch turns the
// input into a value first, nor applies the stages of an operator between the two. In: such a convolution. Out: what it
// takes, and the dispatch.
#ifndef HALITE_GPU_OPS_CONVOLVE_DENSE_H
#define HALITE_GPU_OPS_CONVOLVE_DENSE_H

#include "gpu/ops/convolve.h"

// The cycles of a compute unit that the fastest block takes, less those of the dispatch that it saves; INT64_MAX: the
// convolution is another.
int64_t gpu_dense_cycles(const struct gpu_plan *plan, const struct gpu_convolution *conv);
bool gpu_plan_dense(struct gpu_plan *plan, const struct gpu_convolution *conv);

#endif
