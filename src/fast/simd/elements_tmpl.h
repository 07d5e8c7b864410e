// SPDX-License-Identifier: Apache-2.0
// The loops of elements.h, in the words of vector.h. Included by microkernels_tmpl.h, so once for each level.
#ifndef HALITE_FAST_SIMD_ELEMENTS_TMPL_H
#define HALITE_FAST_SIMD_ELEMENTS_TMPL_H

#include <math.h>

#include "fast/elements.h"
#include "fast/simd/vector.h"
#include "ops/arithmetic.h"

// ---- words --------------------------------------------------------------------------------------

static inline f32_vector choose(i32_vector mask, f32_vector yes, f32_vector no)
{
    return (f32_vector)((mask & (i32_vector)yes) | (~mask & (i32_vector)no));
}

static inline f32_vector magnitude_of(f32_vector x)
{
    return (f32_vector)((i32_vector)x & INT32_MAX);
}

static inline f32_vector sqrt_f32(f32_vector x)
{
#if defined WORD
    return (f32_vector)WORD(sqrt_ps)((f32_register)x);
#elif defined __aarch64__
    return (f32_vector)vsqrtq_f32((float32x4_t)x);
#else
    for (int i = 0; i < LANES; i++) x[i] = sqrtf(x[i]);
    return x;
#endif
}

// The lowest byte of each lane.
static inline void store_bytes(uint8_t *at, i32_vector v)
{
#if defined __AVX512F__
    _mm_storeu_si128((__m128i *)at, _mm512_cvtepi32_epi8((__m512i)v));
#elif defined __AVX2__
    __m256i bytes = (__m256i)(v & 255);
    __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
    _mm_storel_epi64((__m128i *)at, _mm_packus_epi16(words, words));
#elif defined __SSE2__
    __m128i bytes = (__m128i)(v & 255), words = _mm_packs_epi32(bytes, bytes);
    int32_t four = _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
    memcpy(at, &four, sizeof four);
#else
    for (int i = 0; i < LANES; i++) at[i] = (uint8_t)v[i];
#endif
}

// ---- pairs of floats ----------------------------------------------------------------------------

#define FLOAT_PAIRS(name, StateType, expression)                                                 \
    static void name(const void *a, const void *b, void *y, int64_t count, const void *state)    \
    {                                                                                            \
        const float *us = a, *vs = b;                                                            \
        float *ys = y;                                                                           \
        const StateType *s = state;                                                              \
        int64_t i = 0;                                                                           \
        for (; i + LANES <= count; i += LANES) {                                                 \
            const f32_vector u = load_f32(us + i), v = load_f32(vs + i), out = (expression);     \
            memcpy(ys + i, &out, sizeof out);                                                    \
        }                                                                                        \
        if (i < count) {                                                                         \
            const f32_vector u = load_some(us + i, count - i), v = load_some(vs + i, count - i); \
            const f32_vector out = (expression);                                                 \
            store_f32(ys + i, out, count - i);                                                   \
        }                                                                                        \
        (void)s;                                                                                 \
    }

FLOAT_PAIRS(add_f32, struct hl_arithmetic, clamp_f32(u + v, s->low_f32, s->high_f32))
FLOAT_PAIRS(sub_f32, struct hl_arithmetic, clamp_f32(u - v, s->low_f32, s->high_f32))
FLOAT_PAIRS(mul_f32, struct hl_arithmetic, clamp_f32(u *v, s->low_f32, s->high_f32))
FLOAT_PAIRS(square_f32, void, (u - v) * (u - v))
FLOAT_PAIRS(prelu_f32, void, choose(u >= 0, u, u *v))

// ---- pairs of bytes -----------------------------------------------------------------------------

#if defined __AVX2__ || defined __aarch64__
#define HAS_BYTES
// x / 2^right rounded half away from 0: what is added before the shift, and how far. x is below 2^30.
struct rounding {
    uint32_t half;
    int32_t less_below_zero;
    int right;
};

