// SPDX-License-Identifier: Apache-2.0
// What a reporter was told: how many messages, and the last one.
#ifndef HALITE_TESTS_SUPPORT_MESSAGES_H
#define HALITE_TESTS_SUPPORT_MESSAGES_H

#include <stdarg.h>
#include <stdio.h>

struct messages {
    int count;
    char last[8192];
};

// For hl_reporter.write; user_data: struct messages.
static inline void keep_message(void *user_data, const char *format, va_list args)
{
    struct messages *messages = user_data;
    messages->count++;
    vsnprintf(messages->last, sizeof messages->last, format, args);
}

#endif
