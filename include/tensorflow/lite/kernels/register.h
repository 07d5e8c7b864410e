// SPDX-License-Identifier: Apache-2.0
// The same as tensorflow/lite/core/kernels/register.h.
#ifndef TENSORFLOW_LITE_KERNELS_REGISTER_H_
#define TENSORFLOW_LITE_KERNELS_REGISTER_H_

#include "halite/cxx.h"

#include "tensorflow/lite/core/kernels/register.h"

#endif
