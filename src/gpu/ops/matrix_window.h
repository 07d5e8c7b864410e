// SPDX-License-Identifier: Apache-2.0
// Convolutions on matrix units whose windows overlap: a work-group brings the part of x that its positions read into
// shared memory once, and all taps read it there. In: a convolution without groups and dilation, with equal strides of
// 1 or 2, on a device with dynamic shared memory or cooperative matrices. Out: what it takes there, and the dispatch.
#ifndef HALITE_GPU_OPS_MATRIX_WINDOW_H
#define HALITE_GPU_OPS_MATRIX_WINDOW_H

#include "gpu/ops/matrix.h"

// The cycles of a compute unit that the fastest block takes; INT64_MAX: there is none, or the convolution is another.
// form: of gpu_matrix_form with a guard.
int64_t gpu_matrix_window_cycles(const struct gpu_plan *plan, const struct gpu_convolution *conv, int form);
bool gpu_plan_matrix_window(struct gpu_plan *plan, const struct gpu_convolution *conv, int form);

// Of the blocks that are ranked for a kernel the fastest, or one that was measured. in: how x is read. *tuned: for the
// dispatch.
const struct gpu_tuned_block *gpu_window_tuned(const struct gpu_plan *plan, const char *kernel,
                                               const struct gpu_convolution *conv, int form, int in,
                                               const struct gpu_ranking *ranking, int *tuned);

#endif
