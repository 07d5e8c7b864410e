// SPDX-License-Identifier: Apache-2.0
// The reporter that is used where a program names none: it writes each message as a line on standard error,
// unless LoggerOptions say that errors are not to be written.
#ifndef TENSORFLOW_LITE_STDERR_REPORTER_H_
#define TENSORFLOW_LITE_STDERR_REPORTER_H_

#include "halite/cxx.h"

#include <cstdarg>

#include "tensorflow/lite/core/api/error_reporter.h"
#include "tensorflow/lite/minimal_logging.h"

namespace tflite
{

class StderrReporter : public ErrorReporter
{
  public:
    using ErrorReporter::Report;
    int Report(const char *format, va_list args) override
    {
        logging_internal::MinimalLogger::LogFormatted(TFLITE_LOG_ERROR, format, args);
        return 0;
    }
};

// Lends one that lives as long as the program.
inline ErrorReporter *DefaultErrorReporter()
{
    static StderrReporter reporter;
    return &reporter;
}

} // namespace tflite

#endif
