// SPDX-License-Identifier: Apache-2.0
// A model and what builds an interpreter of it: all that most programs include.
#ifndef TENSORFLOW_LITE_CORE_MODEL_H_
#define TENSORFLOW_LITE_CORE_MODEL_H_

#include "halite/cxx.h"

#include "tensorflow/lite/core/interpreter_builder.h"
#include "tensorflow/lite/core/model_builder.h"

#endif
