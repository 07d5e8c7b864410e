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

// Of each of some sums, in arrays that are padded to whole vectors.
OUTLINE void find_scales(const uint32_t *sums, int count, int32_t *inverses, int32_t *rights)
{
    for (int i = 0; i < count; i += LANES) {
        u32_vector inverse, right;
        scales_of(load_u32(sums + i), &inverse, &right);
        memcpy(inverses + i, &inverse, sizeof inverse);
        memcpy(rights + i, &right, sizeof right);
    }
}

// low: how a probability of 0 is stored.
INLINE void store_probabilities(const int32_t *exponentials, const struct right_rescale *rescale, int32_t low,
                                uint8_t *y)
{
    store_clamped(y, rescale_right(load_i32(exponentials), rescale), low, low, low + UINT8_MAX);
}

// ---- rows one value after the other -------------------------------------------------------------

enum { SOFTMAX_VALUES = 1024, SOFTMAX_ROWS = 256 };

// Some rows on their way: exponentials, and of each row what scales them.
struct softmax_rows {
    int count, length, low;
    int32_t exponentials[SOFTMAX_VALUES + LANES], inverses[SOFTMAX_ROWS], rights[SOFTMAX_ROWS];
};

// Of rows that have a vector's values: the last vector ends where the row does.
INLINE void probabilities_of_rows(const struct softmax_rows *rows, uint8_t *y)
{
    const int32_t *from = rows->exponentials;
    const int last = rows->length - LANES;
    for (int r = 0; r < rows->count; r++, from += rows->length, y += rows->length) {
        const struct right_rescale rescale = right_rescale_of(splat_i32(rows->inverses[r]), splat_i32(rows->rights[r]));
        for (int i = 0; i < rows->length; i += LANES) {
            const int at = i < last ? i : last;
            store_probabilities(from + at, &rescale, rows->low, y + at);
        }
    }
}

// Of shorter rows, as many in a vector as there come.
INLINE void probabilities_of_values(struct softmax_rows *rows, uint8_t *y)
{
    int32_t inverses[SOFTMAX_VALUES + LANES], rights[SOFTMAX_VALUES + LANES];
    const int all = rows->count * rows->length;
    for (int r = 0, at = 0; r < rows->count; r++)
        for (int i = 0; i < rows->length; i++, at++) inverses[at] = rows->inverses[r], rights[at] = rows->rights[r];
    for (int i = all; i < all + LANES; i++) rows->exponentials[i] = inverses[i] = 0, rights[i] = 31;
    for (int i = 0; i < all; i += LANES) {
        const struct right_rescale rescale = right_rescale_of(load_i32(inverses + i), load_i32(rights + i));
        uint8_t some[LANES];
        store_probabilities(rows->exponentials + i, &rescale, rows->low, i + LANES <= all ? y + i : some);
        if (i + LANES > all) memcpy(y + i, some, (size_t)(all - i));
    }
}

// First all exponentials, one by one, then their probabilities, which may be written over the rows.
static void softmax_rows_by_values(const struct hl_softmax_bytes *params, const uint8_t *x, uint8_t *y, int count)
{
    struct softmax_rows rows;
    int32_t largest[SOFTMAX_ROWS];
    uint32_t sums[SOFTMAX_ROWS];
    const int length = params->length;
    rows.count = count, rows.length = length, rows.low = params->low;
    largest_bytes(x, params->flip ^ 0x80, count, length, largest);
    for (int r = 0, at = 0; r < count; r++, at += length) {
        // Tables by value: entries that lie before those of this row's differences are not read.
        const uint8_t most = x[at + largest[r]] ^ params->flip;
        const int32_t *exponential_of = params->exponentials + HL_SOFTMAX_LAST - most;
        const int32_t *term_of = params->terms + HL_SOFTMAX_LAST - most;
        uint32_t sum = 0; // of Q12 and so few elements
        for (int i = at; i < at + length; i++) {
            const unsigned value = opaque(x[i] ^ params->flip);
            rows.exponentials[i] = exponential_of[value];
            sum += (uint32_t)term_of[value];
        }
        sums[r] = sum;
    }
    for (int r = count; r % LANES != 0; r++) sums[r] = 1u << 31;
    find_scales(sums, count, rows.inverses, rows.rights);
    if (length < 2 * LANES)
        probabilities_of_values(&rows, y);
    else
        probabilities_of_rows(&rows, y);
}

