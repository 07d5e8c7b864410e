// SPDX-License-Identifier: Apache-2.0
// See flex_map.h. Everything is four bytes wide: keys, lists of numbers, the keys' places, the map, and what it is.
#include "support/flex_map.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct flex {
    unsigned char *bytes;
    int size;
};

static int add(struct flex *flex, int32_t number)
{
    if (flex->size + 4 > FLEX_MAP_BYTES) abort();
    memcpy(flex->bytes + flex->size, &number, 4);
    flex->size += 4;
    return flex->size - 4;
}

// The number at the beginning of the text, which moves behind it: an integer, or the bits of a float.
static int32_t read_number(const char **text, bool *is_float)
{
    char *end, *real_end;
    int32_t number = (int32_t)strtol(*text, &end, 10);
    float real = strtof(*text, &real_end);
    *is_float = real_end > end;
    if (*is_float) memcpy(&number, &real, sizeof number);
    if (real_end == *text) abort();
    *text = real_end;
    return number;
}

size_t flex_map_write(const char *text, unsigned char *bytes)
{
    enum { INTEGER = 1 * 4 + 2, FLOAT = 3 * 4 + 2, INTEGERS = 11 * 4 + 2, MAP = 9 * 4 + 2 };
    struct flex flex = {.bytes = bytes};
    int keys[FLEX_MAP_NUMBERS], count = 0;
    int32_t values[FLEX_MAP_NUMBERS];
    unsigned char kinds[FLEX_MAP_NUMBERS];
    for (const char *at = text; *at; at += *at == ' ', count++) {
        size_t length = strcspn(at, "=");
        if (count == FLEX_MAP_NUMBERS || flex.size + (int)length >= FLEX_MAP_BYTES) abort();
        keys[count] = flex.size;
        memcpy(flex.bytes + flex.size, at, length);
        flex.bytes[flex.size + (int)length] = 0;
        flex.size += (int)length + 1;
        at += length + 1;
        int32_t numbers[FLEX_MAP_NUMBERS];
        int n = 0;
        bool is_float = false;
        do {
            if (n == FLEX_MAP_NUMBERS) abort();
            numbers[n++] = read_number(&at, &is_float);
        } while (*at == ',' && at++);
        kinds[count] = n > 1 ? INTEGERS : is_float ? FLOAT : INTEGER;
        values[count] = n == 1 ? numbers[0] : add(&flex, n) + 4;
        for (int i = 0; i < n && n > 1; i++) add(&flex, numbers[i]);
    }
    int places = add(&flex, count) + 4;
    for (int i = 0; i < count; i++) add(&flex, flex.size - keys[i]);
    add(&flex, flex.size - places);
    add(&flex, 4);
    int map = add(&flex, count) + 4;
    for (int i = 0; i < count; i++) add(&flex, kinds[i] == INTEGERS ? flex.size - values[i] : values[i]);
    if (flex.size + count + 6 > FLEX_MAP_BYTES) abort();
    memcpy(flex.bytes + flex.size, kinds, (size_t)count);
    flex.size += count;
    add(&flex, flex.size - map);
    flex.bytes[flex.size++] = MAP;
    flex.bytes[flex.size++] = 4;
    return (size_t)flex.size;
}
