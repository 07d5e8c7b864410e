// SPDX-License-Identifier: Apache-2.0
// A FlexBuffer is read from its end: the last byte is the width of the root, the byte before it the
// root's type. A type byte holds the type and, in its low two bits, the logarithm of a width. Small
// values lie in place; everything else is a distance back to a value that lies earlier, as wide as
// its vector says. A vector has its length before it and, if its elements differ in type, their
// type bytes behind it; a map is such a vector with a vector of sorted keys.
#include "abi/flexbuffer.h"

#include <string.h>

enum flex_type {
    FLEX_NULL = 0,
    FLEX_INT = 1,
    FLEX_UINT = 2,
    FLEX_FLOAT = 3,
    FLEX_KEY = 4,
    FLEX_STRING = 5,
    FLEX_INDIRECT_INT = 6,
    FLEX_INDIRECT_UINT = 7,
    FLEX_INDIRECT_FLOAT = 8,
    FLEX_MAP = 9,
    FLEX_VECTOR = 10,
    FLEX_VECTOR_INT = 11, // to FLEX_VECTOR_STRING: elements of type FLEX_INT to FLEX_STRING
    FLEX_VECTOR_STRING = 15,
    FLEX_VECTOR_INT2 = 16, // to FLEX_VECTOR_FLOAT4: 2, 3 and 4 elements of FLEX_INT to FLEX_FLOAT,
                           // without a length
    FLEX_VECTOR_FLOAT4 = 24,
    FLEX_BLOB = 25,
    FLEX_BOOL = 26,
    FLEX_VECTOR_BOOL = 36
};

static bool is_width(uint64_t width)
{
    return width == 1 || width == 2 || width == 4 || width == 8;
}

static bool load_unsigned(const uint8_t *bytes, size_t size, size_t at, unsigned width, uint64_t *value)
{
    if (at > size || width > size - at) return false;
    *value = 0;
    for (unsigned i = 0; i < width; i++) *value |= (uint64_t)bytes[at + i] << 8 * i;
    return true;
}

static bool step_back(const uint8_t *bytes, size_t size, size_t at, unsigned width, size_t *target)
{
    uint64_t distance;
    if (!load_unsigned(bytes, size, at, width, &distance) || distance == 0 || distance > at) return false;
    *target = at - (size_t)distance;
    return true;
}

static bool has_type_bytes(unsigned type)
{
    return type == FLEX_VECTOR || type == FLEX_MAP;
}

static bool is_fixed_vector(unsigned type)
{
    return type >= FLEX_VECTOR_INT2 && type <= FLEX_VECTOR_FLOAT4;
}

// The value whose own bytes, or distance, lie at `at` and take parent_width bytes.
static bool resolve(const uint8_t *bytes, size_t size, size_t at, unsigned parent_width, unsigned packed_type,
                    struct hl_flex *value)
{
    struct hl_flex v = {.bytes = bytes, .size = size, .at = at};
    v.type = (uint8_t)(packed_type >> 2);
    v.width = (uint8_t)(1u << (packed_type & 3));
    switch (v.type) {
    case FLEX_NULL:
    case FLEX_INT:
    case FLEX_UINT:
    case FLEX_FLOAT:
    case FLEX_BOOL:
        v.width = (uint8_t)parent_width;
        if (at > size || parent_width > size - at) return false;
        *value = v;
        return true;
    default: break;
    }
    if (!step_back(bytes, size, at, parent_width, &v.at)) return false;

    size_t room = size - v.at;
    uint64_t count = 1;
    switch (v.type) {
    case FLEX_INDIRECT_INT:
    case FLEX_INDIRECT_UINT:
    case FLEX_INDIRECT_FLOAT:
        if (v.width > room) return false;
        break;
    case FLEX_KEY: {
        const uint8_t *end = memchr(bytes + v.at, 0, room);
        if (!end) return false;
        count = (uint64_t)(end - (bytes + v.at));
        break;
    }
    case FLEX_STRING:
    case FLEX_BLOB:
        if (v.at < v.width || !load_unsigned(bytes, size, v.at - v.width, v.width, &count) || count > room)
            return false;
        if (v.type == FLEX_STRING && (count == room || bytes[v.at + count] != 0)) return false;
        break;
    default:
        if (is_fixed_vector(v.type))
            count = 2 + (v.type - FLEX_VECTOR_INT2) / 3u;
        else if ((v.type < FLEX_MAP || v.type > FLEX_VECTOR_STRING) && v.type != FLEX_VECTOR_BOOL)
            return false;
        else if (v.at < v.width || !load_unsigned(bytes, size, v.at - v.width, v.width, &count))
            return false;
        if (count > room / (v.width + (has_type_bytes(v.type) ? 1u : 0u))) return false;
        break;
    }
    v.count = (size_t)count;
    *value = v;
    return true;
}

bool hl_flex_root(const void *bytes, size_t size, struct hl_flex *root)
{
    const uint8_t *b = bytes;
    if (!b || size < 3 || !is_width(b[size - 1]) || size < 2u + b[size - 1]) return false;
    return resolve(b, size, size - 2 - b[size - 1], b[size - 1], b[size - 2], root);
}

bool hl_flex_is_map(const struct hl_flex *value)
{
    return value->type == FLEX_MAP;
}

