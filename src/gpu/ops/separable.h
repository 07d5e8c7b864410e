// SPDX-License-Identifier: Apache-2.0
// A depthwise convolution and the 1x1 convolution that alone reads it, in one dispatch: a work-group computes the
// depthwise part of its positions into shared memory, and its output channels from there. In: the node of the 1x1
// convolution. Out: whether the two are fused on this device, and the dispatch.
#ifndef HALITE_GPU_OPS_SEPARABLE_H
#define HALITE_GPU_OPS_SEPARABLE_H

#include "gpu/ops/convolve.h"

// The fields of a depthwise convolution's dispatches, on which both forms agree.
struct gpu_depthwise {
    const struct gpu_value *x, *y, *weights, *bias; // bias: NULL means zeros
    int kernel_w, kernel_h, stride_w, stride_h, dilation_w, dilation_h;
    int pad_left, pad_top;
};
struct gpu_depthwise gpu_depthwise_of(const struct gpu_node *node);
// Writes constant weights as the depthwise kernels read them: for each slice the bias, and then a vector for each tap.
// apart: vectors from one slice to the next, at least as many as that.
void gpu_depthwise_pack(const struct gpu_depthwise *depthwise, int apart, float *to);

// The stage between the two convolutions.
struct gpu_between {
    enum gpu_epilogue_op op;
    float a, b;
    const float *numbers; // r of the stage, for each channel; NULL: none
};
struct gpu_between gpu_between_of(const struct gpu_node *depthwise);
// The vectors of the depthwise weights for a slice: bias, taps, and numbers where there are any.
int gpu_between_vectors(const struct gpu_between *between, const struct gpu_depthwise *depthwise);
// Packs them in groups of `together` slices: the biases of all slices of a group, then their first taps, and so on. to:
// zeroed, 32 bits an element, with room for whole groups. False without memory.
bool gpu_between_pack(const struct gpu_between *between, const struct gpu_depthwise *depthwise, size_t together,
                      void *to);

// Returns the 1x1 convolution that a depthwise convolution is fused into, or NULL: there is none, or it would take more
// time. The depthwise node then needs no dispatch. All calls for the same plan give the same answer.
const struct gpu_node *gpu_separable_reader(struct gpu_plan *plan, const struct gpu_node *depthwise);
// Returns the depthwise convolution that is fused into this convolution, or NULL.
const struct gpu_node *gpu_separable_producer(struct gpu_plan *plan, const struct gpu_node *pointwise);
// Adds the dispatch of both. It applies the epilogues of both.
bool gpu_plan_separable(struct gpu_plan *plan, const struct gpu_node *depthwise,
                        const struct gpu_convolution *pointwise);

// What the time of both together depends on.
struct gpu_separable_size {
    int64_t positions;         // of all batches of the output
    int width, height, images; // which these are
    int inputs, slices;        // slices of the depthwise convolution, and of the output
    int taps, rows;            // of the window
    int stride_w, stride_h;
};
// The same with products on matrix units (separable_matrix.c). The cycles of a compute unit; INT64_MAX: not here.
// pointwise: NULL where its weights are not known yet.
int64_t gpu_separable_matrix_cycles(const struct gpu_plan *plan, const struct gpu_depthwise *depthwise,
                                    const struct gpu_convolution *pointwise, const struct gpu_separable_size *size);
bool gpu_plan_separable_matrix(struct gpu_plan *plan, const struct gpu_node *node,
                               const struct gpu_depthwise *depthwise, const struct gpu_convolution *pointwise,
                               const struct gpu_separable_size *size);
// The same by fragments (separable_cooperative.c). form: of products with what the depthwise convolution makes; -1:
// there is none.
int64_t gpu_separable_cooperative_cycles(const struct gpu_plan *plan, const struct gpu_depthwise *depthwise, int form,
                                         const struct gpu_separable_size *size);
bool gpu_plan_separable_cooperative(struct gpu_plan *plan, const struct gpu_node *node,
                                    const struct gpu_depthwise *depthwise, const struct gpu_convolution *pointwise,
                                    int form, const struct gpu_separable_size *size);

extern const struct gpu_kernel gpu_kernel_separable, gpu_kernel_separable_matrix, gpu_kernel_separable_cooperative,
    gpu_kernel_separable_fragments;
// The kernels of gpu_plan_separable, for gpu_op.kernels.
#define GPU_SEPARABLE_KERNELS                                                               \
    &gpu_kernel_separable, &gpu_kernel_separable_matrix, &gpu_kernel_separable_cooperative, \
        &gpu_kernel_separable_fragments

#endif
