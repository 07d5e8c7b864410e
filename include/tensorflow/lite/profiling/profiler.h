// SPDX-License-Identifier: Apache-2.0
// The same as tensorflow/lite/core/api/profiler.h.
#ifndef TENSORFLOW_LITE_PROFILING_PROFILER_H_
#define TENSORFLOW_LITE_PROFILING_PROFILER_H_

#include "halite/cxx.h"

#include "tensorflow/lite/core/api/profiler.h"

#endif
