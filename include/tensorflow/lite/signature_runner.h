// SPDX-License-Identifier: Apache-2.0
// The same as tensorflow/lite/core/signature_runner.h.
#ifndef TENSORFLOW_LITE_SIGNATURE_RUNNER_H_
#define TENSORFLOW_LITE_SIGNATURE_RUNNER_H_

#include "halite/cxx.h"

#include "tensorflow/lite/core/signature_runner.h"

#endif