bool hl_flex_is_vector(const struct hl_flex *value)
{
    return (value->type >= FLEX_MAP && value->type <= FLEX_VECTOR_FLOAT4) || value->type == FLEX_VECTOR_BOOL;
}

bool hl_flex_element(const struct hl_flex *vector, size_t index, struct hl_flex *value)
{
    if (!hl_flex_is_vector(vector) || index >= vector->count) return false;
    unsigned packed;
    if (has_type_bytes(vector->type))
        packed = vector->bytes[vector->at + vector->count * vector->width + index];
    else if (is_fixed_vector(vector->type))
        packed = (FLEX_INT + (vector->type - FLEX_VECTOR_INT2) % 3u) << 2;
    else if (vector->type == FLEX_VECTOR_BOOL)
        packed = FLEX_BOOL << 2;
    else
        packed = (FLEX_INT + vector->type - FLEX_VECTOR_INT) << 2;
    return resolve(vector->bytes, vector->size, vector->at + index * vector->width, vector->width, packed, value);
}

bool hl_flex_find(const struct hl_flex *map, const char *key, struct hl_flex *value)
{
    // Before a map's length lie the distance to its keys and the width of their distances.
    size_t keys, width = map->width, key_size = strlen(key) + 1;
    uint64_t keys_width, keys_count;
    if (map->type != FLEX_MAP || map->at < 3 * width) return false;
    if (!step_back(map->bytes, map->size, map->at - 3 * width, map->width, &keys) ||
        !load_unsigned(map->bytes, map->size, map->at - 2 * width, map->width, &keys_width) || !is_width(keys_width) ||
        keys < keys_width ||
        !load_unsigned(map->bytes, map->size, keys - (size_t)keys_width, (unsigned)keys_width, &keys_count) ||
        keys_count != map->count)
        return false;
    for (size_t i = 0; i < map->count; i++) {
        size_t name;
        if (i > (map->size - keys) / keys_width ||
            !step_back(map->bytes, map->size, keys + i * (size_t)keys_width, (unsigned)keys_width, &name))
            return false;
        if (key_size <= map->size - name && memcmp(map->bytes + name, key, key_size) == 0)
            return hl_flex_element(map, i, value);
    }
    return false;
}

// ---- Scalars

enum number { NO_NUMBER, SIGNED, UNSIGNED, FLOATING };

static enum number kind_of(const struct hl_flex *value)
{
    switch (value->type) {
    case FLEX_INT:
    case FLEX_INDIRECT_INT: return SIGNED;
    case FLEX_UINT:
    case FLEX_INDIRECT_UINT:
    case FLEX_BOOL: return UNSIGNED;
    case FLEX_FLOAT:
    case FLEX_INDIRECT_FLOAT: return value->width == 4 || value->width == 8 ? FLOATING : NO_NUMBER;
    default: return NO_NUMBER;
    }
}

static uint64_t unsigned_of(const struct hl_flex *value)
{
    uint64_t bits = 0;
    load_unsigned(value->bytes, value->size, value->at, value->width, &bits);
    return bits;
}

static int64_t signed_of(const struct hl_flex *value)
{
    uint64_t bits = unsigned_of(value);
    unsigned unused = 64 - 8u * value->width;
    uint64_t sign = UINT64_C(1) << (63 - unused);
    int64_t integer;
    bits = (bits ^ sign) - sign;
    memcpy(&integer, &bits, sizeof integer);
    return integer;
}

static double double_of(const struct hl_flex *value)
{
    float single;
    double number;
    if (value->width == 4) {
        memcpy(&single, value->bytes + value->at, sizeof single);
        return single;
    }
    memcpy(&number, value->bytes + value->at, sizeof number);
    return number;
}

bool hl_flex_integer(const struct hl_flex *value, int64_t *integer)
{
    switch (kind_of(value)) {
    case SIGNED: *integer = signed_of(value); return true;
    case UNSIGNED:
        if (unsigned_of(value) > INT64_MAX) return false;
        *integer = (int64_t)unsigned_of(value);
        return true;
    case FLOATING: {
        double number = double_of(value);
        if (!(number > -9223372036854775808.0 && number < 9223372036854775808.0)) return false; // NaN too
        *integer = (int64_t)number;
        return true;
    }
    case NO_NUMBER: break;
    }
    return false;
}

bool hl_flex_float(const struct hl_flex *value, double *number)
{
    switch (kind_of(value)) {
    case SIGNED: *number = (double)signed_of(value); return true;
    case UNSIGNED: *number = (double)unsigned_of(value); return true;
    case FLOATING: *number = double_of(value); return true;
    case NO_NUMBER: break;
    }
    return false;
}

bool hl_flex_bool(const struct hl_flex *value, bool *truth)
{
    double number;
    if (!hl_flex_float(value, &number)) return false;
    *truth = number != 0;
    return true;
}

bool hl_flex_string(const struct hl_flex *value, const char **text, size_t *length)
{
    if (value->type != FLEX_STRING && value->type != FLEX_KEY) return false;
    *text = (const char *)value->bytes + value->at;
    *length = value->count;
    return true;
}

bool hl_flex_blob(const struct hl_flex *value, const void **data, size_t *size)
{
    if (value->type != FLEX_BLOB && value->type != FLEX_STRING) return false;
    *data = value->bytes + value->at;
    *size = value->count;
    return true;
}
