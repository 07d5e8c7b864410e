// SPDX-License-Identifier: Apache-2.0
// Element by element comparison of two buffers of one type, through the views of tools/element.h.
#include "compare.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "../../tools/element.h"

double golden_largest(TfLiteType type, int64_t elements, const void *data)
{
    enum hl_element_view view = hl_element_type(type).view;
    if (view != HL_ELEMENT_REAL && view != HL_ELEMENT_COMPLEX) return 0;
    double largest = 0;
    for (int64_t i = 0; i < elements * (view == HL_ELEMENT_COMPLEX ? 2 : 1); i++) {
        double value = fabs(hl_element_real(type, data, i));
        if (isfinite(value) && value > largest) largest = value;
    }
    return largest;
}

// Does one part of a number fit? scale is the magnitude the relative bound is taken of.
static bool float_fits(double expected, double got, double scale, const struct golden_bound *bound,
                       struct golden_difference *difference)
{
    if (isnan(expected) || isnan(got)) return isnan(expected) && isnan(got);
    if (isinf(expected) || isinf(got)) return expected == got;
    double off = fabs(got - expected);
    if (off == 0) return true;
    double allowed = fmax(bound->relative * fmax(1, scale), bound->absolute);
    if (off > difference->largest) difference->largest = off;
    double part = allowed > 0 ? off / allowed : INFINITY;
    if (part > difference->worst) difference->worst = part;
    return off <= allowed;
}

static void add_number(struct hl_text *text, TfLiteType type, const void *data, int64_t i)
{
    struct hl_element_type how = hl_element_type(type);
    switch (how.view) {
    case HL_ELEMENT_SIGNED: hl_text_add(text, "%" PRId64, hl_element_signed(data, how.bits, i)); break;
    case HL_ELEMENT_UNSIGNED: hl_text_add(text, "%" PRIu64, hl_element_bits(data, how.bits, i)); break;
    case HL_ELEMENT_REAL: hl_text_add(text, "%.9g", hl_element_real(type, data, i)); break;
    default:
        hl_text_add(text, "%.9g%+.9gi", hl_element_real(type, data, 2 * i), hl_element_real(type, data, 2 * i + 1));
    }
}

static double integer(struct hl_element_type how, const void *data, int64_t i)
{
    if (how.view == HL_ELEMENT_UNSIGNED) return (double)hl_element_bits(data, how.bits, i);
    return (double)hl_element_signed(data, how.bits, i);
}

static bool number_fits(TfLiteType type, const void *expected, const void *got, int64_t i,
                        const struct golden_bound *bound, struct golden_difference *difference)
{
    struct hl_element_type how = hl_element_type(type);
    if (how.view == HL_ELEMENT_SIGNED || how.view == HL_ELEMENT_UNSIGNED) {
        if (hl_element_bits(expected, how.bits, i) == hl_element_bits(got, how.bits, i)) return true;
        double off = fabs(integer(how, expected, i) - integer(how, got, i));
        difference->largest = fmax(difference->largest, off);
        return off <= bound->steps;
    }
    if (how.view == HL_ELEMENT_REAL) {
        double e = hl_element_real(type, expected, i);
        return float_fits(e, hl_element_real(type, got, i), fabs(e), bound, difference);
    }
    // A complex number's rounding error goes with its modulus, not with the part at hand.
    double real = hl_element_real(type, expected, 2 * i), got_real = hl_element_real(type, got, 2 * i);
    double imaginary = hl_element_real(type, expected, 2 * i + 1);
    double got_imaginary = hl_element_real(type, got, 2 * i + 1);
    double modulus = hypot(real, imaginary);
    if (!isfinite(modulus)) modulus = 0;
    bool fits = float_fits(real, got_real, modulus, bound, difference);
    return float_fits(imaginary, got_imaginary, modulus, bound, difference) && fits;
}

// ---- strings: int32 count, count + 1 int32 offsets, characters ----------------------------------

