// SPDX-License-Identifier: Apache-2.0
//
// The same as tensorflow/lite/core/c/c_api_opaque.h.
#ifndef TENSORFLOW_LITE_C_C_API_OPAQUE_H_
#define TENSORFLOW_LITE_C_C_API_OPAQUE_H_

#include "tensorflow/lite/core/c/c_api_opaque.h"

#endif  // TENSORFLOW_LITE_C_C_API_OPAQUE_H_
