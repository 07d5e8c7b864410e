// SPDX-License-Identifier: Apache-2.0
// Writes lines to standard error, each with its severity in front: "WARNING: ...".
#ifndef TENSORFLOW_LITE_MINIMAL_LOGGING_H_
#define TENSORFLOW_LITE_MINIMAL_LOGGING_H_

#include "halite/cxx.h"

#include <cstdarg>
#include <cstdio>

#include "tensorflow/lite/logger.h"

namespace tflite
{
namespace logging_internal
{

class MinimalLogger
{
  public:
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    static void
    Log(LogSeverity severity, const char *format, ...)
    {
        va_list args;
        va_start(args, format);
        LogFormatted(severity, format, args);
        va_end(args);
    }
    static void LogFormatted(LogSeverity severity, const char *format, va_list args)
    {
        if (severity < GetMinimumLogSeverity()) return;
        std::fprintf(stderr, "%s: ", GetSeverityName(severity));
        std::vfprintf(stderr, format, args);
        std::fputc('\n', stderr);
    }
    static LogSeverity GetMinimumLogSeverity()
    {
        return LoggerOptions::GetMinimumLogSeverity();
    }
    static LogSeverity SetMinimumLogSeverity(LogSeverity severity)
    {
        return LoggerOptions::SetMinimumLogSeverity(severity);
    }

  private:
    static const char *GetSeverityName(LogSeverity severity)
    {
        switch (severity) {
        case TFLITE_LOG_VERBOSE: return "VERBOSE";
        case TFLITE_LOG_INFO: return "INFO";
        case TFLITE_LOG_WARNING: return "WARNING";
        case TFLITE_LOG_ERROR: return "ERROR";
        default: return "<Unknown severity>";
        }
    }
};

} // namespace logging_internal
} // namespace tflite

#define TFLITE_LOG_PROD(severity, ...) ::tflite::logging_internal::MinimalLogger::Log(severity, __VA_ARGS__)
#define TFLITE_LOG_PROD_ONCE(severity, ...)         \
    do {                                            \
        static const bool halite_logged = [&] {     \
            TFLITE_LOG_PROD(severity, __VA_ARGS__); \
            return true;                            \
        }();                                        \
        (void)halite_logged;                        \
    } while (false)

// These two write in debug builds alone.
#ifdef NDEBUG
#define TFLITE_LOG(severity, ...)                          \
    do {                                                   \
        if (false) TFLITE_LOG_PROD(severity, __VA_ARGS__); \
    } while (false)
#define TFLITE_LOG_ONCE TFLITE_LOG
#else
#define TFLITE_LOG TFLITE_LOG_PROD
#define TFLITE_LOG_ONCE TFLITE_LOG_PROD_ONCE
#endif

#endif