static inline struct rounding rounding_of(struct hl_rescale by)
{
    if (by.shift >= 0) return (struct rounding){0};
    return (struct rounding){UINT32_C(1) << (-by.shift - 1), -1, -by.shift};
}

INLINE i32_vector round_right(i32_vector x, struct rounding by)
{
    return (i32_vector)((u32_vector)x + by.half + (u32_vector)((x >> 31) & by.less_below_zero)) >> by.right;
}

INLINE i32_vector clamp_i32(i32_vector v, int32_t low, int32_t high)
{
#if defined WORD
    int_register least = WORD(max_epi32)(WORD(set1_epi32)(low), (int_register)v);
    return (i32_vector)WORD(min_epi32)(WORD(set1_epi32)(high), least);
#else
    return (i32_vector)vminq_s32(vdupq_n_s32(high), vmaxq_s32(vdupq_n_s32(low), (int32x4_t)v));
#endif
}

// What ops/arithmetic.c does with two bytes, taken apart before the loop: values that are computed in it keep it from
// being one of vectors only (0.8 ns an element in place of 0.44, AVX-512).
struct byte_pair {
    int32_t u_zero, v_zero;
    // Sums: (u << bits) * multiplier / 2^31, whose u has 9 bits, from the multiplier's upper bits, which give whole
    // numbers, and its lower ones. v's multiplier is a half.
    int32_t upper, lower;
    int fraction; // bits of what `lower` gives
    struct rounding u;
    int left; // of the sum, product
    int32_t multiplier;
    struct rounding y;
    int32_t zero, low, high; // of y; the range less the zero point
};

enum pair_kind { U_PLUS_V, U_LESS_V, V_LESS_U, U_TIMES_V };

static inline struct byte_pair byte_pair_of(const struct hl_arithmetic *s, const struct hl_operand *u,
                                            const struct hl_operand *v)
{
    const int fraction = 31 - s->bits;
    return (struct byte_pair){
        .u_zero = u->zero,
        .v_zero = v->zero,
        .upper = u->by.multiplier >> fraction,
        .lower = u->by.multiplier & (INT32_MAX >> s->bits),
        .fraction = fraction,
        .u = rounding_of(u->by),
        .left = s->y.by.shift > 0 ? s->y.by.shift : 0,
        .multiplier = s->y.by.multiplier,
        .y = rounding_of(s->y.by),
        .zero = s->y.zero,
        .low = (int32_t)s->low - s->y.zero,
        .high = (int32_t)s->high - s->y.zero,
    };
}

INLINE void byte_pairs(const uint8_t *us, const uint8_t *vs, uint8_t *y, struct byte_pair by, int is_unsigned,
                       enum pair_kind kind)
{
    u32_vector u = load_bytes(us, is_unsigned, by.u_zero);
    u32_vector v = load_bytes(vs, is_unsigned, by.v_zero);
    if (kind == U_TIMES_V) {
        u = u * v << by.left;
    } else {
        u32_vector half = splat_i32(1 << (by.fraction - 1));
        i32_vector part = (i32_vector)add_pairs(half, splat_i32(by.lower), u) >> by.fraction;
        u = (u32_vector)round_right((i32_vector)(u * (uint32_t)by.upper) + part, by.u);
        v = v << (30 - by.fraction);
        u = kind == U_PLUS_V ? u + v : kind == U_LESS_V ? u - v : v - u;
    }
    i32_vector value = round_right((i32_vector)high_product(u, splat_i32(by.multiplier)), by.y);
    store_bytes(y, clamp_i32(value, by.low, by.high) + by.zero);
}

