// SPDX-License-Identifier: Apache-2.0
// Convolutions and products with constant weights as products of tiles: CONV_2D, DEPTHWISE_CONV_2D of one channel, and
// FULLY_CONNECTED as a convolution of 1x1 positions. In: shapes, tensors. Out: weights packed once for the CPU's level,
// and a run that reads the input's rows where they lie, copies it once as it is multiplied, or gathers the windows of a
// few output positions at a time.
#ifndef HALITE_FAST_CONVOLVE_H
#define HALITE_FAST_CONVOLVE_H

#include "ops/common/conv.h"

struct hl_convolve_node {
    const TfLiteTensor *input, *filter, *bias, *output; // filter and bias constant, no bias: NULL
    // the filter's dimensions are kh, kw, outputs, as a depthwise convolution of one channel has them
    bool outputs_last;
    int filter_zero;
    // Floats: the range of outputs.
    float low_f32, high_f32;
    // Hybrid: floats, and integer weights of these scales. Each batch is made int8; sums become floats by one scale
    // after the other (two_steps), or by their product.
    const float *filter_scales; // NULL: not hybrid
    int filter_scale_step;      // 1: one for each output channel, 0: one for all
    bool asymmetric, two_steps;
    // 8-bit integers: the range of outputs, and for each output channel one of these.
    int32_t low, high;
    const struct hl_rescale *rescales;
    const double *scales; // sums times scale are rounded half away from zero
};

// *state: a struct hl_convolve of *bytes bytes, or NULL (fast.h). float32, or int8 and uint8 with weights that hl_widen
// reads, or float32 with such weights.
// There is at least one output position, and one output channel.
TfLiteStatus hl_convolve_create(TfLiteContext *ctx, const TfLiteNode *node, const struct hl_conv_shape *shape,
                                const struct hl_convolve_node *what, void **state, size_t *bytes);
void hl_convolve_destroy(void *convolve);
void hl_convolve_run(TfLiteContext *ctx, const void *convolve, const void *x, void *y);

#endif
