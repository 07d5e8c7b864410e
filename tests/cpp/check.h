// SPDX-License-Identifier: Apache-2.0
// Checks for tests in C++. A failed one is printed and counted, and the test goes on: cmocka would jump over
// destructors, which are a part of what is tested.
#ifndef HALITE_TESTS_CPP_CHECK_H
#define HALITE_TESTS_CPP_CHECK_H

#include <cstdarg>
#include <cstdio>
#include <string>

#include "tensorflow/lite/core/api/error_reporter.h"

inline int check_failures;
inline int check_count;

inline bool check(bool holds, const char *what, const char *file, int line)
{
    check_count++;
    if (holds) return true;
    std::printf("%s:%d: %s does not hold\n", file, line, what);
    check_failures++;
    return false;
}
#define CHECK(condition) check(condition, #condition, __FILE__, __LINE__)
#define CHECK_OK(call) check((call) == kTfLiteOk, #call " is kTfLiteOk", __FILE__, __LINE__)

// Keeps all messages as lines.
class Messages : public tflite::ErrorReporter
{
  public:
    int Report(const char *format, va_list args) override
    {
        char line[1024];
        std::vsnprintf(line, sizeof line, format, args);
        text += line;
        text += '\n';
        return 0;
    }
    bool has(const char *words) const { return text.find(words) != std::string::npos; }
    std::string text;
};

inline int check_result()
{
    std::printf("%d checks, %d failed\n", check_count, check_failures);
    return check_count == 0 || check_failures > 0;
}

#endif
