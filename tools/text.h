// SPDX-License-Identifier: Apache-2.0
// A string that grows: messages, table cells, reports. In: printf formats. Out: text.data, always zero-terminated once
// something was added. `struct hl_text text = {0};` starts an empty one, hl_text_free ends it.
#ifndef HALITE_TOOLS_TEXT_H
#define HALITE_TOOLS_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "base/report.h"

struct hl_text {
    char *data; // NULL while nothing was added
    size_t length, capacity;
};

static inline const char *hl_text_string(const struct hl_text *text)
{
    return text->data != NULL ? text->data : "";
}

static inline void hl_text_free(struct hl_text *text)
{
    free(text->data);
    *text = (struct hl_text){0};
}

static inline void hl_text_clear(struct hl_text *text)
{
    text->length = 0;
    if (text->data != NULL) text->data[0] = '\0';
}

static inline void hl_text_reserve(struct hl_text *text, size_t more)
{
    size_t needed = text->length + more + 1;
    if (needed <= text->capacity) return;
    size_t capacity = needed < 64 ? 64 : needed + needed / 2;
    text->data = hl_alloc_grow(text->data, capacity, 1);
    text->capacity = capacity;
}

static inline void hl_text_add_bytes(struct hl_text *text, const char *bytes, size_t count)
{
    hl_text_reserve(text, count);
    memcpy(text->data + text->length, bytes, count);
    text->length += count;
    text->data[text->length] = '\0';
}

static inline void hl_text_add_va(struct hl_text *text, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    if (length > 0) {
        hl_text_reserve(text, (size_t)length);
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

static inline void hl_text_add(struct hl_text *text, const char *format, ...) HL_PRINTF(2, 3);
static inline void hl_text_add(struct hl_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    hl_text_add_va(text, format, args);
    va_end(args);
}

// Text that comes from a file: control characters would move the reader's cursor or forge lines, so they are shown as
// \n, \t or \x1b. Bytes above 0x7f pass, for UTF-8.
static inline void hl_text_add_escaped(struct hl_text *text, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c == '\n') {
            hl_text_add(text, "\\n");
        } else if (c == '\t') {
            hl_text_add(text, "\\t");
        } else if (c == '\r') {
            hl_text_add(text, "\\r");
        } else if (c < 0x20 || c == 0x7f) {
            hl_text_add(text, "\\x%02x", c);
        } else if (c == 0xc2 && i + 1 < count && ((unsigned char)bytes[i + 1] & 0xe0) == 0x80) {
            // U+0080..U+009F: control characters of their own in a terminal.
            hl_text_add(text, "\\x%02x\\x%02x", c, (unsigned char)bytes[i + 1]);
            i++;
        } else {
            hl_text_add_bytes(text, bytes + i, 1);
        }
    }
}

// An error reporter of the C API that collects: one message a line. user_data is a struct hl_text.
static inline void hl_text_reporter(void *user_data, const char *format, va_list args)
{
    struct hl_text *text = user_data;
    if (text->length > 0 && text->data[text->length - 1] != '\n') hl_text_add(text, "\n");
    hl_text_add_va(text, format, args);
    while (text->length > 0 && text->data[text->length - 1] == '\n') text->length--;
    hl_text_add(text, "\n");
}

#endif
