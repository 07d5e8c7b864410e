// SPDX-License-Identifier: Apache-2.0
// What the tools say to people, one line each. The halite command does so on standard error, "halite label: photo.jpg:
// cannot be opened: ..."; the tools with TensorFlow Lite's command lines as those do: "ERROR: ..." there, "WARN: ..."
// and "INFO: ..." on standard output, but label_image's there too.
#ifndef HALITE_TOOLS_MESSAGE_H
#define HALITE_TOOLS_MESSAGE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/process.h"
#include "text.h"

enum hl_message_kind { HL_ERROR, HL_WARNING, HL_INFO };

// In the place of a command's name: a tool with TensorFlow Lite's command line, and label_image.
#define HL_TFLITE "="
#define HL_TFLITE_EXAMPLE "=="

static inline void hl_message_va(enum hl_message_kind kind, const char *command, const char *where, const char *format,
                                 va_list args)
{
    static const char *const halite[] = {"", "warning: ", ""};
    static const char *const tflite[] = {"ERROR: ", "WARN: ", "INFO: "};
    struct hl_text text = {0}, line = {0};
    bool example = command != NULL && strcmp(command, HL_TFLITE_EXAMPLE) == 0,
         original = example || (command != NULL && strcmp(command, HL_TFLITE) == 0);
    hl_text_add_va(&text, format, args);
    if (original)
        hl_text_add(&line, "%s", tflite[kind]);
    else
        hl_text_add(&line, "halite%s%s: %s", command != NULL ? " " : "", command != NULL ? command : "", halite[kind]);
    if (where != NULL) {
        hl_text_add_escaped(&line, where, strlen(where));
        hl_text_add(&line, ": ");
    }
    hl_text_add_escaped(&line, hl_text_string(&text), text.length);
    fflush(stdout);                                               // in order, where both go to the same place
    if (hl_stream_is_terminal(stderr)) fputs("\r\033[K", stderr); // a bar of progress.h may stand there
    fprintf(original && !example && kind != HL_ERROR ? stdout : stderr, "%s\n", line.data);
    hl_text_free(&text);
    hl_text_free(&line);
}

// command: NULL outside of any, HL_TFLITE or HL_TFLITE_EXAMPLE. where: the file or tensor at fault, NULL: none. Both
// are lent. Then a format and what it wants.
static inline void hl_message(enum hl_message_kind kind, const char *command, const char *where, const char *format,
                              ...) HL_PRINTF(4, 5);
static inline void hl_message(enum hl_message_kind kind, const char *command, const char *where, const char *format,
                              ...)
{
    va_list args;
    va_start(args, format);
    hl_message_va(kind, command, where, format, args);
    va_end(args);
}
#define hl_error(...) hl_message(HL_ERROR, __VA_ARGS__)
#define hl_warn(...) hl_message(HL_WARNING, __VA_ARGS__)
// For HL_TFLITE or HL_TFLITE_EXAMPLE, or a command that tells people something on standard error.
#define hl_info(...) hl_message(HL_INFO, __VA_ARGS__)

#endif
