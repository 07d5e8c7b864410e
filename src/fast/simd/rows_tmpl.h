// SPDX-License-Identifier: Apache-2.0
// The loops of ops/common/row_loops.h, in the words of vector.h. Included by microkernels_tmpl.h, so once for each
// level. Dot products: a few rows at a time, a vector of sums for each, so that no sum waits for another; then the
// lanes are added, those of four rows at once.
#ifndef HALITE_FAST_SIMD_ROWS_TMPL_H
#define HALITE_FAST_SIMD_ROWS_TMPL_H

#include "fast/simd/elements_tmpl.h"
#include "fast/simd/vector.h"
#include "ops/common/quant.h"
#include "ops/common/row_loops.h"
#include "ops/common/sigmoids_i16.h"

// ---- rows of floats as int8 -----------------------------------------------------------------------

static void row_range(const float *values, int64_t count, float *low, float *high)
{
    f32_vector lows[2] = {{0}, {0}}, highs[2] = {{0}, {0}};
    int64_t i = 0;
    for (; i + 2 * LANES <= count; i += 2 * LANES)
        for (int v = 0; v < 2; v++) {
            f32_vector x = load_f32(values + i + v * LANES);
            lows[v] = min_f32(x, lows[v]);
            highs[v] = max_f32(x, highs[v]);
        }
    lows[0] = min_f32(lows[0], lows[1]), highs[0] = max_f32(highs[0], highs[1]);
    *low = 0, *high = 0;
    for (int lane = 0; lane < LANES; lane++) {
        if (lows[0][lane] < *low) *low = lows[0][lane];
        if (highs[0][lane] > *high) *high = highs[0][lane];
    }
    for (; i < count; i++) {
        if (values[i] < *low) *low = values[i];
        if (values[i] > *high) *high = values[i];
    }
}

INLINE i32_vector rounded(f32_vector x, float inverse, f32_vector least, f32_vector most, int zero)
{
    f32_vector steps = min_f32(max_f32(x * inverse, least), most);
    u32_vector sign = (u32_vector)steps & 0x80000000u;
    f32_vector half = (f32_vector)(sign | (u32_vector)splat_f32(HL_NEARLY_HALF));
    return to_i32(steps + half) + zero;
}

static void row_quantize(const float *values, int64_t count, float inverse, int zero, int low, int8_t *stored)
{
    f32_vector least = splat_f32((float)(low - zero)), most = splat_f32((float)(127 - zero));
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        store_i8(stored + i, rounded(load_f32(values + i), inverse, least, most, zero));
    if (i == count) return;
    float rest[LANES] = {0};
    int8_t bytes[LANES];
    memcpy(rest, values + i, (size_t)(count - i) * sizeof *rest);
    store_i8(bytes, rounded(load_f32(rest), inverse, least, most, zero));
    memcpy(stored + i, bytes, (size_t)(count - i));
}

// ---- lanes added --------------------------------------------------------------------------------

#if !defined INTERLEAVE
static inline u8_vector interleave_low_32(u8_vector a, u8_vector b)
{
    return (u8_vector)__builtin_shufflevector((u32_vector)a, (u32_vector)b, 0, 4, 1, 5);
}

static inline u8_vector interleave_high_32(u8_vector a, u8_vector b)
{
    return (u8_vector)__builtin_shufflevector((u32_vector)a, (u32_vector)b, 2, 6, 3, 7);
}

static inline u8_vector interleave_low_64(u8_vector a, u8_vector b)
{
    return (u8_vector)__builtin_shufflevector((u32_vector)a, (u32_vector)b, 0, 1, 4, 5);
}

static inline u8_vector interleave_high_64(u8_vector a, u8_vector b)
{
    return (u8_vector)__builtin_shufflevector((u32_vector)a, (u32_vector)b, 2, 3, 6, 7);
}
#else
#define interleave_low_32(a, b) INTERLEAVE(lo, 32, a, b)
#define interleave_high_32(a, b) INTERLEAVE(hi, 32, a, b)
#define interleave_low_64(a, b) INTERLEAVE(lo, 64, a, b)
#define interleave_high_64(a, b) INTERLEAVE(hi, 64, a, b)
#endif

