// SPDX-License-Identifier: Apache-2.0
// Weights and biases of convolutions and matrix products, as the processor reads them. In: constants of the model. Out:
// uint8 weights with one range and, where the model has scales by channel, a factor for each channel; int32 biases with
// a range.
#ifndef HALITE_DELEGATES_HEXAGON_WEIGHTS_H
#define HALITE_DELEGATES_HEXAGON_WEIGHTS_H

#include "delegates/hexagon/op.h"

// Whether the weights are constants of the data's type, with one scale or one for each channel of this axis.
bool hexagon_check_weights(const struct delegate_view *view, int data, int weights, int axis);
// Whether the bias is left out, or a constant of int32.
bool hexagon_check_bias(const struct delegate_view *view, int bias);

// How the weights of an operation lie. Channels [first, first + count) of the axis are used.
struct hexagon_weights {
    int data, weights, bias; // tensors; bias -1: none
    int axis;                // of the channels in the weights
    int first, count;
    const int *order; // of the weights' four axes, as the operation wants them; NULL: as they are
    struct hexagon_shape shape;
};

// The weights themselves, in that order and shape.
void hexagon_add_weights(struct hexagon_graph *graph, const struct hexagon_weights *weights);
void hexagon_add_weights_range(struct hexagon_graph *graph, const struct hexagon_weights *weights);
// The bias, zeros where there is none, and its range.
hexagon_nn_input hexagon_bias(struct hexagon_graph *graph, const struct hexagon_weights *weights,
                              struct hexagon_range *range);
// The factors of the channels, where there are scales by channel; else nothing.
void hexagon_add_channel_factors(struct hexagon_graph *graph, const struct hexagon_weights *weights);

#endif
