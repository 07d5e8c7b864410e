// SPDX-License-Identifier: Apache-2.0
// See tensor.h.
#include "delegates/hexagon/tensor.h"

#include <math.h>

#include "abi/tensor.h"

struct hexagon_shape hexagon_shape_of(const TfLiteTensor *tensor)
{
    struct hexagon_shape shape = {{1, 1, 1, 1}};
    int rank = hl_rank(tensor);
    for (int i = 0; i < rank && rank <= 4; i++) shape.dims[4 - rank + i] = (unsigned)hl_dim(tensor, i);
    return shape;
}

int hexagon_axis(int axis, int rank)
{
    return axis < 0 ? axis + 4 : axis + 4 - rank;
}

struct hexagon_range hexagon_range_of(const TfLiteTensor *tensor)
{
    float scale = tensor->params.scale;
    int64_t zero = tensor->params.zero_point, low, high;
    switch (tensor->type) {
    case kTfLiteInt8: low = INT8_MIN, high = INT8_MAX; break;
    case kTfLiteUInt8: low = 0, high = UINT8_MAX; break;
    default: low = INT32_MIN, high = INT32_MAX;
    }
    return (struct hexagon_range){scale * (float)(low - zero), scale * (float)(high - zero)};
}

bool hexagon_is_near(struct hexagon_range a, struct hexagon_range b)
{
    float tolerance = (b.max - b.min) / 255 / 10;
    return fabsf(a.min - b.min) <= tolerance && fabsf(a.max - b.max) <= tolerance;
}

struct hexagon_range hexagon_activated(struct hexagon_range range, TfLiteFusedActivation activation)
{
    float low = activation == kTfLiteActReluN1To1 ? -1.0f : activation == kTfLiteActNone ? range.min : 0.0f;
    float high = activation == kTfLiteActReluN1To1 ? 1.0f : activation == kTfLiteActRelu6 ? 6.0f : range.max;
    return (struct hexagon_range){fmaxf(range.min, low), fminf(range.max, high)};
}
