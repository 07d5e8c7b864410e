// SPDX-License-Identifier: Apache-2.0
// Shapes as kernels pass them around.
#ifndef TENSORFLOW_LITE_KERNELS_INTERNAL_TYPES_H_
#define TENSORFLOW_LITE_KERNELS_INTERNAL_TYPES_H_

#include "halite/cxx.h"

#include "tensorflow/lite/kernels/internal/runtime_shape.h"

#endif
