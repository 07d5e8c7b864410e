// SPDX-License-Identifier: Apache-2.0
// The same as tensorflow/lite/core/tools/verifier.h.
#ifndef TENSORFLOW_LITE_TOOLS_VERIFIER_H_
#define TENSORFLOW_LITE_TOOLS_VERIFIER_H_

#include "halite/cxx.h"

#include "tensorflow/lite/core/tools/verifier.h"

#endif
