// SPDX-License-Identifier: Apache-2.0
//
// The same as tensorflow/lite/c/c_api.h.
#ifndef TENSORFLOW_LITE_CORE_C_C_API_H_
#define TENSORFLOW_LITE_CORE_C_C_API_H_

#include "tensorflow/lite/c/c_api.h"

#endif  // TENSORFLOW_LITE_CORE_C_C_API_H_
