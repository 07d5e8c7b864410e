// SPDX-License-Identifier: Apache-2.0
// The one kernel behind CONV_2D, TRANSPOSE_CONV, FULLY_CONNECTED and products with constant matrices: sums over taps
// and input channels, for blocks of places and output slices. In: what to sum, as data, and the weights as the model
// has them. Out: one dispatch, its block chosen by shape, and the weights in the order in which its work-groups read
// them.
#ifndef HALITE_GPU_OPS_CONVOLVE_H
#define HALITE_GPU_OPS_CONVOLVE_H

#include "gpu/ops/op.h"

struct gpu_convolution {
    const struct gpu_value *x, *y;
    int inputs, outputs;    // channels of one group's input, and of the whole output
    int groups;             // 0: one
    int kernel_w, kernel_h; // taps; 0 of either: none, the output is the bias
    int stride_w, stride_h; // from place to place in x
    int dilation_w, dilation_h;
    int pad_left, pad_top; // zeros in front of x; behind it there are as many as the places need
    // Places: grid_w x grid_h per batch, which lie in y at (offset + spread * place). 0: all of y.
    int grid_w, grid_h, spread_w, spread_h, offset_x, offset_y;
    bool rows;  // place number n, over batch and grid, is batch n of y
    bool inner; // of other dispatches' work: no epilogue, weights in floats in every precision
    // Weight of (output, tap, input of the group): weights[output * by_output + ty * by_h + tx * by_w + input *
    // by_input].
    const float *weights;
    int64_t by_output, by_h, by_w, by_input;
    const float *bias; // NULL: zeros
    // In place of these two where one of them comes while running: both as values, the weights from element `first` on.
    const struct gpu_value *weights_value, *bias_value;
    int64_t first;
};

// Weights from element `first` on and a bias (NULL: zeros), each a constant or not.
void gpu_set_weights(struct gpu_convolution *conv, const struct gpu_value *weights, const struct gpu_value *bias,
                     int64_t first);
// Weights and bias that come while running, in streams of rows of `tile` vectors of four outputs: the bias, then for
// each tap `rows_per_tap` rows, of an input each (without groups).
const struct gpu_value *gpu_plan_packed(struct gpu_plan *plan, const struct gpu_convolution *conv, int tile,
                                        int rows_per_tap, int streams);
extern const struct gpu_kernel gpu_kernel_pack;

// Checks of options and constants that windows have in common, for `supported`: strides and dilations that are positive
// and whose window's extent (kernel * dilation) fits in 30 bits, a padding that there is.
struct gpu_window {
    int kernel_w, kernel_h, stride_w, stride_h, dilation_w, dilation_h;
    TfLitePadding padding;
};
bool gpu_check_window(const struct gpu_node_view *view, const struct gpu_window *window);
// A bias, where there is one: as many elements as outputs, and where it is stored as integers as many scales of the
// weights (gpu_bias_from).
bool gpu_check_bias(const struct gpu_node_view *view, int weights, int bias, int outputs);
// Whether gpu_convolve can count the weights of so many outputs, taps and input channels of a group.
bool gpu_check_weights(const struct gpu_node_view *view, int input, int64_t outputs, int64_t taps, int64_t inputs);

// The fields of one tap at every place.
#define GPU_ONE_POSITION .kernel_w = 1, .kernel_h = 1, .stride_w = 1, .stride_h = 1, .dilation_w = 1, .dilation_h = 1

// The epilogue is that of plan->node, unless it is NULL. Uses Winograd's algorithm where that is shorter.
bool gpu_convolve(struct gpu_plan *plan, const struct gpu_convolution *conv);

// How many places and output slices one work-item sums, and how a work-group is made: x over places, y over output
// slices, z over the terms of the sum.
struct gpu_conv_block {
    int places, slices;
    int depth; // terms that it loads before it sums any
    int group[3];
};
struct gpu_conv_size {
    int64_t places; // of all batches
    int slices;     // of the output
    int terms;      // taps times input slices
    int run;        // how many of them follow each other in one tap and may be dealt out along z; 0: none may
    int alike;      // so many output slices in a row sum the same input, and a work-group's must be such; 0: all do
};
// made: blocks of which the plan has programs already. Pure.
struct gpu_conv_block gpu_choose_block(const struct gpu_caps *caps, const struct gpu_conv_size *size,
                                       const struct gpu_conv_block *made, int made_count);

// Compute units as far as they are known, and cycles of one for a convolution, with the best block.
int gpu_conv_units(const struct gpu_caps *caps);
int64_t gpu_conv_cycles(const struct gpu_caps *caps, const struct gpu_conv_size *size);

extern const struct gpu_kernel gpu_kernel_convolve, gpu_kernel_winograd_in, gpu_kernel_winograd_out;
// Those that gpu_convolve and gpu_plan_packed use, for the lists of operators.
#define GPU_CONVOLVE_KERNELS &gpu_kernel_convolve, &gpu_kernel_pack, &gpu_kernel_winograd_in, &gpu_kernel_winograd_out

// SAME and VALID: zeros in front, for this many places.
static inline int gpu_pad_before(TfLitePadding padding, int in, int out, int kernel, int stride, int dilation)
{
    int needed = (out - 1) * stride + (kernel - 1) * dilation + 1 - in;
    return padding == kTfLitePaddingSame && needed > 0 ? needed / 2 : 0;
}
static inline int gpu_places_along(TfLitePadding padding, int in, int kernel, int stride, int dilation)
{
    int covered = padding == kTfLitePaddingSame ? 1 : (kernel - 1) * dilation + 1;
    return in < covered ? 0 : (in - covered) / stride + 1;
}

#endif
