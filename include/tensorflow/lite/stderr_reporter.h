// SPDX-License-Identifier: Apache-2.0
// The reporter that is used where a program names none: it writes each message as a line on standard error.
#ifndef TENSORFLOW_LITE_STDERR_REPORTER_H_
#define TENSORFLOW_LITE_STDERR_REPORTER_H_

#include "halite/cxx.h"

#include <cstdarg>
#include <cstdio>

#include "tensorflow/lite/core/api/error_reporter.h"

namespace tflite
{

class StderrReporter : public ErrorReporter
{
  public:
    using ErrorReporter::Report;
    int Report(const char *format, va_list args) override
    {
        std::fputs("ERROR: ", stderr);
        int written = std::vfprintf(stderr, format, args);
        std::fputc('\n', stderr);
        return written;
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
