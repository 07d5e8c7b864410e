// SPDX-License-Identifier: Apache-2.0
// The microkernels of ops/common/row_kernels.h. Dot products take a few rows at a time with a vector of sums for each,
// so that no addition waits for the one before; then the lanes are added, those of four rows at once.
#ifndef HALITE_FAST_SIMD_ROWS_TMPL_H
#define HALITE_FAST_SIMD_ROWS_TMPL_H

#include <float.h>
#include <math.h>

#include "abi/built_types.h"
#include "fast/simd/elements_tmpl.h"
#include "fast/simd/lane_sums_tmpl.h"
#include "fast/simd/pool_tmpl.h"
#include "fast/simd/vector.h"
#include "ops/common/quant.h"
#include "ops/common/row_kernels.h"
#include "ops/common/sigmoids_i16.h"

// ---- rows of floats as int8 -----------------------------------------------------------------------

static void row_range(const float *values, int64_t count, float *low, float *high)
{
    f32_vector lows[2] = {{0}, {0}}, highs[2] = {{0}, {0}};
    int64_t i = 0;
    for (; i + 2 * LANES <= count; i += 2 * LANES)
        for (int v = 0; v < 2; v++) {
            const f32_vector x = load_f32(values + i + v * LANES);
            lows[v] = min_f32(x, lows[v]);
            highs[v] = max_f32(x, highs[v]);
        }
    for (; i < count; i += LANES) {
        const f32_vector x = i + LANES <= count ? load_f32(values + i) : load_first_f32(values + i, count - i);
        lows[0] = min_f32(x, lows[0]);
        highs[0] = max_f32(x, highs[0]);
    }
    *low = 0 - largest_lane(-min_f32(lows[0], lows[1])); // 0 is not -0
    *high = largest_lane(max_f32(highs[0], highs[1]));
}

INLINE i32_vector rounded(f32_vector steps)
{
    return to_i32(steps + with_sign_of(steps, splat_f32(HL_NEARLY_HALF)));
}

INLINE i32_vector rounded_within(f32_vector x, float inverse, f32_vector least, f32_vector most)
{
    return rounded(min_f32(max_f32(x * inverse, least), most));
}

// To xor a byte with 0x80 is to add that. Steps that fit int32, or are NaN, can be bounded as integers, more of them at
// a time. (40 rows of 2,048 values on a Zen 4: 8.1 us with floats bounded, 5.2 so.)
static void row_quantize(const float *values, int64_t count, float inverse, int zero, int low, uint8_t flip,
                         int8_t *stored)
{
    const f32_vector least = splat_f32((float)(low - zero)), most = splat_f32((float)(127 - zero));
    const int32_t offset = zero + flip;
    int64_t i = 0;
#if HAS_RESCALE
    const bool fits = !TO_I32_LOW || inverse <= FLT_MAX;
    const int32_t first = flip ? low + 128 : low, last = flip ? 255 : 127;
    for (; fits && i + BYTES <= count; i += BYTES) {
        u32_vector steps[4];
        UNROLL for (int v = 0; v < 4; v++)
        {
            const f32_vector x = load_f32(values + i + v * LANES);
            steps[v] = (u32_vector)(TO_I32_LOW ? rounded(x * inverse) : rounded_within(x, inverse, least, most));
        }
        const u8_vector bytes = narrow_in_order(steps, offset, first, last);
        memcpy(stored + i, &bytes, sizeof bytes);
    }
#endif
    for (; i + LANES <= count; i += LANES)
        store_bytes((uint8_t *)stored + i, rounded_within(load_f32(values + i), inverse, least, most) + offset);
    if (i == count) return;
    uint8_t bytes[LANES];
    store_bytes(bytes, rounded_within(load_first_f32(values + i, count - i), inverse, least, most) + offset);
    memcpy(stored + i, bytes, (size_t)(count - i));
}

// ---- dot products -------------------------------------------------------------------------------

// Declares name[k], the row r + k of a matrix, or the last row where there are fewer.
#define ROWS_FROM(name, count, type, matrix, stride) \
    const type *name[count];                         \
    UNROLL for (int k = 0; k < count; k++) name[k] = matrix + (r + k < rows ? r + k : rows - 1) * (stride);

