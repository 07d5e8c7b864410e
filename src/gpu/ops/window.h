// SPDX-License-Identifier: Apache-2.0
// Convolutions on matrix units whose windows overlap: a work-group brings the part of x that its positions read into
// shared memory once, and all taps read it there. In: a convolution without groups and dilation, with equal strides of
// 1 or 2. Out: what it takes on a device, by one of two kernels, and the dispatch.
#ifndef HALITE_GPU_OPS_WINDOW_H
#define HALITE_GPU_OPS_WINDOW_H

#include "gpu/ops/matrix.h"

// The cycles of a compute unit that the fastest block takes; INT64_MAX: there is none, or the convolution is another.
// form: of gpu_matrix_form with a guard.
int64_t gpu_window_cycles(const struct gpu_plan *plan, const struct gpu_convolution *conv, int form);
bool gpu_plan_window(struct gpu_plan *plan, const struct gpu_convolution *conv, int form);

enum { GPU_WINDOW_TILE_W = 16, GPU_WINDOW_CHUNK = 4 }; // positions of a tile's row; input slices of a chunk

// What a work-group of so many rows brings of an input slice.
struct gpu_window_patch {
    int w, h;      // w: a multiple of the stride, whose columns lie apart by their place in a stride
    int64_t tiles; // of all images
};
struct gpu_window_patch gpu_window_patch_of(const struct gpu_convolution *conv, int rows);

// The dispatch of a block: `positions` rows of a tile and `outputs` tiles of 16 outputs for each subgroup, of which
// `across` stand beside each other and `along` below each other.
struct gpu_window_launch {
    const struct gpu_kernel *kernel;
    int values[GPU_KERNEL_CONSTANTS]; // of its own constants, in their order
    struct gpu_window_patch patch;
    struct gpu_matrix_block packed; // the block whose order the weights have
    int weights_at;                 // where they are put in shared memory, if anywhere
};

// One of the kernels: params are sum (chunks, where the streams begin in the weights, weights_at) and step (padding).
struct gpu_window_way {
    const char *name; // of measured blocks
    enum gpu_matrix_order order;
    // The cycles that a block takes; INT64_MAX: it does not fit the device.
    int64_t (*cycles)(const struct gpu_caps *caps, const struct gpu_convolution *conv, int form,
                      const struct gpu_matrix_block *block);
    // Fills in the launch of a block that fits. in: how x is read.
    void (*launch)(const struct gpu_caps *caps, const struct gpu_convolution *conv, int form, int in,
                   const struct gpu_matrix_block *block, struct gpu_window_launch *launch);
};
extern const struct gpu_window_way gpu_window_matrix, gpu_window_cooperative;

#endif
