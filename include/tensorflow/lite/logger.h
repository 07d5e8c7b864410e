// SPDX-License-Identifier: Apache-2.0
// How much these headers write to standard error: what minimal_logging.h logs, and the messages of a program that gave
// no ErrorReporter of its own.
#ifndef TENSORFLOW_LITE_LOGGER_H_
#define TENSORFLOW_LITE_LOGGER_H_

#include "halite/cxx.h"

#include <atomic>

namespace tflite
{

enum LogSeverity {
    TFLITE_LOG_VERBOSE = 0,
    TFLITE_LOG_INFO = 1,
    TFLITE_LOG_WARNING = 2,
    TFLITE_LOG_ERROR = 3,
    TFLITE_LOG_SILENT = 4,
};

class LoggerOptions
{
  public:
    static LogSeverity GetMinimumLogSeverity() { return least(); }
    // What is less severe is not written from now on. Returns what held before.
    static LogSeverity SetMinimumLogSeverity(LogSeverity severity) { return least().exchange(severity); }

  private:
    static std::atomic<LogSeverity> &least()
    {
        static std::atomic<LogSeverity> severity{TFLITE_LOG_INFO};
        return severity;
    }
};

} // namespace tflite

#endif