INLINE void byte_pair_loop(const uint8_t *us, const uint8_t *vs, uint8_t *ys, int64_t count, struct byte_pair by,
                           int is_unsigned, enum pair_kind kind)
{
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) byte_pairs(us + i, vs + i, ys + i, by, is_unsigned, kind);
    if (i == count) return;
    uint8_t u[LANES] = {0}, v[LANES] = {0};
    memcpy(u, us + i, (size_t)(count - i));
    memcpy(v, vs + i, (size_t)(count - i));
    byte_pairs(u, v, u, by, is_unsigned, kind);
    memcpy(ys + i, u, (size_t)(count - i));
}

// The operand of the larger scale has the multiplier 1/2, see set_common_scale: it is v.
#define BYTE_SUMS(name, is_unsigned, v_is_b, v_is_a)                                            \
    static void name(const void *a, const void *b, void *y, int64_t count, const void *state)   \
    {                                                                                           \
        const struct hl_arithmetic *s = state;                                                  \
        if (s->b.by.multiplier == 1 << 30 && s->b.by.shift == 0)                                \
            byte_pair_loop(a, b, y, count, byte_pair_of(s, &s->a, &s->b), is_unsigned, v_is_b); \
        else                                                                                    \
            byte_pair_loop(b, a, y, count, byte_pair_of(s, &s->b, &s->a), is_unsigned, v_is_a); \
    }
#define BYTE_PRODUCTS(name, is_unsigned)                                                       \
    static void name(const void *a, const void *b, void *y, int64_t count, const void *state)  \
    {                                                                                          \
        const struct hl_arithmetic *s = state;                                                 \
        byte_pair_loop(a, b, y, count, byte_pair_of(s, &s->a, &s->b), is_unsigned, U_TIMES_V); \
    }
BYTE_SUMS(add_i8, 0, U_PLUS_V, U_PLUS_V)
BYTE_SUMS(add_u8, 1, U_PLUS_V, U_PLUS_V)
BYTE_SUMS(sub_i8, 0, U_LESS_V, V_LESS_U)
BYTE_SUMS(sub_u8, 1, U_LESS_V, V_LESS_U)
BYTE_PRODUCTS(mul_i8, 0)
BYTE_PRODUCTS(mul_u8, 1)
#endif

// ---- floats to bytes and back -------------------------------------------------------------------

// quantize of ops/quantize.c for zero points in the type's range.
INLINE void quantize_lanes(f32_vector x, uint8_t *y, const struct hl_byte_scale *by)
{
    f32_vector steps = x / by->scale;
    const f32_vector low = splat_f32(by->low), high = splat_f32(by->high);
    steps = choose(steps > low, steps, low); // NaN becomes low
    steps = choose(steps < high, steps, high);
    i32_vector whole = __builtin_convertvector(steps, i32_vector);
    const f32_vector rest = steps - __builtin_convertvector(whole, f32_vector);
    whole = whole - (rest >= 0.5f) + (rest <= -0.5f);
    store_bytes(y, whole + by->zero);
}

static void quantize_bytes(const float *x, uint8_t *y, int64_t count, const struct hl_byte_scale *by)
{
    const struct hl_byte_scale to = *by;
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) quantize_lanes(load_f32(x + i), y + i, &to);
    if (i == count) return;
    uint8_t last[LANES];
    quantize_lanes(load_some(x + i, count - i), last, &to);
    memcpy(y + i, last, (size_t)(count - i));
}

INLINE void dequantize_bytes(const uint8_t *x, float *y, int64_t count, const struct hl_byte_scale *by, int is_unsigned)
{
    const float scale = by->scale;
    const int32_t zero = by->zero;
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        const i32_vector steps = (i32_vector)load_bytes(x + i, is_unsigned, zero);
        const f32_vector out = scale * __builtin_convertvector(steps, f32_vector);
        memcpy(y + i, &out, sizeof out);
    }
    for (; i < count; i++) y[i] = scale * (float)((is_unsigned ? x[i] : (int8_t)x[i]) - zero);
}

static void dequantize_i8(const uint8_t *x, float *y, int64_t count, const struct hl_byte_scale *by)
{
    dequantize_bytes(x, y, count, by, 0);
}

