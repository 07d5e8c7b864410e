// SPDX-License-Identifier: Apache-2.0
// The values of one tensor as people meet them: made up at random, read from text, printed, summed up. String tensors
// are int32 count, count + 1 int32 offsets from the start, characters.
#ifndef HALITE_TOOLS_VALUES_H
#define HALITE_TOOLS_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/lite/c/c_api_types.h"
#include "text.h"

struct hl_values_summary {
    int64_t count; // numbers: two for a complex element
    int64_t nans, infinities;
    int64_t first_nan;     // -1: none
    double min, max, mean; // of the finite ones
};

// Numbers only; a summary of zeros for other types.
struct hl_values_summary hl_values_summarize(TfLiteType type, const void *data, int64_t count);

// Number i, as hl_values_summarize counts them.
double hl_values_at(TfLiteType type, const void *data, int64_t i);

// Fills `count` elements, the same for the same seed on every machine: reals from -1 to 1, 8 and 16-bit integers from
// their whole range, larger integers from 0 to 9 (they are often indices), bools 0 or 1. False for types without
// numbers.
bool hl_values_random(TfLiteType type, uint64_t seed, void *data, int64_t count);

// Reads exactly `count` numbers, separated by blanks or commas. False on failure, with the reason in `error`.
bool hl_values_parse(TfLiteType type, const char *text, void *data, int64_t count, struct hl_text *error);

// Adds element i as text; element i of a string tensor in quotes.
void hl_values_add(struct hl_text *text, TfLiteType type, const void *data, int64_t i);

// ---- string tensors -----------------------------------------------------------------------------

// Number of strings, or -1 where the bytes are no string tensor.
int64_t hl_values_strings(const void *data, size_t bytes);
// String i of a tensor that the above took. Lent.
const char *hl_values_string(const void *data, int64_t i, size_t *length);
// Makes a string tensor's bytes: from the same string `count` times, or from the parts of a text that this byte ends
// (the last part may end without; -1: it is one part), whose number is returned.
enum { HL_VALUES_MOST_STRINGS = 1000000 };
void hl_values_pack_string(const char *string, int count, struct hl_text *packed);
int hl_values_pack_parts(const char *text, size_t length, int end, struct hl_text *packed);

#endif
