// SPDX-License-Identifier: Apache-2.0
// SOFTMAX of rows of bytes in fixed point. In: rows, and the exponentials of differences from a row's largest value.
// Out: rows of probabilities in 1/256, bit for bit those of ops/softmax.c.
#ifndef HALITE_FAST_SIMD_SOFTMAX_BYTES_TMPL_H
#define HALITE_FAST_SIMD_SOFTMAX_BYTES_TMPL_H

#include "fast/simd/elements_tmpl.h"
#include "fast/simd/rows_tmpl.h"
#include "fast/simd/simd.h"
#include "fast/simd/vector.h"

#if HAS_RESCALE
// From an exponential to a probability: e * inverse / 2^31, divided by 2^right. Of the sum it is hl_fixed_reciprocal.
// The largest element alone makes the sum 1, so that the shift is at least 15; one of 32 and more leaves 0.
INLINE void scales_of(u32_vector sum, u32_vector *inverse, u32_vector *right)
{
    enum { SHIFT = 31 - 8 + 12 }; // less the sum's leading zeros
    const u32_vector guess = splat_i32(1515870810), guess_slope = splat_i32(-1010580540); // 48/17 and -32/17 in Q2
    i32_vector zeros = {0};
    UNROLL for (int step = 16; step > 0; step /= 2)
    {
        const i32_vector clear = (sum >> (32 - step)) == 0;
        sum = ((u32_vector)clear & sum << step) | (~(u32_vector)clear & sum);
        zeros += clear & step;
    }
    // Newton's method for 1 / d, d = (1 + x) / 2 as Q0: nothing of it overflows but the last step, which saturates.
    const u32_vector d = (sum & INT32_MAX) / 2 + (1u << 30);
    u32_vector v = guess + high_product(guess_slope, d);
    UNROLL for (int i = 0; i < 3; i++) v += high_product((1u << 29) - high_product(d, v), v) << 2;
    const i32_vector saturates = (i32_vector)v >= 1 << 30;
    v = ((u32_vector)saturates & INT32_MAX) | (~(u32_vector)saturates & v << 1);
    const i32_vector shift = SHIFT - zeros, vanishes = shift > 31;
    *inverse = ~(u32_vector)vanishes & v;
    *right = ((u32_vector)vanishes & 31) | (~(u32_vector)vanishes & (u32_vector)shift);
}

INLINE void store_probabilities(const int32_t *exponentials, const struct right_rescale *rescale, int is_unsigned,
                                uint8_t *y)
{
    const int32_t low = is_unsigned ? 0 : INT8_MIN, high = is_unsigned ? UINT8_MAX : INT8_MAX;
    store_clamped(y, rescale_right(load_i32(exponentials), rescale), low, low, high);
}

// Probabilities of a row: whole vectors, `count` and what the last one has beyond.
INLINE void row_probabilities(const int32_t *exponentials, int32_t inverse, int32_t right, int is_unsigned, int count,
                              uint8_t *y)
{
    const struct right_rescale rescale = right_rescale_of(splat_i32(inverse), splat_i32(right));
    for (int i = 0; i < count; i += LANES) store_probabilities(exponentials + i, &rescale, is_unsigned, y + i);
}

// Less 128 where it is unsigned: only differences matter.
INLINE int stored_byte(const uint8_t *x, int64_t i, int is_unsigned)
{
    return (int8_t)(x[i] ^ (is_unsigned << 7));
}

// How far the entry of a stored 0 lies behind the first one, in tables whose last entry is that of the largest value.
INLINE int zero_entry(const uint8_t *row, int32_t largest, int is_unsigned)
{
    return HL_SOFTMAX_LAST - stored_byte(row, largest, is_unsigned);
}

enum { SOFTMAX_VALUES = 2048, SOFTMAX_ROWS = 256 };

// Some rows on their way: exponentials, and of each row what scales them.
struct softmax_rows {
    int count, length;
    int32_t values[SOFTMAX_VALUES + LANES], inverses[SOFTMAX_ROWS], rights[SOFTMAX_ROWS];
};

// Rows of at most half a vector, as many in a vector as there come.
INLINE void short_probabilities(const struct softmax_rows *rows, int is_unsigned, uint8_t *y)
{
    int32_t inverses[SOFTMAX_VALUES + LANES], rights[SOFTMAX_VALUES + LANES];
    const int length = rows->length, all = rows->count * length;
    for (int r = 0, at = 0; r < rows->count; r++)
        for (int i = 0; i < length; i++, at++) inverses[at] = rows->inverses[r], rights[at] = rows->rights[r];
    for (int at = all; at < all + LANES; at++) inverses[at] = 0, rights[at] = 31;
    for (int at = 0; at < all; at += LANES) {
        const struct right_rescale rescale = right_rescale_of(load_i32(inverses + at), load_i32(rights + at));
        uint8_t some[LANES];
        store_probabilities(rows->values + at, &rescale, is_unsigned, at + LANES <= all ? y + at : some);
        if (at + LANES > all) memcpy(y + at, some, (size_t)(all - at));
    }
}