static void dequantize_u8(const uint8_t *x, float *y, int64_t count, const struct hl_byte_scale *by)
{
    dequantize_bytes(x, y, count, by, 1);
}

// ---- tables -------------------------------------------------------------------------------------

#if defined __AVX2__
#define HAS_TABLES
#if defined __AVX512F__
#define SPLAT_ROW _mm512_broadcast_i32x4
#else
#define SPLAT_ROW _mm256_broadcastsi128_si256
#endif

// Rows of 16 entries, each looked up by the shuffle, which gives 0 where the index's highest bit is set. Of index i,
// less 16 at each step k, that bit is clear at the last step of its row, i / 16, and at the (at most seven) steps
// before: a row is stored as what is still to be added, without carries, to those. From step 9 on nothing may wrap
// around.
INLINE u8_vector look_up(u8_vector index, const u8_vector *rows)
{
    const u8_vector row_length = (u8_vector){0} + 16;
    u8_vector y = (u8_vector)WORD(shuffle_epi8)((int_register)rows[0], (int_register)index);
    UNROLL for (int k = 1; k < 16; k++)
    {
        index = k <= 8 ? index - row_length : (u8_vector)WORD(subs_epi8)((int_register)index, (int_register)row_length);
        y ^= (u8_vector)WORD(shuffle_epi8)((int_register)rows[k], (int_register)index);
    }
    return y;
}

// 0.11 ns a byte with AVX-512, 0.22 with AVX2, where a loop over bytes takes 0.34.
static void map_bytes(const uint8_t *x, uint8_t *y, int64_t count, const uint8_t *table)
{
    u8_vector rows[16];
    for (int k = 0; k < 16; k++) {
        __m128i row = _mm_loadu_si128((const __m128i *)table + k);
        if (k > 0) row = _mm_xor_si128(row, _mm_loadu_si128((const __m128i *)table + k - 1));
        rows[k] = (u8_vector)SPLAT_ROW(row);
        if (k >= 8) rows[k] ^= rows[k - 8];
    }
    int64_t i = 0;
    for (; i + BYTES <= count; i += BYTES) {
        u8_vector v;
        memcpy(&v, x + i, sizeof v);
        v = look_up(v, rows);
        memcpy(y + i, &v, sizeof v);
    }
    for (; i < count; i++) y[i] = table[x[i]];
}
#endif

// ---- functions of floats ------------------------------------------------------------------------

// e^x = 2^n (1 + upper + lower): x = n log(2) + r, |r| <= log(2) / 2 and a little. log(2) is subtracted in two pieces:
// n times the first, of 10 bits, is exact, and so is the difference, `upper`; the second joins the smaller terms of the
// series, up to r^8 / 8!, whose rest is below 2^-32 of the whole.
struct exponential {
    i32_vector n;
    f32_vector upper, lower;
};

INLINE struct exponential exponential_of(f32_vector x)
{
    const float to_integer = 0x1.8p23f; // its lowest bit is 1
    const f32_vector shifted = add_product(splat_f32(to_integer), x, splat_f32(0x1.715476p0f));
    const f32_vector n = shifted - to_integer, rest = n * 2.12194440e-4f;
    const f32_vector upper = add_product(x, n, splat_f32(-0.693359375f)), r = upper + rest;
    f32_vector sum = add_product(splat_f32(1.0f / 5040), r, splat_f32(1.0f / 40320));
    sum = add_product(splat_f32(1.0f / 720), r, sum);
    sum = add_product(splat_f32(1.0f / 120), r, sum);
    sum = add_product(splat_f32(1.0f / 24), r, sum);
    sum = add_product(splat_f32(1.0f / 6), r, sum);
    sum = add_product(splat_f32(0.5f), r, sum);
    return (struct exponential){(i32_vector)shifted - 0x4b400000, // the bits of to_integer
                                upper, add_product(rest, r * r, sum)};
}

