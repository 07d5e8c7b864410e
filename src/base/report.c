// SPDX-License-Identifier: Apache-2.0
// The one place that writes to standard error from inside the libraries.
#include "base/report.h"

#include <stdio.h>

void hl_report_va(const struct hl_reporter *reporter, const char *format, va_list args)
{
    if (reporter && reporter->write) {
        reporter->write(reporter->user_data, format, args);
        return;
    }
    fputs("ERROR: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

void hl_report(const struct hl_reporter *reporter, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    hl_report_va(reporter, format, args);
    va_end(args);
}
