// SPDX-License-Identifier: Apache-2.0
// A string that grows, for programs: base/text.h with functions that cannot fail, since a program that is out of memory
// says so and ends (alloc.h). In: printf formats, bytes of files. Out: text.data, always zero-terminated once something
// was added. `struct hl_text text = {0};` starts an empty one, hl_text_free ends it.
#ifndef HALITE_TOOLS_TEXT_H
#define HALITE_TOOLS_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "base/report.h"
#include "base/text.h"

static inline const char *hl_text_string(const struct hl_text *text)
{
    return text->data != NULL ? text->data : "";
}

static inline void hl_text_reserve(struct hl_text *text, size_t more)
{
    if (!hl_text_grow(text, more)) hl_alloc_check(NULL);
}

static inline void hl_text_add_bytes(struct hl_text *text, const char *bytes, size_t count)
{
    if (!hl_text_append_bytes(text, bytes, count)) hl_alloc_check(NULL);
}

static inline void hl_text_add_va(struct hl_text *text, const char *format, va_list args)
{
    if (!hl_text_append_va(text, format, args)) hl_alloc_check(NULL);
}

static inline void hl_text_add(struct hl_text *text, const char *format, ...) HL_PRINTF(2, 3);
static inline void hl_text_add(struct hl_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    hl_text_add_va(text, format, args);
    va_end(args);
}

// Length of the well-formed UTF-8 sequence at `at`, which ends at `end`; 0 where there is none.
static inline int hl_text_utf8(const unsigned char *at, const unsigned char *end)
{
    if (at[0] < 0x80) return 1;
    int length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    if (at[0] < 0xc2 || at[0] > 0xf4 || end - at < length) return 0;
    for (int i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80) return 0;
    // Overlong forms, surrogates, beyond U+10FFFF.
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) || (at[0] == 0xf0 && at[1] < 0x90) ||
        (at[0] == 0xf4 && at[1] > 0x8f))
        return 0;
    return length;
}

// The character that a well-formed sequence stands for.
static inline uint32_t hl_text_character(const unsigned char *at, int length)
{
    static const unsigned char mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t character = at[0] & mask[length];
    for (int i = 1; i < length; i++) character = character << 6 | (at[i] & 0x3f);
    return character;
}

// Characters that a terminal obeys and does not show: controls of C0 and C1, and those that turn the direction of the
// text around them or break its line.
static inline bool hl_text_is_control(uint32_t character)
{
    return character < 0x20 || (character >= 0x7f && character < 0xa0) || character == 0x061c ||
           (character >= 0x200e && character <= 0x200f) || (character >= 0x2028 && character <= 0x202e) ||
           (character >= 0x2066 && character <= 0x2069);
}

// Text that comes from a file: control characters would move the reader's cursor or forge lines, so they are shown as
// \n, \t, \x1b or \u202e, and bytes that are no UTF-8 as \x9b.
static inline void hl_text_add_escaped(struct hl_text *text, const char *bytes, size_t count)
{
    const unsigned char *at = (const unsigned char *)bytes, *end = at + count;
    for (int length; at<end; at += length> 0 ? length : 1) {
        length = hl_text_utf8(at, end);
        uint32_t character = length > 0 ? hl_text_character(at, length) : 0;
        if (*at == '\n') {
            hl_text_add(text, "\\n");
        } else if (*at == '\t') {
            hl_text_add(text, "\\t");
        } else if (*at == '\r') {
            hl_text_add(text, "\\r");
        } else if (length == 0 || (length == 1 && hl_text_is_control(character))) {
            hl_text_add(text, "\\x%02x", *at);
        } else if (hl_text_is_control(character)) {
            hl_text_add(text, "\\u%04x", (unsigned)character);
        } else {
            hl_text_add_bytes(text, (const char *)at, (size_t)length);
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