enum { ADDED = 4 }; // vectors at a time
typedef float f32_quad __attribute__((vector_size(16)));
typedef uint32_t u32_quad __attribute__((vector_size(16)));

// sums[r] = all lanes of parts[r].
#define ADD_LANES(name, vector, quad, type)                                                                           \
    INLINE void name(const vector parts[ADDED], type sums[ADDED])                                                     \
    {                                                                                                                 \
        u8_vector a = (u8_vector)parts[0], b = (u8_vector)parts[1], c = (u8_vector)parts[2], d = (u8_vector)parts[3]; \
        a = (u8_vector)((vector)interleave_low_32(a, b) + (vector)interleave_high_32(a, b));                          \
        c = (u8_vector)((vector)interleave_low_32(c, d) + (vector)interleave_high_32(c, d));                          \
        const vector all = (vector)interleave_low_64(a, c) + (vector)interleave_high_64(a, c);                        \
        quad pieces[BYTES / sizeof(quad)], sum;                                                                       \
        memcpy(pieces, &all, sizeof all);                                                                             \
        sum = pieces[0];                                                                                              \
        UNROLL for (size_t i = 1; i < BYTES / sizeof(quad); i++) sum += pieces[i];                                    \
        memcpy(sums, &sum, sizeof sum);                                                                               \
    }
ADD_LANES(add_lanes_f32, f32_vector, f32_quad, float)
ADD_LANES(add_lanes_integer, u32_vector, u32_quad, int32_t)

// ---- dot products -------------------------------------------------------------------------------

// Rows r, r + 1 ... of a matrix; beyond the last row, that again.
#define ROWS_FROM(name, count, type, matrix, stride) \
    const type *name[count];                         \
    UNROLL for (int k = 0; k < count; k++) name[k] = matrix + (r + k < rows ? r + k : rows - 1) * (stride);

// Eight rows times the same x: so many sums keep two fused multiply-adds a clock busy.
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
        const f32_vector value = load_some(x + i, count - i);
        UNROLL for (int k = 0; k < 2 * ADDED; k++) parts[k] =
            add_product(parts[k], load_some(w[k] + i, count - i), value);
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
            add_product(parts[k], load_some(w[k] + i, count - i), load_some(x[k] + i, count - i));
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

// int16 in a vector, and as many int8 widened to it.
enum { WIDE = BYTES / 2 };
typedef int16_t i16_vector __attribute__((vector_size(BYTES)));

static inline u32_vector load_i16(const int16_t *at)
{
    u32_vector v;
    memcpy(&v, at, sizeof v);
    return v;
}

static inline u32_vector load_i8_wide(const int8_t *at)
{
#if defined __AVX512F__
    return (u32_vector)_mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)at));
#elif defined __AVX2__
    return (u32_vector)_mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)at));
#elif defined __SSE2__
    __m128i bytes = _mm_loadl_epi64((const __m128i *)at);
    return (u32_vector)_mm_srai_epi16(_mm_unpacklo_epi8(bytes, bytes), 8);
#else
    int8_t bytes __attribute__((vector_size(WIDE)));
    memcpy(&bytes, at, sizeof bytes);
    return (u32_vector) __builtin_convertvector(bytes, i16_vector);
#endif
}

// What a row of `count` has beyond whole vectors, in lanes of which `kept` says which are meant: its last WIDE values
// where it has so many, those with others before them (an order of magnitude less than copying single values), or 0 in
// other lanes.
static inline u32_vector rest_i16(const int16_t *row, int count)
{
#if defined __AVX512F__
    return (u32_vector)_mm512_maskz_loadu_epi16((1u << count % WIDE) - 1, row + count - count % WIDE);
#else
    int16_t some[WIDE] = {0};
    if (count >= WIDE) return load_i16(row + count - WIDE);
#if defined __AVX2__
    if (count % 2 == 0) return (u32_vector)_mm256_maskload_epi32((const int *)row, first_lanes(count / 2));
#endif
    for (int i = 0; i < count; i++) some[i] = row[i];
    return load_i16(some);
#endif
}

