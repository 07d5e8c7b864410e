// SPDX-License-Identifier: Apache-2.0
// This reads FlexBuffers, the format without schema of custom operators' options and of composites' attributes. In:
// bytes of any origin, at any address. Out: values. Every function returns false, and leaves its result alone, where
// the bytes are wrong or of another kind. A caller therefore sets its default first:
//
//     struct hl_flex options, value;
//     int64_t classes = 10;
//     if (hl_flex_root(buffer, length, &options) && hl_flex_find(&options, "num_classes", &value))
//         hl_flex_integer(&value, &classes);
#ifndef HALITE_ABI_FLEXBUFFER_H
#define HALITE_ABI_FLEXBUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// This is a value that was checked to lie inside a buffer. It is valid as long as the buffer's bytes are.
struct hl_flex {
    const uint8_t *bytes; // the whole buffer
    size_t size;
    size_t at;     // position of the value, of the first element, or of the first character
    size_t count;  // elements of a vector or map, characters of a string or blob
    uint8_t type;  // enum flex_type of flexbuffer.c
    uint8_t width; // bytes of the value, or of each element
};

bool hl_flex_root(const void *bytes, size_t size, struct hl_flex *root);

// Finds the value of a key in a map. The time is linear in the size of the map.
bool hl_flex_find(const struct hl_flex *map, const char *key, struct hl_flex *value);
// Gives an element of a vector of any kind, or a value of a map in the order of its keys. value may be vector itself.
bool hl_flex_element(const struct hl_flex *vector, size_t index, struct hl_flex *value);
bool hl_flex_is_map(const struct hl_flex *value);
bool hl_flex_is_vector(const struct hl_flex *value); // maps are vectors too

// Numbers and booleans convert into each other; an integer from a float drops the fraction.
bool hl_flex_integer(const struct hl_flex *value, int64_t *integer);
bool hl_flex_float(const struct hl_flex *value, double *number);
bool hl_flex_bool(const struct hl_flex *value, bool *truth);
// Strings and keys end with a zero byte, and may hold others; a blob need not end with one.
bool hl_flex_string(const struct hl_flex *value, const char **text, size_t *length);
bool hl_flex_blob(const struct hl_flex *value, const void **data, size_t *size);

#endif
