// SPDX-License-Identifier: Apache-2.0
//
// The same as tensorflow/lite/core/c/operator.h.
#ifndef TENSORFLOW_LITE_C_OPERATOR_H_
#define TENSORFLOW_LITE_C_OPERATOR_H_

#include "tensorflow/lite/core/c/operator.h"

#endif  // TENSORFLOW_LITE_C_OPERATOR_H_
