// SPDX-License-Identifier: Apache-2.0
// How many rows and columns a sliding window writes, and how many lie beyond the picture's edge before the first.
#ifndef TENSORFLOW_LITE_KERNELS_PADDING_H_
#define TENSORFLOW_LITE_KERNELS_PADDING_H_

#include "halite/cxx.h"

#include <algorithm>

#include "tensorflow/lite/core/c/builtin_op_data.h"

namespace tflite
{

namespace padding_internal
{
// What a window sees from its first row to its last.
inline int reach(int filter_size, int dilation_rate)
{
    return (filter_size - 1) * dilation_rate + 1;
}
} // namespace padding_internal

// The output's length; 0 where the padding is unknown or the stride is 0.
inline int ComputeOutSize(TfLitePadding padding, int image_size, int filter_size, int stride, int dilation_rate = 1)
{
    if (stride == 0) return 0;
    switch (padding) {
    case kTfLitePaddingSame: return (image_size + stride - 1) / stride;
    case kTfLitePaddingValid:
        return (image_size + stride - padding_internal::reach(filter_size, dilation_rate)) / stride;
    default: return 0;
    }
}
// The padding before; what is odd of the sum goes after, and is *offset.
inline int ComputePaddingWithOffset(int stride, int dilation_rate, int in_size, int filter_size, int out_size,
                                    int *offset)
{
    int needed = (out_size - 1) * stride + padding_internal::reach(filter_size, dilation_rate);
    int total = std::max(needed - in_size, 0);
    *offset = total % 2;
    return total / 2;
}
inline int ComputePadding(int stride, int dilation_rate, int in_size, int filter_size, int out_size)
{
    int offset;
    return ComputePaddingWithOffset(stride, dilation_rate, in_size, filter_size, out_size, &offset);
}
inline TfLitePaddingValues ComputePaddingHeightWidth(int stride_height, int stride_width, int dilation_rate_height,
                                                     int dilation_rate_width, int in_height, int in_width,
                                                     int filter_height, int filter_width, TfLitePadding padding,
                                                     int *out_height, int *out_width)
{
    TfLitePaddingValues values = {};
    *out_height = ComputeOutSize(padding, in_height, filter_height, stride_height, dilation_rate_height);
    *out_width = ComputeOutSize(padding, in_width, filter_width, stride_width, dilation_rate_width);
    values.height = ComputePaddingWithOffset(stride_height, dilation_rate_height, in_height, filter_height, *out_height,
                                             &values.height_offset);
    values.width = ComputePaddingWithOffset(stride_width, dilation_rate_width, in_width, filter_width, *out_width,
                                            &values.width_offset);
    return values;
}

} // namespace tflite

#endif