// Eight rows times the same x: so many sums are enough for two fused multiply-adds a clock.
INLINE void eight_dots(const float *const *w, const float *x, int count, float *sums)
{
    f32_vector parts[2 * ADDED];
    UNROLL for (int k = 0; k < 2 * ADDED; k++) parts[k] = splat_f32(0);
    int i = 0;
    for (; i + LANES <= count; i += LANES) {
        const f32_vector value = load_f32(x + i);
        UNROLL for (int k = 0; k < 2 * ADDED; k++) parts[k] = add_product(parts[k], load_f32(w[k] + i), value);
    }
    if (i < count) {
        const f32_vector value = load_first_f32(x + i, count - i);
        UNROLL for (int k = 0; k < 2 * ADDED; k++) parts[k] =
            add_product(parts[k], load_first_f32(w[k] + i, count - i), value);
    }
    add_lanes_f32(parts, sums);
    add_lanes_f32(parts + ADDED, sums + ADDED);
}

INLINE void four_dots(const float *const *w, const float *const *x, int count, float *sums)
{
    f32_vector parts[ADDED];
    UNROLL for (int k = 0; k < ADDED; k++) parts[k] = splat_f32(0);
    int i = 0;
    for (; i + LANES <= count; i += LANES)
        UNROLL for (int k = 0; k < ADDED; k++) parts[k] = add_product(parts[k], load_f32(w[k] + i), load_f32(x[k] + i));
    if (i < count)
        UNROLL for (int k = 0; k < ADDED; k++) parts[k] =
            add_product(parts[k], load_first_f32(w[k] + i, count - i), load_first_f32(x[k] + i, count - i));
    add_lanes_f32(parts, sums);
}

static void dots_f32(const float *w, int64_t stride, int rows, const float *x, int64_t x_stride, int count, float *sums)
{
    for (int r = 0; r < rows;) {
        float some[2 * ADDED];
        int left = rows - r, done;
        if (left > ADDED && x_stride == 0) {
            ROWS_FROM(ws, 2 * ADDED, float, w, stride)
            done = 2 * ADDED;
            eight_dots(ws, x, count, left < done ? some : sums + r);
        } else {
            ROWS_FROM(ws, ADDED, float, w, stride)
            ROWS_FROM(xs, ADDED, float, x, x_stride)
            done = ADDED;
            four_dots(ws, xs, count, left < done ? some : sums + r);
        }
        for (int k = 0; left < done && k < left; k++) sums[r + k] = some[k];
        r += done;
    }
}

// The end of a row of `count` values, after whole vectors. With masks, or where the row is shorter than a vector, it is
// loaded exactly, and other lanes are 0. Otherwise the last WIDE values are loaded, some of which belong to the vector
// before; new_of_rest() has ones in the lanes that do not. (Copying single values takes ten times as long.)
static inline u32_vector rest_i16(const int16_t *row, int count)
{
    if (HAS_MASKS || count < WIDE) return load_first_i16(row + count - count % WIDE, count % WIDE);
    return load_i16(row + count - WIDE);
}

static inline u32_vector rest_i8_as_i16(const int8_t *row, int count)
{
    if (HAS_MASKS || count < WIDE) return load_first_i8_as_i16(row + count - count % WIDE, count % WIDE);
    return load_i8_as_i16(row + count - WIDE);
}

static inline u32_vector new_of_rest(int count)
{
    const u32_vector lanes[2] = {splat_i32(0), splat_i32(-1)};
    if (HAS_MASKS || count < WIDE) return lanes[1];
    return load_i16((const int16_t *)lanes + count % WIDE);
}

INLINE void four_dots_i8(const int8_t *const *w, const int16_t *const *x, int count, u32_vector mask, int32_t *sums)
{
    u32_vector parts[ADDED];
    UNROLL for (int k = 0; k < ADDED; k++) parts[k] = splat_i32(0);
    int i = 0;
    for (; i + WIDE <= count; i += WIDE)
        UNROLL for (int k = 0; k < ADDED; k++) parts[k] =
            add_dot2(parts[k], load_i8_as_i16(w[k] + i), load_i16(x[k] + i));
    if (i < count)
        UNROLL for (int k = 0; k < ADDED; k++) parts[k] =
            add_dot2(parts[k], rest_i8_as_i16(w[k], count), rest_i16(x[k], count) & mask);
    add_lanes_integer(parts, sums);
}

