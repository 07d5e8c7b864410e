// SPDX-License-Identifier: Apache-2.0
// A tensor's elements and shape in the forms that C++ kernels use.
#ifndef TENSORFLOW_LITE_KERNELS_INTERNAL_TENSOR_CTYPES_H_
#define TENSORFLOW_LITE_KERNELS_INTERNAL_TENSOR_CTYPES_H_

#include "halite/cxx.h"

#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite
{

// The elements, without a look at the tensor's type; nullptr for a null tensor.
template <typename T> inline T *GetTensorData(TfLiteTensor *tensor)
{
    return tensor ? reinterpret_cast<T *>(tensor->data.raw) : nullptr;
}
template <typename T> inline const T *GetTensorData(const TfLiteTensor *tensor)
{
    return tensor ? reinterpret_cast<const T *>(tensor->data.raw) : nullptr;
}

// Without dimensions for a null tensor.
inline RuntimeShape GetTensorShape(const TfLiteTensor *tensor)
{
    if (!tensor || !tensor->dims) return RuntimeShape();
    return RuntimeShape(tensor->dims->size, tensor->dims->data);
}
inline RuntimeShape GetTensorShape(const std::vector<int32_t> &dims)
{
    return RuntimeShape(static_cast<int>(dims.size()), dims.data());
}

} // namespace tflite

#endif
