// SPDX-License-Identifier: Apache-2.0
// Where messages for people go: the caller's error reporter, or standard error.
// In: a printf format and arguments. Out: one call of the reporter per message, without a trailing newline.
#ifndef HALITE_BASE_REPORT_H
#define HALITE_BASE_REPORT_H

#include <stdarg.h>

#if defined(__GNUC__)
#if defined(__MINGW32__) && !defined(__clang__) // whose "printf" is that of Microsoft's old library
#define HL_PRINTF(format_index, first_argument) __attribute__((format(gnu_printf, format_index, first_argument)))
#else
#define HL_PRINTF(format_index, first_argument) __attribute__((format(printf, format_index, first_argument)))
#endif
#else
#define HL_PRINTF(format_index, first_argument)
#endif

// A sink as the C ABI passes it (TfLiteInterpreterOptionsSetErrorReporter). write NULL means standard error.
struct hl_reporter {
    void (*write)(void *user_data, const char *format, va_list args);
    void *user_data;
};

// reporter may be NULL: standard error, each message a line that starts with "ERROR: ".
void hl_report(const struct hl_reporter *reporter, const char *format, ...) HL_PRINTF(2, 3);
void hl_report_va(const struct hl_reporter *reporter, const char *format, va_list args);

#endif
