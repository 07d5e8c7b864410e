// SPDX-License-Identifier: Apache-2.0
// Sets variables back.
#ifndef TENSORFLOW_LITE_CORE_API_TENSOR_UTILS_H_
#define TENSORFLOW_LITE_CORE_API_TENSOR_UTILS_H_

#include "halite/cxx.h"

#include <cstring>

#include "tensorflow/lite/core/c/common.h"

namespace tflite
{

// Sets a variable with memory to 0, which is the zero point where its elements are int8. Other tensors stay.
inline TfLiteStatus ResetVariableTensor(TfLiteTensor *tensor)
{
    if (!tensor->is_variable) return kTfLiteOk;
    int value = tensor->type == kTfLiteInt8 ? tensor->params.zero_point : 0;
    if (tensor->data.raw) std::memset(tensor->data.raw, value, tensor->bytes);
    return kTfLiteOk;
}

} // namespace tflite

#endif
