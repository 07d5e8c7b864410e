// SPDX-License-Identifier: Apache-2.0
// What kernels ask of several shapes at once. That lengths match is the caller's word, checked in debug builds.
#ifndef TENSORFLOW_LITE_KERNELS_INTERNAL_TYPES_H_
#define TENSORFLOW_LITE_KERNELS_INTERNAL_TYPES_H_

#include "halite/cxx.h"

#include <algorithm>

#include "tensorflow/lite/kernels/internal/runtime_shape.h"

namespace tflite
{

// The length that all have at their axes.
inline int MatchingDim(const RuntimeShape &shape, int axis)
{
    return shape.Dims(axis);
}
template <typename... Rest>
int MatchingDim(const RuntimeShape &shape, int axis, const RuntimeShape &other, int other_axis, const Rest &...rest)
{
    TFLITE_DCHECK_EQ(shape.Dims(axis), other.Dims(other_axis));
    return std::min(shape.Dims(axis), MatchingDim(other, other_axis, rest...));
}

// The number of elements of shapes that are all the same.
template <typename... Shapes> int MatchingFlatSize(const RuntimeShape &shape, const Shapes &...others)
{
    const bool match = (... && (others == shape));
    TFLITE_DCHECK(match);
    (void)match;
    return shape.FlatSize();
}

// The product of all lengths but that of one axis.
inline int FlatSizeSkipDim(const RuntimeShape &shape, int axis)
{
    int size = 1;
    for (int i = 0; i < shape.DimensionsCount(); i++)
        if (i != axis) size *= shape.Dims(i);
    return size;
}
// The same of shapes that have the same lengths at all other axes.
template <typename... Shapes> int MatchingFlatSizeSkipDim(const RuntimeShape &shape, int axis, const Shapes &...others)
{
    auto matches = [&](const RuntimeShape &other) {
        bool same = other.DimensionsCount() == shape.DimensionsCount();
        for (int i = 0; same && i < shape.DimensionsCount(); i++) same = i == axis || other.Dims(i) == shape.Dims(i);
        return same;
    };
    const bool match = (... && matches(others));
    TFLITE_DCHECK(match);
    (void)match;
    return FlatSizeSkipDim(shape, axis);
}

} // namespace tflite

#endif