static void dots_i8(const int8_t *w, int64_t stride, int rows, const int16_t *x, int64_t x_stride, int count,
                    int32_t *sums)
{
    const u32_vector mask = new_of_rest(count);
    for (int r = 0; r < rows; r += ADDED) {
        int32_t some[ADDED];
        ROWS_FROM(ws, ADDED, int8_t, w, stride)
        ROWS_FROM(xs, ADDED, int16_t, x, x_stride)
        four_dots_i8(ws, xs, count, mask, some);
        for (int k = 0; k < ADDED && r + k < rows; k++) sums[r + k] = some[k];
    }
}

// x is split into two bytes, the upper one signed, so that 256 products with each of them fit 32 bits.
enum { I16_COLUMNS = 256 };
static inline void add_bytes(u32_vector *lower, u32_vector *upper, u32_vector w, u32_vector x)
{
    *lower = add_dot2(*lower, w, x & 0x00ff00ff);
    *upper = add_dot2(*upper, w, (u32_vector)((i16_vector)x >> 8));
}

INLINE void four_dots_i16(const int16_t *const *w, const int16_t *const *x, int count, u32_vector mask, int64_t *sums)
{
    u32_vector lower[ADDED], upper[ADDED];
    int32_t lower_sums[ADDED], upper_sums[ADDED];
    UNROLL for (int k = 0; k < ADDED; k++) lower[k] = upper[k] = splat_i32(0);
    int i = 0;
    for (; i + WIDE <= count; i += WIDE)
        UNROLL for (int k = 0; k < ADDED; k++) add_bytes(&lower[k], &upper[k], load_i16(w[k] + i), load_i16(x[k] + i));
    if (i < count)
        UNROLL for (int k = 0; k < ADDED; k++)
            add_bytes(&lower[k], &upper[k], rest_i16(w[k], count), rest_i16(x[k], count) & mask);
    add_lanes_integer(lower, lower_sums);
    add_lanes_integer(upper, upper_sums);
    UNROLL for (int k = 0; k < ADDED; k++) sums[k] += lower_sums[k] + upper_sums[k] * INT64_C(256);
}

static void dots_i16(const int16_t *w, int64_t stride, int rows, const int16_t *x, int64_t x_stride, int count,
                     int64_t *sums)
{
    for (int r = 0; r < rows; r += ADDED) {
        int64_t some[ADDED] = {0};
        for (int at = 0; at < count; at += I16_COLUMNS) {
            int columns = count - at < I16_COLUMNS ? count - at : I16_COLUMNS;
            ROWS_FROM(ws, ADDED, int16_t, w + at, stride)
            ROWS_FROM(xs, ADDED, int16_t, x + at, x_stride)
            four_dots_i16(ws, xs, columns, new_of_rest(columns), some);
        }
        for (int k = 0; k < ADDED && r + k < rows; k++) sums[r + k] = some[k];
    }
}

// ---- the first of the largest values ----------------------------------------------------------------

// The largest lane of each of ADDED vectors.
INLINE void largest_lanes(const f32_vector parts[ADDED], float largest[ADDED])
{
    u8_vector a = (u8_vector)parts[0], b = (u8_vector)parts[1], c = (u8_vector)parts[2], d = (u8_vector)parts[3];
    a = (u8_vector)max_f32((f32_vector)interleave_low_32(a, b), (f32_vector)interleave_high_32(a, b));
    c = (u8_vector)max_f32((f32_vector)interleave_low_32(c, d), (f32_vector)interleave_high_32(c, d));
    const f32_vector all = max_f32((f32_vector)interleave_low_64(a, c), (f32_vector)interleave_high_64(a, c));
    f32_quad pieces[BYTES / sizeof(f32_quad)];
    memcpy(pieces, &all, sizeof all);
    UNROLL for (size_t i = 1; i < BYTES / sizeof(f32_quad); i++)
    {
        const u32_quad is_larger = (u32_quad)(pieces[i] > pieces[0]);
        pieces[0] = (f32_quad)((is_larger & (u32_quad)pieces[i]) | (~is_larger & (u32_quad)pieces[0]));
    }
    memcpy(largest, pieces, sizeof *pieces);
}

