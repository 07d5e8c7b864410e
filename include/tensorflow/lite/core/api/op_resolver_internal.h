// SPDX-License-Identifier: Apache-2.0
// What the original's own classes ask of a resolver.
#ifndef TENSORFLOW_LITE_CORE_API_OP_RESOLVER_INTERNAL_H_
#define TENSORFLOW_LITE_CORE_API_OP_RESOLVER_INTERNAL_H_

#include "halite/cxx.h"

#include "tensorflow/lite/core/api/op_resolver.h"

namespace tflite
{

class OpResolverInternal
{
  public:
    OpResolverInternal() = delete;
    static bool MayContainUserDefinedOps(const OpResolver &resolver) { return resolver.MayContainUserDefinedOps(); }
};

} // namespace tflite

#endif
