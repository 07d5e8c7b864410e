// SPDX-License-Identifier: Apache-2.0
// The same as tensorflow/lite/core/model_builder.h.
#ifndef TENSORFLOW_LITE_MODEL_BUILDER_H_
#define TENSORFLOW_LITE_MODEL_BUILDER_H_

#include "halite/cxx.h"

#include "tensorflow/lite/core/model_builder.h"

#endif