// The largest value * 2^16 - k, which is exact in a float, is that of the first of the largest values. The last vector
// of a row begins so that it ends where the row does. (21 bytes: 12.3 ns one by one, 2.7 ns so, AVX-512.)
OUTLINE void largest_bytes(const uint8_t *x, uint8_t flip, int rows, int count, int32_t *best)
{
    enum { FACTOR = HL_LARGEST_MAX_COLUMNS, BELOW_ALL = -(1 << 25) };
    float offsets[LANES]; // those of lanes that are not in a row make them the least
    for (int i = 0; i < LANES; i++) offsets[i] = i < count ? (float)-i : BELOW_ALL;
    const f32_vector offset = load_f32(offsets);
    const u32_vector flips = splat_i32((int8_t)flip);
    const int last = count > LANES ? count - LANES : 0;
    for (int r = 0; r < rows; r += ADDED) {
        f32_vector parts[ADDED];
        float largest[ADDED];
        UNROLL for (int a = 0; a < ADDED; a++)
        {
            const int row = r + a < rows ? r + a : rows - 1;
            const int64_t left = (int64_t)(rows - row) * count;
            const uint8_t *from = x + (int64_t)row * count;
            uint8_t few[LANES] = {0};
            if (left < LANES) from = memcpy(few, from, (size_t)left);
            parts[a] = splat_f32(BELOW_ALL);
            for (int at = 0; at < last + LANES; at += LANES) {
                const int k = at < last ? at : last;
                const i32_vector values = (i32_vector)(load_bytes(from + k, 0, 0) ^ flips);
                const f32_vector key =
                    add_product(offset - (float)k, splat_f32(FACTOR), __builtin_convertvector(values, f32_vector));
                parts[a] = max_f32(key, parts[a]);
            }
        }
        largest_lanes(parts, largest);
        for (int a = 0; a < ADDED && r + a < rows; a++) best[r + a] = -(int32_t)largest[a] & (FACTOR - 1);
    }
}

// LANES floats of a row, from k on; what is not of the row is 0.
INLINE f32_vector load_of_row(const float *row, int k, int count)
{
    return count < LANES ? load_first_f32(row, count) : load_f32(row + k);
}

// First the largest value, then the least k that has it. A NaN is not the larger of two, and then above all ks.
static void largest_floats(const float *x, float sign, int rows, int count, int32_t *best)
{
    enum { BELOW_ALL = -(1 << 25) };
    float offsets[LANES], floors[LANES];
    for (int i = 0; i < LANES; i++) offsets[i] = i < count ? (float)-i : BELOW_ALL, floors[i] = -HUGE_VALF;
    const f32_vector offset = load_f32(offsets), least = load_f32(floors);
    const i32_vector outside = offset < -(float)LANES;
    const int last = count > LANES ? count - LANES : 0;
    for (int r = 0; r < rows; r += ADDED) {
        const float *from[ADDED];
        f32_vector parts[ADDED];
        float largest[ADDED];
        UNROLL for (int a = 0; a < ADDED; a++)
        {
            from[a] = x + (int64_t)(r + a < rows ? r + a : rows - 1) * count;
            parts[a] = least;
            for (int at = 0; at < last + LANES; at += LANES) {
                const f32_vector values = load_of_row(from[a], at < last ? at : last, count) * sign;
                parts[a] = max_f32(choose(outside, least, values), parts[a]);
            }
        }
        largest_lanes(parts, largest);
        UNROLL for (int a = 0; a < ADDED; a++)
        {
            parts[a] = splat_f32(BELOW_ALL);
            for (int at = 0; at < last + LANES; at += LANES) {
                const int k = at < last ? at : last;
                const f32_vector values = load_of_row(from[a], k, count) * sign;
                const f32_vector key = choose(values == largest[a], offset - (float)k, splat_f32(BELOW_ALL));
                parts[a] = max_f32(choose(values == values, key, splat_f32(1)), parts[a]);
            }
        }
        largest_lanes(parts, largest);
        for (int a = 0; a < ADDED && r + a < rows; a++) best[r + a] = -(int32_t)largest[a];
    }
}

// ---- reductions -----------------------------------------------------------------------------------

// What is not larger than y leaves it, as a NaN. `sign`: -1 for the smallest values.
INLINE float reduce_two(float y, float x, float sign, bool adds)
{
    return adds ? y + x : x * sign > y * sign ? x : y;
}

INLINE f32_vector reduce_lanes(f32_vector y, f32_vector x, float sign, bool adds)
{
    return adds ? y + x : max_f32(x * sign, y);
}

