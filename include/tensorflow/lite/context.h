// SPDX-License-Identifier: Apache-2.0
//
// Former name of tensorflow/lite/c/common.h.
#ifndef TENSORFLOW_LITE_CONTEXT_H_
#define TENSORFLOW_LITE_CONTEXT_H_

#include "tensorflow/lite/core/c/common.h"

#endif  // TENSORFLOW_LITE_CONTEXT_H_
