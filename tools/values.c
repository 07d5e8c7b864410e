// SPDX-License-Identifier: Apache-2.0
// One loop per task over the views of element.h.
#include "values.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "element.h"

static bool is_number(TfLiteType type, struct hl_element_type *how)
{
    *how = hl_element_type(type);
    return how->view != HL_ELEMENT_NONE && how->view != HL_ELEMENT_STRING;
}

static double number_at(TfLiteType type, struct hl_element_type how, const void *data, int64_t i)
{
    switch (how.view) {
    case HL_ELEMENT_SIGNED: return (double)hl_element_signed(data, how.bits, i);
    case HL_ELEMENT_UNSIGNED: return (double)hl_element_bits(data, how.bits, i);
    default: return hl_element_real(type, data, i);
    }
}

double hl_values_at(TfLiteType type, const void *data, int64_t i)
{
    return number_at(type, hl_element_type(type), data, i);
}

struct hl_values_summary hl_values_summarize(TfLiteType type, const void *data, int64_t count)
{
    struct hl_values_summary summary = {.first_nan = -1};
    struct hl_element_type how;
    if (!is_number(type, &how) || data == NULL) return summary;
    summary.count = how.view == HL_ELEMENT_COMPLEX ? 2 * count : count;
    double sum = 0;
    int64_t finite = 0;
    for (int64_t i = 0; i < summary.count; i++) {
        double value = number_at(type, how, data, i);
        if (isnan(value) && summary.nans++ == 0) summary.first_nan = i;
        if (isinf(value)) summary.infinities++;
        if (!isfinite(value)) continue;
        if (finite == 0 || value < summary.min) summary.min = value;
        if (finite == 0 || value > summary.max) summary.max = value;
        sum += value;
        finite++;
    }
    if (finite > 0) summary.mean = sum / (double)finite;
    return summary;
}

// splitmix64: a sequence of its own for every seed, good enough to fill tensors with.
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

bool hl_values_random(TfLiteType type, uint64_t seed, void *data, int64_t count)
{
    struct hl_element_type how;
    if (!is_number(type, &how)) return false;
    uint64_t state = seed;
    for (int64_t i = 0; i < (how.view == HL_ELEMENT_COMPLEX ? 2 * count : count); i++) {
        uint64_t bits = next_random(&state) >> 11; // 53 of them
        if (how.view == HL_ELEMENT_REAL && how.bits == 8)
            hl_element_set_bits(data, 8, i,
                                bits % 0x38 | (bits >> 20 & 0x80)); // below 1 in both kinds
        else if (how.view == HL_ELEMENT_REAL || how.view == HL_ELEMENT_COMPLEX)
            hl_element_set_real(type, data, i, (double)bits * 0x1p-52 - 1);
        else
            hl_element_set_bits(data, how.bits, i, type == kTfLiteBool ? bits & 1 : how.bits > 16 ? bits % 10 : bits);
    }
    return true;
}

static bool parse_integer(struct hl_element_type how, const char *word, void *data, int64_t i)
{
    char *end;
    errno = 0;
    bool negative = *word == '-';
    if (how.view == HL_ELEMENT_SIGNED) {
        long long value = strtoll(word, &end, 10);
        int64_t limit = how.bits == 64 ? INT64_MAX : (INT64_C(1) << (how.bits - 1)) - 1;
        if (errno != 0 || value > limit || value < -limit - 1) return false;
        hl_element_set_bits(data, how.bits, i, (uint64_t)(int64_t)value);
    } else {
        unsigned long long value = strtoull(word, &end, 10);
        uint64_t limit = how.bits == 64 ? UINT64_MAX : (UINT64_C(1) << how.bits) - 1;
        if (errno != 0 || value > limit || (negative && value != 0)) return false;
        hl_element_set_bits(data, how.bits, i, value);
    }
    return *end == '\0' && end != word;
}

static bool parse_real(TfLiteType type, const char *word, void *data, int64_t i)
{
    char *end;
    double value = strtod(word, &end);
    if (end == word || *end != '\0') return false;
    hl_element_set_real(type, data, i, value);
    return true;
}

