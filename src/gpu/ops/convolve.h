// SPDX-License-Identifier: Apache-2.0
// The kernel of CONV_2D, TRANSPOSE_CONV, FULLY_CONNECTED and products with constant matrices: sums over taps and input
// channels, computed in blocks of positions and output slices. In: what to sum, as data, and the weights in the model's
// order. Out: one dispatch with a block that fits its shape, and the weights in the order in which work-groups read
// them.
#ifndef HALITE_GPU_OPS_CONVOLVE_H
#define HALITE_GPU_OPS_CONVOLVE_H

#include "gpu/ops/op.h"

struct gpu_convolution {
    const struct gpu_value *x, *y;
    int inputs, outputs;    // channels of one group's input, and of the whole output
    int groups;             // 0 means one
    int kernel_w, kernel_h; // taps; if either is 0 the output is the bias
    int stride_w, stride_h; // steps in x between neighboring positions
    int dilation_w, dilation_h;
    int pad_left, pad_top; // zeros before x; after it there are as many as the positions need
    bool mirrors;          // x is reflected at its borders instead (REFLECT of MIRROR_PAD)
    // The positions that are computed: grid_w x grid_h in each batch, at (offset + spread * position) in y. With a grid
    // of 0 they are all positions of y; else others of the node compute the rest, in any order.
    int grid_w, grid_h, spread_w, spread_h, offset_x, offset_y;
    bool rows;  // position number n, counted over batches and grid, is batch n of y
    int images; // how many images the positions are of; 0 means x.b
    bool inner; // a part of another algorithm: no epilogue, and weights are floats in every precision
    // The weight of an output, a tap and an input channel of the group is
    // weights[output * by_output + ty * by_h + tx * by_w + input * by_input].
    const float *weights;
    int64_t by_output, by_h, by_w, by_input;
    const float *bias; // NULL means zeros
    // If weights or bias are computed while running, both are given as values instead. The weights begin at element
    // `first` of theirs.
    const struct gpu_value *weights_value, *bias_value;
    int64_t first;
};

// Whether it computes each position of y, in order.
static inline bool gpu_conv_is_whole(const struct gpu_convolution *conv)
{
    return conv->grid_w == 0 && !conv->rows && conv->spread_w <= 1 && conv->spread_h <= 1 && !conv->offset_x &&
           !conv->offset_y;
}

// Sets the weights, which begin at element `first`, and the bias (NULL means zeros). Each may be a constant or not.
void gpu_set_weights(struct gpu_convolution *conv, const struct gpu_value *weights, const struct gpu_value *bias,
                     int64_t first);
// Packs weights and bias that are computed while running. The result has streams of rows; a row is `tile` vectors of
// four outputs. A stream begins with the bias and goes on with `rows_per_tap` rows for each tap, one for each input
// channel. Without groups only.
const struct gpu_value *gpu_plan_packed(struct gpu_plan *plan, const struct gpu_convolution *conv, int tile,
                                        int rows_per_tap, int streams);
extern const struct gpu_kernel gpu_kernel_pack;

// For gpu_op.supported: checks that strides and dilations are positive, that the window's extent (kernel * dilation)
// fits in 30 bits, and that the padding is a known one.
struct gpu_window {
    int kernel_w, kernel_h, stride_w, stride_h, dilation_w, dilation_h;
    TfLitePadding padding;
};
bool gpu_check_window(const struct gpu_node_view *view, const struct gpu_window *window);
// Checks that a bias, if there is one, has an element for each output, and that a bias of integers has a scale of the
// weights for each (gpu_bias_from).
bool gpu_check_bias(const struct gpu_node_view *view, int weights, int bias, int outputs);
// Checks that gpu_convolve can count the weights of so many outputs, taps and input channels of a group.
bool gpu_check_weights(const struct gpu_node_view *view, int input, int64_t outputs, int64_t taps, int64_t inputs);

// The fields of a 1x1 convolution.
#define GPU_ONE_POSITION .kernel_w = 1, .kernel_h = 1, .stride_w = 1, .stride_h = 1, .dilation_w = 1, .dilation_h = 1

