// SPDX-License-Identifier: Apache-2.0
// The same as tensorflow/lite/kernels/internal/tensor_ctypes.h.
#ifndef TENSORFLOW_LITE_KERNELS_INTERNAL_PORTABLE_TENSOR_H_
#define TENSORFLOW_LITE_KERNELS_INTERNAL_PORTABLE_TENSOR_H_

#include "halite/cxx.h"

#include "tensorflow/lite/kernels/internal/tensor_ctypes.h"

#endif
