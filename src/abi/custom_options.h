// SPDX-License-Identifier: Apache-2.0
// Options of custom operators: named numbers in a FlexBuffers map. A name that is absent, or whose
// value is no number, gives the fallback; so does every name where the options are no map at all.
#ifndef HALITE_ABI_CUSTOM_OPTIONS_H
#define HALITE_ABI_CUSTOM_OPTIONS_H

#include "abi/flexbuffer.h"

// Numbers beyond int are held at its ends.
static inline int hl_option_int(const struct hl_flex *map, const char *name, int fallback)
{
    struct hl_flex value;
    int64_t number = fallback;
    if (hl_flex_find(map, name, &value)) hl_flex_integer(&value, &number);
    return (int)(number < INT32_MIN ? INT32_MIN : number > INT32_MAX ? INT32_MAX : number);
}

static inline float hl_option_float(const struct hl_flex *map, const char *name, float fallback)
{
    struct hl_flex value;
    double number = (double)fallback;
    if (hl_flex_find(map, name, &value)) hl_flex_float(&value, &number);
    return (float)number;
}

static inline bool hl_option_bool(const struct hl_flex *map, const char *name, bool fallback)
{
    struct hl_flex value;
    bool truth = fallback;
    if (hl_flex_find(map, name, &value)) hl_flex_bool(&value, &truth);
    return truth;
}

// An empty map where the bytes are none.
static inline struct hl_flex hl_options_map(const void *options, size_t size)
{
    struct hl_flex map = {0};
    if (!options || !hl_flex_root(options, size, &map)) return (struct hl_flex){0};
    return map;
}

#endif
