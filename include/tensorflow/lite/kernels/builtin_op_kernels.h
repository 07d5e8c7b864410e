// SPDX-License-Identifier: Apache-2.0
// The same as tensorflow/lite/core/kernels/builtin_op_kernels.h.
#ifndef TENSORFLOW_LITE_KERNELS_BUILTIN_OP_KERNELS_H_
#define TENSORFLOW_LITE_KERNELS_BUILTIN_OP_KERNELS_H_

#include "halite/cxx.h"

#include "tensorflow/lite/core/kernels/builtin_op_kernels.h"

#endif
