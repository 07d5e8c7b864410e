// SPDX-License-Identifier: Apache-2.0
// What the halite command says to people on standard error: "halite label: photo.jpg: cannot be opened: ...", one line each.
#ifndef HALITE_TOOLS_MESSAGE_H
#define HALITE_TOOLS_MESSAGE_H

#include <stdarg.h>
#include <stdio.h>

#include "text.h"

static inline void hl_message_va(const char *kind, const char *command, const char *where,
                                 const char *format, va_list args)
{
    struct hl_text text = {0}, line = {0};
    hl_text_add_va(&text, format, args);
    hl_text_add(&line, "halite");
    if (command != NULL) hl_text_add(&line, " %s", command);
    hl_text_add(&line, ": %s", kind);
    if (where != NULL) {
        hl_text_add_escaped(&line, where, strlen(where));
        hl_text_add(&line, ": ");
    }
    hl_text_add_escaped(&line, hl_text_string(&text), text.length);
    fflush(stdout); // in order, where both go to the same place
    fprintf(stderr, "%s\n", line.data);
    hl_text_free(&text);
    hl_text_free(&line);
}

// command: NULL outside of any. where: the file or tensor at fault, NULL: none. Both are lent.
static inline void hl_error(const char *command, const char *where, const char *format, ...)
    HL_PRINTF(3, 4);
static inline void hl_error(const char *command, const char *where, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    hl_message_va("", command, where, format, args);
    va_end(args);
}

static inline void hl_warn(const char *command, const char *where, const char *format, ...)
    HL_PRINTF(3, 4);
static inline void hl_warn(const char *command, const char *where, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    hl_message_va("warning: ", command, where, format, args);
    va_end(args);
}

#endif
