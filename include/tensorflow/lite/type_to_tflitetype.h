// SPDX-License-Identifier: Apache-2.0
// The same as portable_type_to_tflitetype.h, and std::string for tensors of strings.
#ifndef TENSORFLOW_LITE_TYPE_TO_TFLITETYPE_H_
#define TENSORFLOW_LITE_TYPE_TO_TFLITETYPE_H_

#include "halite/cxx.h"

#include <string>

#include "tensorflow/lite/portable_type_to_tflitetype.h"

namespace tflite
{

template <> constexpr TfLiteType typeToTfLiteType<std::string>()
{
    return kTfLiteString;
}
template <> struct TfLiteTypeToType<kTfLiteString> {
    using Type = std::string;
};

} // namespace tflite

#endif
