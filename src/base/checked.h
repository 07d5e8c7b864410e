// SPDX-License-Identifier: Apache-2.0
// Arithmetic that says when it does not fit. Every size that comes from a file, an option or a tensor's value is
// computed with these; each returns false and leaves *result alone when the exact value does not fit its type.
#ifndef HALITE_BASE_CHECKED_H
#define HALITE_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The longest dimension of a tensor. Counters that are ints and step by blocks of at most 4096 do not wrap after the
// last block.
enum { HL_MAX_DIMENSION = INT32_MAX - 4096 };

static inline bool hl_add_size(size_t a, size_t b, size_t *result)
{
    if (a > SIZE_MAX - b) return false;
    *result = a + b;
    return true;
}

static inline bool hl_mul_size(size_t a, size_t b, size_t *result)
{
    if (b != 0 && a > SIZE_MAX / b) return false;
    *result = a * b;
    return true;
}

static inline bool hl_add_i64(int64_t a, int64_t b, int64_t *result)
{
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) return false;
    *result = a + b;
    return true;
}

static inline bool hl_mul_i64(int64_t a, int64_t b, int64_t *result)
{
    if (a == 0 || b == 0) {
        *result = 0;
        return true;
    }
    if ((a == -1 && b == INT64_MIN) || (b == -1 && a == INT64_MIN)) return false;
    if (a > 0 ? (b > 0 ? a > INT64_MAX / b : b < INT64_MIN / a) : (b > 0 ? a < INT64_MIN / b : b < INT64_MAX / a))
        return false;
    *result = a * b;
    return true;
}

// Narrowing to the int of the ABI's shapes.
static inline bool hl_to_int(int64_t value, int *result)
{
    if (value < INT32_MIN || value > INT32_MAX) return false;
    *result = (int)value;
    return true;
}

#endif