// ---- rows by tables -----------------------------------------------------------------------------

INLINE uint32_t term_of(const struct hl_softmax_bytes *params, uint8_t entry)
{
    return (uint32_t)params->terms[opaque(entry)];
}

// Sum of a row's terms; `add` to a value is its entry in the tables.
static uint64_t sum_terms(const struct hl_softmax_bytes *params, const uint8_t *x, uint8_t add)
{
    enum { SUMS = 4 };
    const int length = params->length;
    uint64_t sums[SUMS] = {0};
    int i = 0;
#if HAS_WIDE_TABLES
    if (params->wide) return sum_by_wide_tables(x, length, add, params->planes);
#endif
    for (; i + SUMS <= length; i += SUMS)
        UNROLL for (int k = 0; k < SUMS; k++) sums[k] += term_of(params, (uint8_t)(x[i + k] + add));
    for (; i < length; i++) sums[0] += term_of(params, (uint8_t)(x[i] + add));
    return sums[0] + sums[1] + sums[2] + sums[3];
}

// A row has about as many values as there are differences that have a probability: a table of these takes less time.
// Entries below the half of 2^right become 0, and so do all before them. All tables are made before the first one is
// read, which would wait for its bytes.
static void softmax_rows_by_tables(const struct hl_softmax_bytes *params, const uint8_t *x, uint8_t *y, int count)
{
    enum { ENTRIES = HL_SOFTMAX_LAST + 1 };
    uint8_t largest[LANES], tables[LANES][ENTRIES];
    uint32_t sums[LANES];
    int32_t inverses[LANES], rights[LANES];
    const int64_t length = params->length;
    memset(largest, params->flip, sizeof largest);
    largest_byte_of_rows(x, params->flip, length, count, params->length, largest);
    for (int r = 0; r < LANES; r++) sums[r] = 1u << 31;
    for (int r = 0; r < count; r++) {
        const uint64_t sum = sum_terms(params, x + r * length, (uint8_t)(HL_SOFTMAX_LAST - largest[r]));
        sums[r] = sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
    }
    find_scales(sums, count, inverses, rights);
    for (int r = 0; r < count; r++) {
        const struct right_rescale rescale = right_rescale_of(splat_i32(inverses[r]), splat_i32(rights[r]));
        const int32_t least = 1 << (rights[r] - 1);
        memset(tables[r], params->low, ENTRIES);
        for (int i = ENTRIES - LANES; i >= 0 && params->exponentials[i + LANES - 1] >= least; i -= LANES)
            store_probabilities(params->exponentials + i, &rescale, params->low, tables[r] + i);
    }
    for (int r = 0; r < count; r++, x += length, y += length) {
        const uint8_t add = (uint8_t)(HL_SOFTMAX_LAST - largest[r]);
#if HAS_WIDE_TABLES
        if (params->wide) {
            map_by_wide_table(x, y, length, add, tables[r]);
            continue;
        }
#endif
        map_moved(x, y, length, add, tables[r]);
    }
}

static void softmax_bytes(const struct hl_softmax_bytes *shared, const uint8_t *x, uint8_t *y, int64_t rows)
{
    enum { MIN_LENGTH = 96, MIN_WIDE_LENGTH = 48, NEAR_BYTES = 16384 };
    const struct hl_softmax_bytes params = *shared; // a copy, because stored bytes might alias it
    const int length = params.length;
    const bool by_tables = length >= (params.wide ? MIN_WIDE_LENGTH : MIN_LENGTH);
    const int fit = (by_tables ? NEAR_BYTES : SOFTMAX_VALUES) / length, most = by_tables ? LANES : SOFTMAX_ROWS;
    const int together = fit < 1 ? 1 : fit < most ? fit : most;
    for (int64_t count; rows > 0; rows -= count, x += count * length, y += count * length) {
        count = rows < together ? rows : together;
        if (by_tables)
            softmax_rows_by_tables(&params, x, y, (int)count);
        else
            softmax_rows_by_values(&params, x, y, (int)count);
    }
}
#endif

#endif