// A row, whose values are multiplied by the sign, with four results that do not wait for each other. The last vector is
// the row's last LANES values, or its rest where values must not be counted twice.
INLINE f32_vector reduce_row(const float *x, int count, float sign, bool adds)
{
    f32_vector parts[ADDED];
    UNROLL for (int k = 0; k < ADDED; k++) parts[k] = splat_f32(adds ? 0 : -HUGE_VALF);
    int i = 0;
    for (; i + ADDED * LANES <= count; i += ADDED * LANES)
        UNROLL for (int k = 0; k < ADDED; k++) parts[k] =
            reduce_lanes(parts[k], load_f32(x + i + k * LANES), sign, adds);
    for (; i + LANES <= count; i += LANES) parts[0] = reduce_lanes(parts[0], load_f32(x + i), sign, adds);
    if (i < count)
        parts[1] =
            reduce_lanes(parts[1], adds ? load_first_f32(x + i, count - i) : load_f32(x + count - LANES), sign, adds);
    for (int k = 1; k < ADDED; k++) parts[0] = reduce_lanes(parts[0], parts[k], 1, adds);
    return parts[0];
}

INLINE void reduce_rows(const float *x, float sign, int64_t stride, int64_t rows, int count, float *y, bool adds)
{
    f32_vector parts[ADDED] = {{0}};
    float results[ADDED];
    for (int64_t r = 0; r < rows; r += ADDED) {
        const int now = rows - r < ADDED ? (int)(rows - r) : ADDED;
        for (int k = 0; k < now; k++) parts[k] = reduce_row(x + (r + k) * stride, count, sign, adds);
        if (adds)
            add_lanes_f32(parts, results);
        else
            largest_lanes(parts, results);
        for (int k = 0; k < now; k++)
            y[r + k] = reduce_two(y[r + k], adds ? results[k] : results[k] * sign, sign, adds);
    }
}

// Columns stay in registers while rows pass, so that their order is that of the plain kernels.
INLINE void reduce_strip(const float *x, float sign, int64_t stride, int64_t rows, float *y, int vectors, bool adds)
{
    f32_vector parts[4];
    UNROLL for (int k = 0; k < vectors; k++) parts[k] = load_f32(y + k * LANES) * sign;
    for (int64_t r = 0; r < rows; r++, x += stride)
        UNROLL for (int k = 0; k < vectors; k++) parts[k] = reduce_lanes(parts[k], load_f32(x + k * LANES), sign, adds);
    UNROLL for (int k = 0; k < vectors; k++) store_f32(y + k * LANES, parts[k] * sign);
}

INLINE void reduce_columns(const float *x, float sign, int64_t stride, int64_t rows, int count, float *y, bool adds)
{
    int i = 0;
    for (; i + 4 * LANES <= count; i += 4 * LANES) reduce_strip(x + i, sign, stride, rows, y + i, 4, adds);
    for (; i + LANES <= count; i += LANES) reduce_strip(x + i, sign, stride, rows, y + i, 1, adds);
    if (i == count) return;
    f32_vector part = load_first_f32(y + i, count - i) * sign;
    for (int64_t r = 0; r < rows; r++)
        part = reduce_lanes(part, load_first_f32(x + r * stride + i, count - i), sign, adds);
    store_first_f32(y + i, part * sign, count - i);
}

static void add_rows(const float *x, int64_t stride, int64_t rows, int count, float *y)
{
    reduce_rows(x, 1, stride, rows, count, y, true);
}

static void largest_of_rows(const float *x, float sign, int64_t stride, int64_t rows, int count, float *y)
{
    reduce_rows(x, sign, stride, rows, count, y, false);
}

static void add_columns(const float *x, int64_t stride, int64_t rows, int count, float *y)
{
    reduce_columns(x, 1, stride, rows, count, y, true);
}

static void largest_of_columns(const float *x, float sign, int64_t stride, int64_t rows, int count, float *y)
{
    reduce_columns(x, sign, stride, rows, count, y, false);
}

// ---- reductions of bytes --------------------------------------------------------------------------

// So many bytes fit a sum of 16 bits, whose sign add_dot2 sees.
enum { BYTES_IN_SHORT = INT16_MAX / UINT8_MAX };
typedef uint16_t u16_vector __attribute__((vector_size(BYTES)));

// Sums of bytes with an odd number, in lanes of 16 bits, and of both: those with an even number, too, are known then,
// because neither goes beyond 16 bits.
struct byte_sums {
    u16_vector odd, both;
};

