// SPDX-License-Identifier: Apache-2.0
// The bits of JSON that cJSON leaves to its users: strings from files, which may not be UTF-8, and printing.
#ifndef HALITE_TOOLS_JSON_H
#define HALITE_TOOLS_JSON_H

#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "text.h"

// Length of the well-formed UTF-8 sequence at `at`, 0 where there is none.
static inline int hl_json_utf8(const unsigned char *at)
{
    if (at[0] < 0x80) return 1;
    int length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    if (at[0] < 0xc2 || at[0] > 0xf4) return 0;
    for (int i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80) return 0;
    // Overlong forms, surrogates, beyond U+10FFFF.
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) || (at[0] == 0xf0 && at[1] < 0x90) ||
        (at[0] == 0xf4 && at[1] > 0x8f))
        return 0;
    return length;
}

// Bytes that are no UTF-8 become U+FFFD.
static inline void hl_json_add_string(cJSON *object, const char *name, const char *value)
{
    struct hl_text text = {0};
    for (const unsigned char *at = (const unsigned char *)value; *at != '\0';) {
        int length = hl_json_utf8(at);
        if (length > 0)
            hl_text_add_bytes(&text, (const char *)at, (size_t)length);
        else
            hl_text_add(&text, "\xef\xbf\xbd");
        at += length > 0 ? length : 1;
    }
    cJSON_AddStringToObject(object, name, hl_text_string(&text));
    hl_text_free(&text);
}

static inline void hl_json_print(const cJSON *json)
{
    char *text = hl_alloc_check(cJSON_Print(json));
    puts(text);
    cJSON_free(text);
}

#endif
