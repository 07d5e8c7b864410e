// SPDX-License-Identifier: Apache-2.0
// The resolver that a program gets which leaves the choice to the build.
#ifndef TENSORFLOW_LITE_CORE_CREATE_OP_RESOLVER_H_
#define TENSORFLOW_LITE_CORE_CREATE_OP_RESOLVER_H_

#include "halite/cxx.h"

#include <memory>

#include "tensorflow/lite/core/kernels/register.h"

namespace tflite
{

inline std::unique_ptr<MutableOpResolver> CreateOpResolver()
{
    return std::make_unique<ops::builtin::BuiltinOpResolver>();
}

} // namespace tflite

#endif