INLINE void count_bytes(struct byte_sums *sums, u8_vector bytes)
{
    sums->odd += (u16_vector)bytes >> 8;
    sums->both += (u16_vector)bytes;
}

INLINE u16_vector even_of(const struct byte_sums *sums)
{
    return sums->both - (sums->odd << 8);
}

// The first `count` bytes of x, or BYTES of them, each xor flip; others are 0.
INLINE u8_vector load_flipped(const uint8_t *x, int64_t count, uint8_t flip)
{
    u8_vector v;
    if (count >= BYTES) {
        memcpy(&v, x, sizeof v);
        return v ^ flip;
    }
    uint8_t few[BYTES];
    memset(few, flip, sizeof few);
    memcpy(few, x, (size_t)count);
    memcpy(&v, few, sizeof v);
    return v ^ flip;
}

// The lanes of the result add up to the sum of a row.
static u32_vector sum_of_bytes(const uint8_t *row, uint8_t flip, int count)
{
    const u32_vector ones = splat_i32(0x00010001);
    u32_vector sum = {0};
    for (int i = 0; i < count;) {
        const int end = count - i < BYTES_IN_SHORT * BYTES ? count : i + BYTES_IN_SHORT * BYTES;
        struct byte_sums few = {{0}, {0}};
        for (; i + BYTES <= end; i += BYTES) count_bytes(&few, load_flipped(row + i, BYTES, flip));
        if (i < end) count_bytes(&few, load_flipped(row + i, end - i, flip));
        i = end;
        sum = add_dot2(add_dot2(sum, ones, (u32_vector)even_of(&few)), ones, (u32_vector)few.odd);
    }
    return sum;
}

static void add_byte_rows(const uint8_t *x, uint8_t flip, int64_t stride, int64_t rows, int count, int64_t *y)
{
    u32_vector parts[ADDED] = {{0}};
    int32_t sums[ADDED];
    for (int64_t r = 0; r < rows; r += ADDED) {
        const int now = rows - r < ADDED ? (int)(rows - r) : ADDED;
        for (int k = 0; k < now; k++) parts[k] = sum_of_bytes(x + (r + k) * stride, flip, count);
        add_lanes_integer(parts, sums);
        for (int k = 0; k < now; k++) y[r + k] += (int64_t)(uint32_t)sums[k] - (int64_t)flip * count;
    }
}

static void add_byte_columns(const uint8_t *x, uint8_t flip, int64_t stride, int64_t rows, int count, int64_t *y)
{
    for (int i = 0; i < count; i += BYTES) {
        // The last columns again, but for those that are counted already.
        const int first = i + BYTES <= count || count < BYTES ? i : count - BYTES, left = count - first;
        for (int64_t r = 0, now; r < rows; r += now) {
            now = rows - r < BYTES_IN_SHORT ? rows - r : BYTES_IN_SHORT;
            struct byte_sums sums = {{0}, {0}};
            const uint8_t *from = x + r * stride + first;
            if (left >= BYTES)
                for (int64_t n = 0; n < now; n++) count_bytes(&sums, load_flipped(from + n * stride, BYTES, flip));
            else
                for (int64_t n = 0; n < now; n++) count_bytes(&sums, load_flipped(from + n * stride, left, flip));
            const u16_vector parts[2] = {even_of(&sums), sums.odd};
            uint16_t lanes[2][WIDE];
            memcpy(lanes, parts, sizeof lanes);
            for (int k = i - first; k < BYTES && first + k < count; k++)
                y[first + k] += lanes[k % 2][k / 2] - flip * now;
        }
    }
}

INLINE u8_quad larger_of_quads(u8_quad a, u8_quad b)
{
#if BYTES_ABOVE_QUAD
    return max_u8_quad(a, b);
#else
    const u8_quad mask = (u8_quad)(a > b);
    return (a & mask) | (b & ~mask);
#endif
}

