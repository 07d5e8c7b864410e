// SPDX-License-Identifier: Apache-2.0
// Is an output what the official runtime gave? The rule is that of the golden cases' README: integers, bools and
// strings bit for bit, NaN equal to NaN, floats within a bound.
#ifndef HALITE_GOLDEN_COMPARE_H
#define HALITE_GOLDEN_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../tools/text.h"
#include "manifest.h"
#include "tensorflow/lite/c/c_api_types.h"

// How far a float may be off: relative * max(1, |expected|), or absolute, whichever is larger. And an integer: steps.
struct golden_bound {
    double relative;
    double absolute;
    double steps;
};

struct golden_difference {
    int64_t count;                // elements
    int64_t wrong;                // of them outside the bound
    int64_t first;                // index of the first wrong one
    double largest;               // difference of finite floats or of integers, right ones included
    double worst;                 // the same as a part of what its bound allows; above 1: wrong
    struct hl_text expected, got; // the first wrong one, as text
};

// Both buffers hold a tensor of this type with `elements` elements (a string tensor's element count is in its bytes).
// False where the buffers are too small for that or, for strings, damaged; `difference->got` then says what is wrong.
bool golden_compare(TfLiteType type, int64_t elements, const void *expected, size_t expected_bytes, const void *got,
                    size_t got_bytes, const struct golden_bound *bound, struct golden_difference *difference);
void golden_difference_free(struct golden_difference *difference);

// Largest finite magnitude in a tensor of floats, 0 for other types.
double golden_largest(TfLiteType type, int64_t elements, const void *data);

#endif
