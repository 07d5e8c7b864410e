// SPDX-License-Identifier: Apache-2.0
// The same as tensorflow/lite/mutable_op_resolver.h.
#ifndef TENSORFLOW_LITE_CORE_MUTABLE_OP_RESOLVER_H_
#define TENSORFLOW_LITE_CORE_MUTABLE_OP_RESOLVER_H_

#include "halite/cxx.h"

#include "tensorflow/lite/mutable_op_resolver.h"

#endif
