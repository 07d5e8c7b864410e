// SPDX-License-Identifier: Apache-2.0
// The resolver whose operators are computed by the plain reference kernels.
#ifndef TENSORFLOW_LITE_KERNELS_REGISTER_REF_H_
#define TENSORFLOW_LITE_KERNELS_REGISTER_REF_H_

#include "halite/cxx.h"

#include "tensorflow/lite/core/kernels/register.h"

namespace tflite
{
namespace ops
{
namespace builtin
{

class BuiltinRefOpResolver : public BuiltinOpResolver
{
  public:
    HaliteKernels Kernels() const override { return kHaliteKernelsReference; }
};

} // namespace builtin
} // namespace ops
} // namespace tflite

#endif
