// SPDX-License-Identifier: Apache-2.0
//
// The same as tensorflow/lite/c/builtin_op_data.h, under its former name.
#ifndef TENSORFLOW_LITE_BUILTIN_OP_DATA_H_
#define TENSORFLOW_LITE_BUILTIN_OP_DATA_H_

#include "tensorflow/lite/core/c/builtin_op_data.h"

#endif  // TENSORFLOW_LITE_BUILTIN_OP_DATA_H_