static int64_t string_word(const unsigned char *data, int64_t i)
{
    return hl_element_signed(data, 32, i);
}

// What is wrong with a string tensor's bytes, or NULL.
static const char *strings_damage(const unsigned char *data, size_t bytes)
{
    if (bytes < 4 || data == NULL) return "too short for a count of strings";
    int64_t count = string_word(data, 0);
    if (count < 0 || (uint64_t)count > (bytes - 4) / 4 || bytes < 4 + 4 * ((size_t)count + 1))
        return "count of strings does not fit the bytes";
    for (int64_t i = 0; i < count; i++) {
        int64_t from = string_word(data, 1 + i), to = string_word(data, 2 + i);
        if (from < 0 || to < from || (uint64_t)to > bytes) return "offset of a string outside the bytes";
    }
    return NULL;
}

static void string_at(const unsigned char *data, int64_t i, const char **start, size_t *length)
{
    int64_t from = string_word(data, 1 + i), to = string_word(data, 2 + i);
    *start = (const char *)data + from;
    *length = (size_t)(to - from);
}

static void add_string(struct hl_text *text, const unsigned char *data, int64_t i)
{
    const char *start;
    size_t length;
    string_at(data, i, &start, &length);
    hl_text_add(text, "\"");
    hl_text_add_escaped(text, start, length < 60 ? length : 60);
    hl_text_add(text, length < 60 ? "\"" : "...\"");
}

static bool compare_strings(const unsigned char *expected, size_t expected_bytes, const unsigned char *got,
                            size_t got_bytes, struct golden_difference *difference)
{
    const char *damage = strings_damage(expected, expected_bytes);
    if (damage != NULL) {
        hl_text_add(&difference->got, "expected bytes: %s", damage);
        return false;
    }
    damage = strings_damage(got, got_bytes);
    if (damage != NULL) {
        hl_text_add(&difference->got, "%s", damage);
        return false;
    }
    int64_t count = string_word(expected, 0);
    if (string_word(got, 0) != count) {
        hl_text_add(&difference->got, "%" PRId64 " strings where %" PRId64 " are expected", string_word(got, 0), count);
        return false;
    }
    difference->count = count;
    for (int64_t i = 0; i < count; i++) {
        const char *a, *b;
        size_t a_length, b_length;
        string_at(expected, i, &a, &a_length);
        string_at(got, i, &b, &b_length);
        if (a_length == b_length && memcmp(a, b, a_length) == 0) continue;
        if (difference->wrong++ > 0) continue;
        difference->first = i;
        add_string(&difference->expected, expected, i);
        add_string(&difference->got, got, i);
    }
    return true;
}

bool golden_compare(TfLiteType type, int64_t elements, const void *expected, size_t expected_bytes, const void *got,
                    size_t got_bytes, const struct golden_bound *bound, struct golden_difference *difference)
{
    *difference = (struct golden_difference){.count = elements, .first = -1};
    if (type == kTfLiteString) return compare_strings(expected, expected_bytes, got, got_bytes, difference);
    size_t needed = hl_element_bytes(type, elements);
    if (hl_element_type(type).view == HL_ELEMENT_NONE) {
        hl_text_add(&difference->got, "values of this type cannot be compared");
        return false;
    }
    if (expected_bytes != needed || got_bytes < needed || (needed > 0 && got == NULL)) {
        hl_text_add(&difference->got, "%zu bytes where %zu are expected", got == NULL ? 0 : got_bytes, needed);
        return false;
    }
    for (int64_t i = 0; i < elements; i++) {
        if (number_fits(type, expected, got, i, bound, difference)) continue;
        if (difference->wrong++ > 0) continue;
        difference->first = i;
        add_number(&difference->expected, type, expected, i);
        add_number(&difference->got, type, got, i);
    }
    return true;
}

void golden_difference_free(struct golden_difference *difference)
{
    hl_text_free(&difference->expected);
    hl_text_free(&difference->got);
}
