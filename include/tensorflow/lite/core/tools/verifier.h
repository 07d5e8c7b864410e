// SPDX-License-Identifier: Apache-2.0
// Whether bytes are a model that may be used. Every model is verified when it is loaded, so few programs need this.
#ifndef TENSORFLOW_LITE_CORE_TOOLS_VERIFIER_H_
#define TENSORFLOW_LITE_CORE_TOOLS_VERIFIER_H_

#include "halite/cxx.h"

#include <cstddef>

#include "tensorflow/lite/core/model_builder.h"

namespace tflite
{

inline bool Verify(const void *buffer, size_t bytes, ErrorReporter *reporter)
{
    return FlatBufferModel::VerifyAndBuildFromBuffer(static_cast<const char *>(buffer), bytes, nullptr, reporter) !=
           nullptr;
}

} // namespace tflite

#endif