static inline u32_vector rest_i8_wide(const int8_t *row, int count)
{
#if defined __AVX512F__
    return (u32_vector)_mm512_cvtepi8_epi16(
        _mm256_maskz_loadu_epi8((1u << count % WIDE) - 1, row + count - count % WIDE));
#else
    int16_t some[WIDE] = {0};
    if (count >= WIDE) return load_i8_wide(row + count - WIDE);
    for (int i = 0; i < count; i++) some[i] = row[i];
    return load_i16(some);
#endif
}

static inline u32_vector kept_of_rest(int count)
{
    const u32_vector lanes[2] = {splat_i32(0), splat_i32(-1)};
#if defined __AVX512F__
    return (void)count, lanes[1];
#else
    return count < WIDE ? lanes[1] : load_i16((const int16_t *)lanes + count % WIDE);
#endif
}

INLINE void four_dots_i8(const int8_t *const *w, const int16_t *const *x, int count, u32_vector kept, int32_t *sums)
{
    u32_vector parts[ADDED];
    UNROLL for (int k = 0; k < ADDED; k++) parts[k] = splat_i32(0);
    int i = 0;
    for (; i + WIDE <= count; i += WIDE)
        UNROLL for (int k = 0; k < ADDED; k++) parts[k] =
            add_pairs(parts[k], load_i8_wide(w[k] + i), load_i16(x[k] + i));
    if (i < count)
        UNROLL for (int k = 0; k < ADDED; k++) parts[k] =
            add_pairs(parts[k], rest_i8_wide(w[k], count), rest_i16(x[k], count) & kept);
    add_lanes_integer(parts, sums);
}

static void dots_i8(const int8_t *w, int64_t stride, int rows, const int16_t *x, int64_t x_stride, int count,
                    int32_t *sums)
{
    const u32_vector kept = kept_of_rest(count);
    for (int r = 0; r < rows; r += ADDED) {
        int32_t some[ADDED];
        ROWS_FROM(ws, ADDED, int8_t, w, stride)
        ROWS_FROM(xs, ADDED, int16_t, x, x_stride)
        four_dots_i8(ws, xs, count, kept, some);
        for (int k = 0; k < ADDED && r + k < rows; k++) sums[r + k] = some[k];
    }
}

// x in two bytes, the upper one signed: so do 256 products with each fit 32 bits.
enum { I16_COLUMNS = 256 };
static inline void add_bytes(u32_vector *lower, u32_vector *upper, u32_vector w, u32_vector x)
{
    *lower = add_pairs(*lower, w, x & 0x00ff00ff);
    *upper = add_pairs(*upper, w, (u32_vector)((i16_vector)x >> 8));
}

INLINE void four_dots_i16(const int16_t *const *w, const int16_t *const *x, int count, u32_vector kept, int64_t *sums)
{
    u32_vector lower[ADDED], upper[ADDED];
    int32_t lower_sums[ADDED], upper_sums[ADDED];
    UNROLL for (int k = 0; k < ADDED; k++) lower[k] = upper[k] = splat_i32(0);
    int i = 0;
    for (; i + WIDE <= count; i += WIDE)
        UNROLL for (int k = 0; k < ADDED; k++) add_bytes(&lower[k], &upper[k], load_i16(w[k] + i), load_i16(x[k] + i));
    if (i < count)
        UNROLL for (int k = 0; k < ADDED; k++)
            add_bytes(&lower[k], &upper[k], rest_i16(w[k], count), rest_i16(x[k], count) & kept);
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
            four_dots_i16(ws, xs, columns, kept_of_rest(columns), some);
        }
        for (int k = 0; k < ADDED && r + k < rows; k++) sums[r + k] = some[k];
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

#define ROW_LOOPS                                                                                                     \
    {                                                                                                                 \
        .range = row_range, .quantize = row_quantize, .dots_f32 = dots_f32, .dots_i8 = dots_i8, .dots_i16 = dots_i16, \
        .logistic = row_logistic, .tanh = row_tanh, .logistic_i16 = logistic_i16, .tanh_i16 = tanh_i16,               \
    }

#endif
