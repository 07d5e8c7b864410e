// SPDX-License-Identifier: Apache-2.0
// The name that the original's own sources have for strings.
#ifndef TENSORFLOW_LITE_STRING_TYPE_H_
#define TENSORFLOW_LITE_STRING_TYPE_H_

#include "halite/cxx.h"

#include <string>

namespace tflite
{
using std::string;
} // namespace tflite

#endif
