// SPDX-License-Identifier: Apache-2.0
// Where the library's messages go. A program that wants them derives a class from ErrorReporter and hands it to
// FlatBufferModel; interpreters of that model use it too, so it must outlive them.
#ifndef TENSORFLOW_LITE_CORE_API_ERROR_REPORTER_H_
#define TENSORFLOW_LITE_CORE_API_ERROR_REPORTER_H_

#include "halite/cxx.h"

#include <cstdarg>

namespace tflite
{

class ErrorReporter
{
  public:
    virtual ~ErrorReporter() = default;

    // Takes a message in printf's form, without a line break. The result is not used.
    virtual int Report(const char *format, va_list args) = 0;

    int Report(const char *format, ...)
    {
        va_list args;
        va_start(args, format);
        int result = Report(format, args);
        va_end(args);
        return result;
    }

    // The same in the form of a callback that has a parameter of its own, which is ignored.
    int ReportError(void *, const char *format, ...)
    {
        va_list args;
        va_start(args, format);
        int result = Report(format, args);
        va_end(args);
        return result;
    }
};

} // namespace tflite

#ifdef TF_LITE_STRIP_ERROR_STRINGS
#define TF_LITE_REPORT_ERROR(reporter, ...) ((void)sizeof(#__VA_ARGS__))
#else
#define TF_LITE_REPORT_ERROR(reporter, ...) (static_cast<::tflite::ErrorReporter *>(reporter)->Report(__VA_ARGS__))
#endif

#endif
