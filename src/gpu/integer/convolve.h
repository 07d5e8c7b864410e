// SPDX-License-Identifier: Apache-2.0
// Sums of products of codes: CONV_2D and FULLY_CONNECTED. In: what to sum, as data, with the weights in the model's
// order. Out: one dispatch, with weights packed four to an int.
#ifndef HALITE_GPU_INTEGER_CONVOLVE_H
#define HALITE_GPU_INTEGER_CONVOLVE_H

#include "gpu/integer/integer.h"
#include "gpu/ops/convolve.h"

struct gpu_integer_sum {
    const struct gpu_value *x, *y, *weights, *bias; // bias: NULL for zeros
    struct gpu_shape x_view, y_view;                // the shapes in which they are seen
    int inputs, groups;                             // input channels of a group
    int kernel_w, kernel_h, stride_w, stride_h, dilation_w, dilation_h, pad_left, pad_top;
    // The weight of an output, a tap and an input channel of the group is
    // weights[output * by_output + ty * by_h + tx * by_w + input].
    int64_t by_output, by_h, by_w;
    TfLiteFusedActivation activation;
    bool wide; // sums are multiplied by a double, as FULLY_CONNECTED does it, and not in fixed point
};
bool gpu_integer_convolve(struct gpu_plan *plan, const struct gpu_integer_sum *sum);
// The multiplier of an output channel. In float first for uint8, as on the CPU, unless it is `wide`.
double gpu_integer_scale(const struct gpu_value *x, const struct gpu_value *weights, const struct gpu_value *y,
                         int channel, bool wide);

// [0]: in plain code; [1]: with the device's instruction for dot_bytes.
extern const struct gpu_kernel gpu_kernels_sum_codes[2], gpu_kernels_sum_codes_split[2];
#define GPU_INTEGER_CONVOLVE_KERNELS                                                       \
    &gpu_kernels_sum_codes[0], &gpu_kernels_sum_codes[1], &gpu_kernels_sum_codes_split[0], \
        &gpu_kernels_sum_codes_split[1]

#endif