INLINE uint8_t largest_byte(u8_vector v)
{
    u8_quad pieces[BYTES / sizeof(u8_quad)];
    memcpy(pieces, &v, sizeof v);
    UNROLL for (size_t i = 1; i < BYTES / sizeof(u8_quad); i++) pieces[0] = larger_of_quads(pieces[0], pieces[i]);
    u8_quad q = pieces[0];
    q = larger_of_quads(q, __builtin_shufflevector(q, q, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
    q = larger_of_quads(q, __builtin_shufflevector(q, q, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11));
    q = larger_of_quads(q, __builtin_shufflevector(q, q, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
    return q[0] > q[1] ? q[0] : q[1];
}

OUTLINE void largest_byte_of_rows(const uint8_t *x, uint8_t flip, int64_t stride, int64_t rows, int count, uint8_t *y)
{
    for (int64_t r = 0; r < rows; r++, x += stride) {
        u8_vector most = {0};
        int i = 0;
        for (; i + BYTES <= count; i += BYTES) most = max_u8(load_flipped(x + i, BYTES, flip), most);
        if (i < count) most = max_u8(load_flipped(x + i, count - i, flip), most);
        const uint8_t largest = largest_byte(most), before = y[r] ^ flip;
        y[r] = (largest > before ? largest : before) ^ flip;
    }
}

static void largest_byte_of_columns(const uint8_t *x, uint8_t flip, int64_t stride, int64_t rows, int count, uint8_t *y)
{
    for (int i = 0; i < count; i += BYTES) {
        const int first = i + BYTES <= count || count < BYTES ? i : count - BYTES, left = count - first;
        u8_vector most = load_flipped(y + first, left, flip);
        if (left >= BYTES)
            for (int64_t r = 0; r < rows; r++) most = max_u8(load_flipped(x + r * stride + first, BYTES, flip), most);
        else
            for (int64_t r = 0; r < rows; r++) most = max_u8(load_flipped(x + r * stride + first, left, flip), most);
        most ^= flip;
        memcpy(y + first, &most, left < BYTES ? (size_t)left : BYTES);
    }
}

// ---- sigmoids -----------------------------------------------------------------------------------

static void row_logistic(float *values, int64_t count)
{
    map_logistic(values, values, count, NULL);
}

static void row_tanh(float *values, int64_t count)
{
    map_tanh(values, values, count, NULL);
}

// clang-format off
#define ROW_KERNELS \
    { \
        .range = HL_WHERE(HL_HAS_BYTES, row_range), \
        .quantize = HL_WHERE(HL_HAS_BYTES, row_quantize), \
        .dots_f32 = HL_WHERE(HL_HAS_FLOAT_DOTS, dots_f32), \
        .dots_i8 = HL_WHERE(HL_HAS_RECURRENT && HL_HAS_BYTES, dots_i8), \
        .dots_i16 = HL_WHERE(HL_HAS_RECURRENT && HL_HAS_INTEGERS, dots_i16), \
        .logistic = HL_WHERE(HL_HAS_RECURRENT && HL_HAS_FLOATS, row_logistic), \
        .tanh = HL_WHERE(HL_HAS_RECURRENT && HL_HAS_FLOATS, row_tanh), \
        .logistic_i16 = HL_WHERE(HL_HAS_RECURRENT && HL_HAS_INTEGERS, logistic_i16), \
        .tanh_i16 = HL_WHERE(HL_HAS_RECURRENT && HL_HAS_INTEGERS, tanh_i16), \
        .largest_bytes = HL_WHERE(HL_HAS_LARGEST, largest_bytes), \
        .largest_floats = HL_WHERE(HL_HAS_LARGEST && HL_HAS_FLOATS, largest_floats), \
        .add_byte_rows = HL_WHERE(HL_HAS_SUMS && HL_HAS_BYTES, add_byte_rows), \
        .add_byte_columns = HL_WHERE(HL_HAS_SUMS && HL_HAS_BYTES, add_byte_columns), \
        .largest_byte_of_rows = HL_WHERE(HL_HAS_EXTREMES, largest_byte_of_rows), \
        .largest_byte_of_columns = HL_WHERE(HL_HAS_EXTREMES, largest_byte_of_columns), \
        .add_rows = HL_WHERE(HL_HAS_SUMS && HL_HAS_FLOATS, add_rows), \
        .largest_of_rows = HL_WHERE(HL_HAS_EXTREMES && HL_HAS_FLOATS, largest_of_rows), \
        .add_columns = HL_WHERE(HL_HAS_SUMS && HL_HAS_FLOATS, add_columns), \
        .largest_of_columns = HL_WHERE(HL_HAS_EXTREMES && HL_HAS_FLOATS, largest_of_columns), \
        .map_bytes = HL_WHERE(HL_HAS_OP(CONCATENATION) && HL_HAS_BYTES, map_bytes), \
        .pool = pool_kernels, \
    }
// clang-format on

#endif