INLINE void longer_probabilities(const struct softmax_rows *rows, int is_unsigned, uint8_t *y)
{
    const int length = rows->length, all = rows->count * length, whole = (length + LANES - 1) / LANES * LANES;
    for (int r = 0, at = 0; r < rows->count; r++, at += length) {
        uint8_t some[SOFTMAX_VALUES + LANES];
        const bool fits = at + whole <= all; // what the last vector writes of the next rows comes once more
        row_probabilities(rows->values + at, rows->inverses[r], rows->rights[r], is_unsigned, length,
                          fits ? y + at : some);
        if (!fits) memcpy(y + at, some, (size_t)length);
    }
}

// Some rows at a time: first all exponentials, one by one, then their probabilities, which may be written over the
// rows.
INLINE void softmax_some_rows(const struct hl_softmax_bytes *params, const uint8_t *x, uint8_t *y, int count,
                              int is_unsigned)
{
    struct softmax_rows rows;
    int32_t largest[SOFTMAX_ROWS];
    uint32_t sums[SOFTMAX_ROWS];
    const int length = params->length, all = count * length;
    rows.count = count, rows.length = length;
    largest_bytes(x, is_unsigned ? 0x80 : 0, count, length, largest);
    for (int r = 0, at = 0; r < count; r++, at += length) {
        const int zero = zero_entry(x + at, largest[r], is_unsigned);
        uint32_t sum = 0; // of Q12 and so few elements
        for (int i = 0; i < length; i++) {
            const int k = zero + stored_byte(x + at, i, is_unsigned);
            rows.values[at + i] = params->exponentials[k];
            sum += (uint32_t)params->terms[k];
        }
        sums[r] = sum;
    }
    memset(rows.values + all, 0, LANES * sizeof *rows.values);
    for (int r = count; r % LANES != 0; r++) sums[r] = 1u << 31;
    for (int r = 0; r < count; r += LANES) {
        u32_vector inverse, right;
        scales_of(load_u32(sums + r), &inverse, &right);
        memcpy(rows.inverses + r, &inverse, sizeof inverse);
        memcpy(rows.rights + r, &right, sizeof right);
    }
    if (2 * length <= LANES)
        short_probabilities(&rows, is_unsigned, y);
    else
        longer_probabilities(&rows, is_unsigned, y);
}

// A long row has more values than there are differences: a table of all probabilities takes less time.
INLINE void softmax_long_row(const struct hl_softmax_bytes *params, const uint8_t *x, uint8_t *y, int is_unsigned)
{
    enum { ENTRIES = HL_SOFTMAX_LAST + 1, HALF = ENTRIES / 2, SUMS = 4 };
    int32_t largest;
    largest_bytes(x, is_unsigned ? 0x80 : 0, 1, params->length, &largest);
    const int zero = zero_entry(x, largest, is_unsigned), length = params->length;
    uint64_t sums[SUMS] = {0};
    int i = 0;
    for (; i + SUMS <= length; i += SUMS)
        UNROLL for (int k = 0; k < SUMS; k++) sums[k] +=
            (uint32_t)params->terms[zero + stored_byte(x, i + k, is_unsigned)];
    for (; i < length; i++) sums[0] += (uint32_t)params->terms[zero + stored_byte(x, i, is_unsigned)];
    uint64_t sum = sums[0] + sums[1] + sums[2] + sums[3];
    u32_vector inverse, right;
    scales_of(splat_i32((int32_t)(uint32_t)(sum < UINT32_MAX ? sum : UINT32_MAX)), &inverse, &right);
    const struct right_rescale rescale = right_rescale_of(inverse, right);
    uint8_t by_difference[2 * ENTRIES] = {0}, table[ENTRIES]; // no value is above the largest
    for (i = 0; i < ENTRIES; i += LANES)
        store_probabilities(params->exponentials + i, &rescale, is_unsigned, by_difference + i);
    const uint8_t *of_zero = by_difference + zero;
    memcpy(table, is_unsigned ? of_zero - HALF : of_zero, HALF);
    memcpy(table + HALF, is_unsigned ? of_zero : of_zero - HALF, HALF);
#if HAS_TABLES
    map_bytes(x, y, length, table);
#else
    for (i = 0; i < length; i++) y[i] = table[x[i]];
#endif
}

static void softmax_bytes(const struct hl_softmax_bytes *shared, const uint8_t *x, uint8_t *y, int64_t rows)
{
    enum { MIN_LONG = 512 };
    const struct hl_softmax_bytes params = *shared; // a copy, because stored bytes might alias it
    const int fitting = SOFTMAX_VALUES / params.length, together = fitting < SOFTMAX_ROWS ? fitting : SOFTMAX_ROWS;
    if (params.length >= MIN_LONG) {
        for (; rows > 0; rows--, x += params.length, y += params.length)
            softmax_long_row(&params, x, y, params.is_unsigned);
        return;
    }
    for (int64_t count; rows > 0; rows -= count, x += count * params.length, y += count * params.length) {
        count = rows < together ? rows : together;
        softmax_some_rows(&params, x, y, (int)count, params.is_unsigned);
    }
}
#endif

#endif
