// SPDX-License-Identifier: Apache-2.0
// Convolutions on matrix units whose operands all go through dynamic shared memory. In: a convolution without groups,
// of numbers that are split in halves (MATRIX_SPLIT, MATRIX_NARROW), on a device with such memory. Out: what it takes
// there, and the dispatch.
#ifndef HALITE_GPU_OPS_MATRIX_SHARED_H
#define HALITE_GPU_OPS_MATRIX_SHARED_H

#include "gpu/ops/matrix.h"

// The cycles of a compute unit that the fastest block takes; INT64_MAX: there is none, or the form is another.
int64_t gpu_matrix_shared_cycles(const struct gpu_caps *caps, const struct gpu_conv_size *size, int form);
bool gpu_plan_matrix_shared(struct gpu_plan *plan, const struct gpu_convolution *conv, const struct gpu_conv_size *size,
                            const struct gpu_matrix_places *places, int form, bool guarded);

#endif