// The fields that TfLiteConvParams and TfLiteDepthwiseConvParams both give.
// clang-format off
#define GPU_STRIDES_OF(params) \
    .stride_w = (params)->stride_width, .stride_h = (params)->stride_height, \
    .dilation_w = (params)->dilation_width_factor, .dilation_h = (params)->dilation_height_factor
// clang-format on

// Adds the dispatches of a convolution, by Winograd's algorithm where that takes less time. It applies the epilogue of
// plan->node if that is not NULL.
bool gpu_convolve(struct gpu_plan *plan, const struct gpu_convolution *conv);

// How many positions and output slices one work-item computes. A work-group has work-items in x over positions, in y
// over output slices, and in z over the terms of the sum.
struct gpu_conv_block {
    int positions, slices;
    int depth; // how many terms a work-item loads before it sums them
    int group[3];
};
struct gpu_conv_size {
    int64_t positions; // of all batches
    int slices;        // output slices
    int terms;         // taps times input slices
    int run;           // terms of one tap that follow each other and may be divided along z; 0 if none may
    int alike;         // consecutive output slices that sum the same input, as a work-group's must; 0 if all do
};
// Returns the block that takes the least time by a cost model. `made` are the blocks that the plan has programs for;
// they need no new program. The function has no effects.
struct gpu_conv_block gpu_choose_block(const struct gpu_caps *caps, const struct gpu_conv_size *size,
                                       const struct gpu_conv_block *made, int made_count);

// Returns the device's compute units, or a guess where they are not known; and the cycles of one compute unit that a
// convolution takes with its best block.
int gpu_conv_units(const struct gpu_caps *caps);
// Returns the cycles that a second dispatch costs besides its work.
int64_t gpu_step_cycles(const struct gpu_caps *caps);
int64_t gpu_conv_cycles(const struct gpu_caps *caps, const struct gpu_conv_size *size);

// The weights of a convolution without groups, whose weights are constants, as gpu_kernel_convolve reads them: the
// vectors of one stream of `tile` output slices, and all of the streams.
int64_t gpu_conv_stream_vectors(const struct gpu_convolution *conv, int tile);
void gpu_conv_pack(const struct gpu_convolution *conv, int tile, float *to);

extern const struct gpu_kernel gpu_kernel_convolve, gpu_kernel_convolve_dense, gpu_kernel_winograd_in,
    gpu_kernel_winograd_out, gpu_kernel_matrix, gpu_kernel_matrix_shared, gpu_kernel_matrix_window,
    gpu_kernel_cooperative, gpu_kernel_fragments, gpu_kernel_cooperative_window, gpu_kernel_fragments_window;
// The kernels of gpu_convolve and gpu_plan_packed, for gpu_op.kernels.
#define GPU_CONVOLVE_KERNELS                                                                                \
    &gpu_kernel_convolve, &gpu_kernel_convolve_dense, &gpu_kernel_pack, &gpu_kernel_winograd_in,            \
        &gpu_kernel_winograd_out, &gpu_kernel_matrix, &gpu_kernel_matrix_shared, &gpu_kernel_matrix_window, \
        &gpu_kernel_cooperative, &gpu_kernel_fragments, &gpu_kernel_cooperative_window, &gpu_kernel_fragments_window

// SAME and VALID: zeros in front, for this many positions.
static inline int gpu_pad_before(TfLitePadding padding, int in, int out, int kernel, int stride, int dilation)
{
    int needed = (out - 1) * stride + (kernel - 1) * dilation + 1 - in;
    return padding == kTfLitePaddingSame && needed > 0 ? needed / 2 : 0;
}
static inline int gpu_positions_along(TfLitePadding padding, int in, int kernel, int stride, int dilation)
{
    int covered = padding == kTfLitePaddingSame ? 1 : (kernel - 1) * dilation + 1;
    return in < covered ? 0 : (in - covered) / stride + 1;
}

#endif
