// SPDX-License-Identifier: Apache-2.0
// Convolutions on matrix units. In: a convolution without groups whose weights are constants. Out: whether the device
// computes it in less time this way, and the dispatch, with the weights in the order in which the units take them.
#ifndef HALITE_GPU_OPS_MATRIX_H
#define HALITE_GPU_OPS_MATRIX_H

#include "gpu/ops/convolve.h"

// How many tiles of 16 positions, and of 16 outputs, a subgroup computes; how many steps of 16 input channels it loads
// before it multiplies them; and how many subgroups of a work-group stand side by side along outputs and along steps.
struct gpu_matrix_block {
    int positions, outputs, depth;
    int across, along;
};
enum { GPU_MATRIX_SUBGROUP = 32 }; // work-items of a subgroup
// What a work-item needs, what one of a group of `items` may take, so that the next kernel's group may start before
// this one ends, and how many such groups a compute unit then has room for.
int gpu_matrix_registers(const struct gpu_matrix_block *block, int form);
int gpu_matrix_most_registers(int items);
int gpu_matrix_resident(int items);
// How many numbers stand for each weight, and how many sums for each output: numbers that are split have their small
// products in a sum of their own.
int gpu_matrix_parts(int form);
int gpu_matrix_sums(int form);
// The cycles that a quarter of a compute unit takes for a step of a block.
int64_t gpu_matrix_step_cycles(const struct gpu_matrix_block *block, int form);

// Returns the form of products with x; -1: there is none. conv: NULL where the weights are not known yet. guards: the
// kernel may split numbers without bounds, for it computes from floats what halves do not hold (GUARDED).
int gpu_matrix_form(const struct gpu_plan *plan, const struct gpu_value *x, const struct gpu_convolution *conv,
                    bool guards);
// Whether all of these weights are halves, as those of float16 models and whole numbers are.
bool gpu_matrix_are_halves(const float *weights, int64_t count);
// Two numbers as halves in one integer, the first in its low bits.
int32_t gpu_matrix_half_pair(float low, float high);
// Returns whether numbers of x that are split in this form need a guard.
bool gpu_matrix_is_guarded(const struct gpu_value *x, int form);
// The weights of a convolution whose sums have so many steps: their vectors, and what these hold, in the order in which
// the units take it: steps of the list of all taps' slices, tap after tap; of four slices with all taps, and then the
// next four; or of both as fragments of cooperative.c.
enum gpu_matrix_order {
    GPU_MATRIX_BY_TAPS,
    GPU_MATRIX_BY_CHUNKS,
    GPU_MATRIX_FRAGMENTS,
    GPU_MATRIX_FRAGMENTS_BY_CHUNKS
};
int64_t gpu_matrix_vectors(const struct gpu_matrix_block *block, int form, int slices, int64_t steps);
void gpu_matrix_pack(const struct gpu_convolution *conv, int form, const struct gpu_matrix_block *block, int64_t steps,
                     enum gpu_matrix_order order, int32_t *to);
// The vectors of a dispatch's weights: the bias, and then those. NULL after a message.
struct gpu_weights *gpu_matrix_weights(struct gpu_plan *plan, const struct gpu_convolution *conv, int form,
                                       const struct gpu_matrix_block *block, int64_t steps,
                                       enum gpu_matrix_order order);

// What the fastest block takes, in cycles of a compute unit; INT64_MAX: no block fits the device, and *best stays as it
// is. form: enum gpu_matrix_form.
int64_t gpu_choose_matrix_block(const struct gpu_caps *caps, const struct gpu_conv_size *size, int form,
                                struct gpu_matrix_block *best);

// The places of a convolution's positions, from gpu_convolve.
struct gpu_matrix_places {
    int out, in;        // values of OUT and IN (convolve_text.h)
    int grid_w, grid_h; // positions of an image
    int step_w, step_h; // strides, or what is between positions of y
    int64_t positions;  // of all batches
};
// Returns the cycles of a compute unit that sums in this form take; INT64_MAX: the form is -1, or no block fits.
int64_t gpu_matrix_cycles(const struct gpu_plan *plan, const struct gpu_conv_size *size, int form);
// Returns whether a convolution can be computed in this way, where there is a form for it.
bool gpu_matrix_takes(const struct gpu_convolution *conv);
bool gpu_plan_matrix(struct gpu_plan *plan, const struct gpu_convolution *conv, const struct gpu_conv_size *size,
                     const struct gpu_matrix_places *places, int form);

// A dispatch of a kernel whose params are sum, step, space and grid, as those of matrix.c are.
struct gpu_matrix_launch {
    const struct gpu_kernel *kernel;
    const int *values; // of its own constants, in their order
    struct gpu_weights *weights;
    struct gpu_matrix_block block;
    int64_t steps; // of 16 input channels, with those that fill the last turn of a block
    int shared_at; // where weights are put in shared memory, of kernels that do so
    int tuned;     // of the dispatch
};
bool gpu_matrix_dispatch(struct gpu_plan *plan, const struct gpu_convolution *conv, const struct gpu_conv_size *size,
                         const struct gpu_matrix_places *places, const struct gpu_matrix_launch *launch);

#endif
