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
enum { GPU_WINDOW_OWN = 5 };                           // constants of a kernel beside those that both have

// How many columns of taps a step has among its 16 channels: one, or as many as fill them where x has one slice, or
// two. And how many it has among its outputs: one, or all where y has one slice and x has more. These are sums of their
// own, of the positions of x, which are added up in the end, each a column further.
int gpu_window_columns(const struct gpu_convolution *conv);
int gpu_window_spread(const struct gpu_convolution *conv);
// Slices of sums, and so of what they begin with, the bias.
int gpu_window_slices(const struct gpu_convolution *conv);

// What follows from a block, whose `positions` are rows of a tile for each subgroup, and `outputs` tiles of 16 outputs;
// of the subgroups `across` stand beside each other along outputs, and `along` below each other.
struct gpu_window_size {
    int subgroups;
    int columns, spread; // of taps in a step
    int steps_w, taps;   // steps of a row of taps, and of a chunk
    int tile_step;       // vectors of the patch from a tile of a subgroup to its next one
    int patch_w,
        patch_h;    // what a group brings of an input slice; w is a multiple of the stride, whose columns lie apart
    int64_t chunks; // of input slices
    int64_t groups; // of the first batch
};

// The dispatch of a block.
struct gpu_window_launch {
    const struct gpu_kernel *kernel;
    struct gpu_setting own[GPU_WINDOW_OWN]; // constants that the other kernel has not, or gives another value
    struct gpu_matrix_block packed;         // the block whose order the weights have
    int weights_at;                         // where they are put in shared memory, if anywhere
};

// One of the kernels: params are sum (chunks, where the streams begin in the weights, weights_at) and step (padding).
struct gpu_window_way {
    const char *name; // of measured blocks
    enum gpu_matrix_order order;
    // The cycles that a block takes, whose groups the device can have; INT64_MAX: their registers or memory do not fit.
    int64_t (*cycles)(const struct gpu_caps *caps, int form, const struct gpu_matrix_block *block,
                      const struct gpu_window_size *size);
    // Returns the launch of a block that fits.
    struct gpu_window_launch (*launch)(const struct gpu_caps *caps, int form, const struct gpu_matrix_block *block,
                                       const struct gpu_window_size *size);
};
extern const struct gpu_window_way gpu_window_matrix, gpu_window_cooperative;

#endif
