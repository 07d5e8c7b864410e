// SPDX-License-Identifier: Apache-2.0
//
// Former name of operator.h, with the former names of its functions.
#ifndef TENSORFLOW_LITE_C_REGISTRATION_EXTERNAL_H_
#define TENSORFLOW_LITE_C_REGISTRATION_EXTERNAL_H_

#include "tensorflow/lite/c/c_api.h"

#endif  // TENSORFLOW_LITE_C_REGISTRATION_EXTERNAL_H_
