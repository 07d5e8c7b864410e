// SPDX-License-Identifier: Apache-2.0
// Convolutions on matrix units where a language has them as cooperative matrices, whose numbers no invocation sees. In:
// what matrix.c has chosen and packed. Out: which blocks fit a device, what they take, and the dispatch. A device is
// used so after it has computed one product well.
#ifndef HALITE_GPU_OPS_COOPERATIVE_H
#define HALITE_GPU_OPS_COOPERATIVE_H

#include "gpu/ops/matrix.h"

// Cycles in which a quarter of a compute unit loads a fragment from shared memory, and from memory (45 to 70, as
// Zero-DCE's layers show on an H200 with 14 blocks): its rows of 32 bytes are read four bytes at a time.
enum { GPU_FRAGMENT_LOAD = 10, GPU_FRAGMENT_LOAD_FAR = 45 };

// positions of a block are those of a whole work-group here. Its subgroups have the same ones, and outputs of their
// own.
bool gpu_cooperative_fits(const struct gpu_matrix_block *block, const struct gpu_caps *caps,
                          const struct gpu_conv_size *size, int form);
// The cycles of a compute unit, of which the device has `units`.
int64_t gpu_cooperative_cycles(const struct gpu_matrix_block *block, int units, const struct gpu_conv_size *size,
                               int form);
// Adds the dispatch, with the weights and the block of `launch`.
bool gpu_plan_cooperative(struct gpu_plan *plan, const struct gpu_convolution *conv, const struct gpu_conv_size *size,
                          const struct gpu_matrix_places *places, int form, const struct gpu_matrix_launch *launch);
// The kernel of the dispatch, and the values of its own constants. out, in: see struct gpu_matrix_places.
const struct gpu_kernel *gpu_cooperative_kernel(const struct gpu_caps *caps);
void gpu_cooperative_constants(const struct gpu_matrix_block *block, int form, int out, int in, int *values);

// Lets a device that was just opened compute a small product in the form that plans of this precision prefer. If it
// cannot or the result is not within the form's bound, a message says so and the device has no fragments any more.
void gpu_cooperative_check(const struct gpu_backend *backend, struct gpu_device *device, enum gpu_precision precision,
                           const struct hl_reporter *reporter);

#endif
