// SPDX-License-Identifier: Apache-2.0
// A string that grows by half of itself at least, so that many small pieces cost few copies.
#include "base/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_CAPACITY = 64 };

bool hl_text_grow(struct hl_text *text, size_t more)
{
    if (text->failed) return false;
    if (more >= SIZE_MAX / 2 - text->length) {
        text->failed = true;
        return false;
    }
    size_t needed = text->length + more + 1;
    if (needed <= text->capacity) return true;
    size_t capacity = needed < MIN_CAPACITY ? MIN_CAPACITY : needed + needed / 2;
    char *data = realloc(text->data, capacity);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

bool hl_text_append_bytes(struct hl_text *text, const char *bytes, size_t count)
{
    if (!hl_text_grow(text, count)) return false;
    if (count > 0) memcpy(text->data + text->length, bytes, count);
    text->length += count;
    text->data[text->length] = '\0';
    return true;
}

bool hl_text_append_va(struct hl_text *text, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    if (length < 0) text->failed = true;
    if (length >= 0 && hl_text_grow(text, (size_t)length)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
    return !text->failed;
}

bool hl_text_append(struct hl_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bool ok = hl_text_append_va(text, format, args);
    va_end(args);
    return ok;
}

void hl_text_clear(struct hl_text *text)
{
    text->length = 0;
    text->failed = false;
    if (text->data) text->data[0] = '\0';
}

void hl_text_free(struct hl_text *text)
{
    free(text->data);
    *text = (struct hl_text){0};
}

char *hl_text_take(struct hl_text *text)
{
    char *data = text->failed ? NULL : text->data;
    if (!data) free(text->data);
    *text = (struct hl_text){0};
    return data;
}
