// SPDX-License-Identifier: Apache-2.0
// A string that grows: kernel sources, reports, messages. In: printf formats and bytes. Out: text.data, which ends with
// a zero byte once something was appended. `struct hl_text text = {0};` starts an empty one; hl_text_free or
// hl_text_take ends it. Where memory is out the text fails: it keeps what it has and takes nothing more, so a caller
// may append many times and ask once at the end.
#ifndef HALITE_BASE_TEXT_H
#define HALITE_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/report.h"

struct hl_text {
    char *data; // NULL while nothing was appended
    size_t length, capacity;
    bool failed; // something was not appended
};

// Makes room for `more` bytes and a zero byte after the text. False, and the text failed, where memory is out.
bool hl_text_grow(struct hl_text *text, size_t more);

// Each returns false where the text failed, now or earlier. Zero bytes are bytes like others.
bool hl_text_append(struct hl_text *text, const char *format, ...) HL_PRINTF(2, 3);
bool hl_text_append_va(struct hl_text *text, const char *format, va_list args);
bool hl_text_append_bytes(struct hl_text *text, const char *bytes, size_t count);

// Empties the text and keeps its memory.
void hl_text_clear(struct hl_text *text);
void hl_text_free(struct hl_text *text);
// Ends the text and gives its data, which the caller frees. NULL where the text failed, or where nothing was appended.
char *hl_text_take(struct hl_text *text);

#endif
