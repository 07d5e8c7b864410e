// SPDX-License-Identifier: Apache-2.0
// What the processor has to know of a tensor of the runtime: its shape in four dimensions, and the range of real
// numbers that its 8 or 32 bits can say.
#ifndef HALITE_DELEGATES_HEXAGON_TENSOR_H
#define HALITE_DELEGATES_HEXAGON_TENSOR_H

#include "tensorflow/lite/c/builtin_op_data.h"
#include "tensorflow/lite/c/common.h"

struct hexagon_shape {
    unsigned dims[4]; // batches, height, width, depth
};
struct hexagon_range {
    float min, max;
};

struct hexagon_shape hexagon_shape_of(const TfLiteTensor *tensor);
struct hexagon_range hexagon_range_of(const TfLiteTensor *tensor);
// Whether the ends differ by no more than a tenth of a step, which is below what rounding does.
bool hexagon_is_near(struct hexagon_range a, struct hexagon_range b);
// The range of a result after a fused activation.
struct hexagon_range hexagon_activated(struct hexagon_range range, TfLiteFusedActivation activation);
// The number of a tensor's axis among the four dimensions. Negative ones count from the end.
int hexagon_axis(int axis, int rank);

#endif
