// SPDX-License-Identifier: Apache-2.0
// The same as tensorflow/lite/core/interpreter.h.
#ifndef TENSORFLOW_LITE_INTERPRETER_H_
#define TENSORFLOW_LITE_INTERPRETER_H_

#include "halite/cxx.h"

#include "tensorflow/lite/core/interpreter.h"

#endif
