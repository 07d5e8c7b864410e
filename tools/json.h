// SPDX-License-Identifier: Apache-2.0
// The bits of JSON that cJSON leaves to its users: strings from files, which may not be UTF-8, and printing.
#ifndef HALITE_TOOLS_JSON_H
#define HALITE_TOOLS_JSON_H

#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "text.h"

// Bytes that are no UTF-8 become U+FFFD.
static inline void hl_json_add_string(cJSON *object, const char *name, const char *value)
{
    struct hl_text text = {0};
    const unsigned char *at = (const unsigned char *)value, *end = at + strlen(value);
    while (at < end) {
        int length = hl_text_utf8(at, end);
        if (length > 0)
            hl_text_add_bytes(&text, (const char *)at, (size_t)length);
        else
            hl_text_add(&text, "\xef\xbf\xbd");
        at += length > 0 ? length : 1;
    }
    cJSON_AddStringToObject(object, name, hl_text_string(&text));
    hl_text_free(&text);
}

// What cJSON prints, with the characters escaped that a terminal would obey: cJSON escapes those below U+0020 alone.
static inline void hl_json_add_escaped(struct hl_text *text, const char *printed)
{
    const unsigned char *at = (const unsigned char *)printed, *end = at + strlen(printed);
    for (int length; at < end; at += length) {
        length = hl_text_utf8(at, end);
        if (length == 0) length = 1;
        uint32_t character = hl_text_character(at, length);
        if (character >= 0x20 && hl_text_is_control(character))
            hl_text_add(text, "\\u%04x", (unsigned)character);
        else
            hl_text_add_bytes(text, (const char *)at, (size_t)length);
    }
}

// As a page for people, or as one line.
static inline void hl_json_print_as(const cJSON *json, bool line)
{
    char *printed = hl_alloc_check(line ? cJSON_PrintUnformatted(json) : cJSON_Print(json));
    struct hl_text text = {0};
    hl_json_add_escaped(&text, printed);
    puts(hl_text_string(&text));
    hl_text_free(&text);
    cJSON_free(printed);
}

static inline void hl_json_print(const cJSON *json)
{
    hl_json_print_as(json, false);
}

#endif
