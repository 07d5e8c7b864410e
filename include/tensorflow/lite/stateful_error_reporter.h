// SPDX-License-Identifier: Apache-2.0
// A reporter that keeps its messages, for programs that show them later.
#ifndef TENSORFLOW_LITE_STATEFUL_ERROR_REPORTER_H_
#define TENSORFLOW_LITE_STATEFUL_ERROR_REPORTER_H_

#include "halite/cxx.h"

#include <string>

#include "tensorflow/lite/core/api/error_reporter.h"

namespace tflite
{

class StatefulErrorReporter : public ErrorReporter
{
  public:
    // The last message.
    virtual std::string message() = 0;
};

} // namespace tflite

#endif