// 2^n, n in [-126, 127].
INLINE f32_vector power_of_2(i32_vector n)
{
    return (f32_vector)((u32_vector)(n + 127) << 23);
}

// Of 1 + upper what the rounding lost is added again: the result is nearly always the nearest float. The power comes in
// two steps, as neither 2^-150 nor 2^128 is a float.
INLINE f32_vector exp_f32(f32_vector x)
{
    const struct exponential e = exponential_of(clamp_f32(x, -104, 89));
    const f32_vector whole = 1 + e.upper, lost = e.upper - (whole - 1);
    const i32_vector half = e.n >> 1;
    return (whole + (lost + e.lower)) * power_of_2(half) * power_of_2(e.n - half);
}

// As the reference kernel says it: with e^x so near, 99 of 100 results are the same, and deep networks stay with it.
// (An approximate reciprocal and a step of Newton's take 1.2 times as long.)
INLINE f32_vector logistic_f32(f32_vector x)
{
    return 1 / (1 + exp_f32(-x));
}

// (1 - t) / (1 + t) with t = e^-2|x|, from t - 1, which is exact near 0 as well.
INLINE f32_vector tanh_f32(f32_vector x)
{
    const struct exponential e = exponential_of(clamp_f32(-2 * magnitude_of(x), -20, 0));
    const f32_vector scale = power_of_2(e.n);
    const f32_vector less = add_product(scale - 1, e.upper + e.lower, scale); // t - 1
    const f32_vector y = less / (2 + less);
    return (f32_vector)((i32_vector)magnitude_of(y) | ((i32_vector)x & INT32_MIN));
}

#define FLOAT_MAP(name, expression)                                                \
    static void name(const float *xs, float *ys, int64_t count, const float *by)   \
    {                                                                              \
        int64_t i = 0;                                                             \
        for (; i + LANES <= count; i += LANES) {                                   \
            const f32_vector x = load_f32(xs + i), out = (expression);             \
            memcpy(ys + i, &out, sizeof out);                                      \
        }                                                                          \
        if (i < count) {                                                           \
            const f32_vector x = load_some(xs + i, count - i), out = (expression); \
            store_f32(ys + i, out, count - i);                                     \
        }                                                                          \
        (void)by;                                                                  \
    }
FLOAT_MAP(map_logistic, logistic_f32(x))
FLOAT_MAP(map_tanh, tanh_f32(x))
FLOAT_MAP(map_exp, exp_f32(x))
FLOAT_MAP(map_sqrt, sqrt_f32(x))
FLOAT_MAP(map_rsqrt, 1 / sqrt_f32(x))
FLOAT_MAP(map_hard_swish, x *clamp_f32(x + 3, 0, 6) / 6)
FLOAT_MAP(map_clamp, clamp_f32(x, by[0], by[1]))
FLOAT_MAP(map_leaky_relu, choose(x > 0, x, x *by[0]))

static const struct hl_element_loops element_loops = {
    .add_f32 = add_f32,
    .sub_f32 = sub_f32,
    .mul_f32 = mul_f32,
    .square_f32 = square_f32,
    .prelu_f32 = prelu_f32,
#if defined HAS_BYTES
    .add_i8 = add_i8,
    .add_u8 = add_u8,
    .sub_i8 = sub_i8,
    .sub_u8 = sub_u8,
    .mul_i8 = mul_i8,
    .mul_u8 = mul_u8,
#endif
    .quantize = quantize_bytes,
    .dequantize_i8 = dequantize_i8,
    .dequantize_u8 = dequantize_u8,
#if defined HAS_TABLES
    .bytes = map_bytes,
#endif
    .logistic = map_logistic,
    .tanh = map_tanh,
    .exp = map_exp,
    .sqrt = map_sqrt,
    .rsqrt = map_rsqrt,
    .hard_swish = map_hard_swish,
    .leaky_relu = map_leaky_relu,
    .clamp = map_clamp,
};

#endif