bool hl_values_parse(TfLiteType type, const char *text, void *data, int64_t count, struct hl_text *error)
{
    struct hl_element_type how;
    if (!is_number(type, &how) || (how.view == HL_ELEMENT_REAL && how.bits == 8)) {
        hl_text_add(error, "values of this type cannot be read from text");
        return false;
    }
    int64_t numbers = how.view == HL_ELEMENT_COMPLEX ? 2 * count : count, found = 0;
    static const char between[] = " \t\r\n\f\v,;";
    for (const char *at = text + strspn(text, between); *at != '\0'; at += strspn(at, between)) {
        char word[64];
        size_t length = strcspn(at, between);
        snprintf(word, sizeof word, "%.*s", (int)(length < 63 ? length : 63), at);
        at += length;
        if (found == numbers) {
            hl_text_add(error, "holds more than the %" PRId64 " numbers that the tensor takes", numbers);
            return false;
        }
        bool integer = how.view == HL_ELEMENT_SIGNED || how.view == HL_ELEMENT_UNSIGNED;
        bool ok =
            length < 63 && (integer ? parse_integer(how, word, data, found) : parse_real(type, word, data, found));
        if (!ok) {
            hl_text_add(error, "'%s' (number %" PRId64 ") is no value for the tensor's type", word, found + 1);
            return false;
        }
        found++;
    }
    if (found == numbers) return true;
    hl_text_add(error, "holds %" PRId64 " numbers where the tensor takes %" PRId64, found, numbers);
    return false;
}

void hl_values_add(struct hl_text *text, TfLiteType type, const void *data, int64_t i)
{
    struct hl_element_type how = hl_element_type(type);
    const char *string;
    size_t length;
    switch (how.view) {
    case HL_ELEMENT_SIGNED: hl_text_add(text, "%" PRId64, hl_element_signed(data, how.bits, i)); break;
    case HL_ELEMENT_UNSIGNED: hl_text_add(text, "%" PRIu64, hl_element_bits(data, how.bits, i)); break;
    case HL_ELEMENT_REAL: hl_text_add(text, "%.6g", hl_element_real(type, data, i)); break;
    case HL_ELEMENT_COMPLEX:
        hl_text_add(text, "%.6g%+.6gi", hl_element_real(type, data, 2 * i), hl_element_real(type, data, 2 * i + 1));
        break;
    case HL_ELEMENT_STRING:
        string = hl_values_string(data, i, &length);
        hl_text_add(text, "\"");
        hl_text_add_escaped(text, string, length);
        hl_text_add(text, "\"");
        break;
    case HL_ELEMENT_NONE: hl_text_add(text, "?"); break;
    }
}

int64_t hl_values_strings(const void *data, size_t bytes)
{
    if (data == NULL || bytes < 8) return data != NULL && bytes >= 4 && hl_element_signed(data, 32, 0) == 0 ? 0 : -1;
    int64_t count = hl_element_signed(data, 32, 0);
    if (count < 0 || (uint64_t)count > (bytes - 8) / 4) return -1;
    int64_t from = 4 * (count + 2);
    for (int64_t i = 0; i <= count; i++) {
        int64_t offset = hl_element_signed(data, 32, 1 + i);
        if (offset < from || (uint64_t)offset > bytes) return -1;
        from = offset;
    }
    return count;
}

const char *hl_values_string(const void *data, int64_t i, size_t *length)
{
    int64_t from = hl_element_signed(data, 32, 1 + i), to = hl_element_signed(data, 32, 2 + i);
    *length = (size_t)(to - from);
    return (const char *)data + from;
}

static void add_word(struct hl_text *packed, size_t value)
{
    unsigned char bytes[4];
    hl_element_set_bits(bytes, 32, 0, value);
    hl_text_add_bytes(packed, (const char *)bytes, sizeof bytes);
}

static void pack(const char *const *strings, const size_t *lengths, int count, struct hl_text *packed)
{
    size_t offset = 4 * ((size_t)count + 2);
    add_word(packed, (size_t)count);
    add_word(packed, offset);
    for (int i = 0; i < count; i++) add_word(packed, offset += lengths[i]);
    for (int i = 0; i < count; i++) hl_text_add_bytes(packed, strings[i], lengths[i]);
}

void hl_values_pack_string(const char *string, int count, struct hl_text *packed)
{
    const char **strings = hl_alloc((size_t)count, sizeof *strings);
    size_t *lengths = hl_alloc((size_t)count, sizeof *lengths);
    for (int i = 0; i < count; i++) {
        strings[i] = string;
        lengths[i] = strlen(string);
    }
    pack(strings, lengths, count, packed);
    free(strings);
    free(lengths);
}

int hl_values_pack_parts(const char *text, size_t length, int end, struct hl_text *packed)
{
    const char **strings = NULL, *at = text, *behind = text + length;
    size_t *lengths = NULL;
    int count = 0;
    while (at < behind) {
        const char *stop = end >= 0 ? memchr(at, end, (size_t)(behind - at)) : NULL;
        strings = hl_alloc_grow(strings, (size_t)count + 1, sizeof *strings);
        lengths = hl_alloc_grow(lengths, (size_t)count + 1, sizeof *lengths);
        strings[count] = at;
        lengths[count++] = (size_t)((stop != NULL ? stop : behind) - at);
        at = stop != NULL ? stop + 1 : behind;
    }
    pack(strings, lengths, count, packed);
    free(strings);
    free(lengths);
    return count;
}
