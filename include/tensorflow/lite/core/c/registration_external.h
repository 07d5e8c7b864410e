// SPDX-License-Identifier: Apache-2.0
//
// Former name of tensorflow/lite/core/c/operator.h.
#ifndef TENSORFLOW_LITE_CORE_C_REGISTRATION_EXTERNAL_H_
#define TENSORFLOW_LITE_CORE_C_REGISTRATION_EXTERNAL_H_

#include "tensorflow/lite/core/c/operator.h"

#endif  // TENSORFLOW_LITE_CORE_C_REGISTRATION_EXTERNAL_H_
