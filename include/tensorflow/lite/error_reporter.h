// SPDX-License-Identifier: Apache-2.0
// The same as tensorflow/lite/core/api/error_reporter.h.
#ifndef TENSORFLOW_LITE_ERROR_REPORTER_H_
#define TENSORFLOW_LITE_ERROR_REPORTER_H_

#include "halite/cxx.h"

#include "tensorflow/lite/core/api/error_reporter.h"

#endif
