// SPDX-License-Identifier: Apache-2.0
// The same as tensorflow/lite/core/api/op_resolver.h.
#ifndef TENSORFLOW_LITE_OP_RESOLVER_H_
#define TENSORFLOW_LITE_OP_RESOLVER_H_

#include "halite/cxx.h"

#include "tensorflow/lite/core/api/op_resolver.h"

#endif
