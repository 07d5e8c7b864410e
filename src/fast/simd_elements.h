// SPDX-License-Identifier: Apache-2.0
// The loops of elements.h, in the words of simd_words.h. Included by simd_kernels.h, so once for each level.
#ifndef HALITE_FAST_SIMD_ELEMENTS_H
#define HALITE_FAST_SIMD_ELEMENTS_H

#include <math.h>

#include "fast/elements.h"
#include "fast/simd_words.h"
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
#if defined __AVX512F__
    return (f32_vector)_mm512_sqrt_ps((__m512)x);
#elif defined __AVX2__
    return (f32_vector)_mm256_sqrt_ps((__m256)x);
#elif defined __SSE2__
    return (f32_vector)_mm_sqrt_ps((__m128)x);
#elif defined __aarch64__
    return (f32_vector)vsqrtq_f32((float32x4_t)x);
#else
    for (int i = 0; i < LANES; i++) x[i] = sqrtf(x[i]);
    return x;
#endif
}

// The first `count` lanes, the others 0; and only those stored.
INLINE f32_vector load_some(const float *at, int64_t count)
{
    f32_vector v = {0};
    memcpy(&v, at, (size_t)count * sizeof *at);
    return v;
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
            memcpy(ys + i, &out, (size_t)(count - i) * sizeof(float));                           \
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
// hl_high_mul, of a vector that holds no INT32_MIN.
static inline i32_vector high_product(i32_vector x, int32_t multiplier)
{
#if defined __AVX512F__
    __m512i m = _mm512_set1_epi32(multiplier), half = _mm512_set1_epi64(INT64_C(1) << 30);
    __m512i even = _mm512_mul_epi32((__m512i)x, m);
    __m512i odd = _mm512_mul_epi32(_mm512_srli_epi64((__m512i)x, 32), m);
    even = _mm512_srli_epi64(_mm512_add_epi64(even, half), 31);
    odd = _mm512_slli_epi64(_mm512_add_epi64(odd, half), 1);
    return (i32_vector)_mm512_mask_blend_epi32(0xaaaa, even, odd);
#elif defined __AVX2__
    __m256i m = _mm256_set1_epi32(multiplier), half = _mm256_set1_epi64x(INT64_C(1) << 30);
    __m256i even = _mm256_mul_epi32((__m256i)x, m);
    __m256i odd = _mm256_mul_epi32(_mm256_srli_epi64((__m256i)x, 32), m);
    even = _mm256_srli_epi64(_mm256_add_epi64(even, half), 31);
    odd = _mm256_slli_epi64(_mm256_add_epi64(odd, half), 1);
    return (i32_vector)_mm256_blend_epi32(even, odd, 0xaa);
#else
    return (i32_vector)vqrdmulhq_n_s32((int32x4_t)x, multiplier);
#endif
}

// The lowest byte of each lane.
static inline void store_bytes(uint8_t *at, i32_vector v)
{
#if defined __AVX512F__
    _mm_storeu_si128((__m128i *)at, _mm512_cvtepi32_epi8((__m512i)v));
#elif defined __AVX2__
    __m256i bytes = (__m256i)(v & 255);
    __m128i words =
        _mm_packus_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
    _mm_storel_epi64((__m128i *)at, _mm_packus_epi16(words, words));
#else
    for (int i = 0; i < LANES; i++) at[i] = (uint8_t)v[i];
#endif
}

// hl_rescale_apply. What is shifted right, below 2^30, does not overflow by what is added before.
INLINE i32_vector rescale(u32_vector x, struct hl_rescale by)
{
    const int left = by.shift > 0 ? by.shift : 0, right = by.shift > 0 ? 0 : -by.shift;
    const uint32_t half = right ? UINT32_C(1) << (right - 1) : 0;
    const int32_t less_below_zero = right ? -1 : 0;
    const i32_vector value = high_product((i32_vector)(x << left), by.multiplier);
    return (i32_vector)((u32_vector)value + half + (u32_vector)((value >> 31) & less_below_zero)) >>
           right;
}

INLINE i32_vector clamp_i32(i32_vector v, int32_t low, int32_t high)
{
#if defined __AVX512F__
    v = (i32_vector)_mm512_max_epi32(_mm512_set1_epi32(low), (__m512i)v);
    return (i32_vector)_mm512_min_epi32(_mm512_set1_epi32(high), (__m512i)v);
#elif defined __AVX2__
    v = (i32_vector)_mm256_max_epi32(_mm256_set1_epi32(low), (__m256i)v);
    return (i32_vector)_mm256_min_epi32(_mm256_set1_epi32(high), (__m256i)v);
#else
    return (i32_vector)vminq_s32(vdupq_n_s32(high), vmaxq_s32(vdupq_n_s32(low), (int32x4_t)v));
#endif
}

enum pair_kind { SUM, DIFFERENCE, PRODUCT };

INLINE void byte_pairs(const uint8_t *a, const uint8_t *b, uint8_t *y,
                       const struct hl_arithmetic *s, int is_unsigned, enum pair_kind kind)
{
    u32_vector u = load_bytes(a, is_unsigned, s->a.zero), v = load_bytes(b, is_unsigned, s->b.zero);
    if (kind == PRODUCT) {
        u *= v;
    } else {
        u = (u32_vector)rescale(u << s->bits, s->a.by);
        v = (u32_vector)rescale(v << s->bits, s->b.by);
        u = kind == SUM ? u + v : u - v;
    }
    store_bytes(y, s->y.zero + clamp_i32(rescale(u, s->y.by), (int32_t)s->low - s->y.zero,
                                         (int32_t)s->high - s->y.zero));
}

#define BYTE_PAIRS(name, is_unsigned, kind)                                                   \
    static void name(const void *a, const void *b, void *y, int64_t count, const void *state) \
    {                                                                                         \
        const uint8_t *us = a, *vs = b;                                                       \
        uint8_t *ys = y;                                                                      \
        const struct hl_arithmetic s = *(const struct hl_arithmetic *)state;                  \
        int64_t i = 0;                                                                        \
        for (; i + LANES <= count; i += LANES)                                                \
            byte_pairs(us + i, vs + i, ys + i, &s, is_unsigned, kind);                        \
        if (i < count) {                                                                      \
            uint8_t u[LANES] = {0}, v[LANES] = {0};                                           \
            memcpy(u, us + i, (size_t)(count - i));                                           \
            memcpy(v, vs + i, (size_t)(count - i));                                           \
            byte_pairs(u, v, u, &s, is_unsigned, kind);                                       \
            memcpy(ys + i, u, (size_t)(count - i));                                           \
        }                                                                                     \
    }
BYTE_PAIRS(add_i8, 0, SUM)
BYTE_PAIRS(add_u8, 1, SUM)
BYTE_PAIRS(sub_i8, 0, DIFFERENCE)
BYTE_PAIRS(sub_u8, 1, DIFFERENCE)
BYTE_PAIRS(mul_i8, 0, PRODUCT)
BYTE_PAIRS(mul_u8, 1, PRODUCT)
#endif

// ---- functions of floats ------------------------------------------------------------------------

// x = n log(2) + r, |r| <= log(2) / 2 and a little: *power becomes n, as a float in the low bits of one that is large.
// log(2) is subtracted in two pieces: n times the first, of 10 bits, is exact.
INLINE f32_vector split_exponent(f32_vector x, i32_vector *power)
{
    const float to_integer = 0x1.8p23f;
    const f32_vector shifted = add_product(splat_f32(to_integer), x, splat_f32(0x1.715476p0f));
    const f32_vector n = shifted - to_integer;
    *power = (i32_vector)shifted - 0x4b400000; // the bits of to_integer
    f32_vector r = add_product(x, n, splat_f32(-0.693359375f));
    return add_product(r, n, splat_f32(2.12194440e-4f));
}

// e^r - 1: the series up to r^7 / 7!, whose rest is below 2^-27 of the whole.
INLINE f32_vector exp_less_1(f32_vector r)
{
    f32_vector sum = add_product(splat_f32(1.0f / 720), r, splat_f32(1.0f / 5040));
    sum = add_product(splat_f32(1.0f / 120), r, sum);
    sum = add_product(splat_f32(1.0f / 24), r, sum);
    sum = add_product(splat_f32(1.0f / 6), r, sum);
    sum = add_product(splat_f32(0.5f), r, sum);
    return add_product(r, r * r, sum);
}

// 2^n, n in [-126, 127].
INLINE f32_vector power_of_2(i32_vector n)
{
    return (f32_vector)((u32_vector)(n + 127) << 23);
}

// In two steps, as neither 2^-150 nor 2^128 is a float.
INLINE f32_vector exp_f32(f32_vector x)
{
    i32_vector n;
    const f32_vector r = split_exponent(clamp_f32(x, -104, 89), &n);
    const i32_vector half = n >> 1;
    return (exp_less_1(r) + 1) * power_of_2(half) * power_of_2(n - half);
}

// t = e^-|x|; 1 / (1 + t), or t times that.
INLINE f32_vector logistic_f32(f32_vector x)
{
    const f32_vector t = exp_f32(-magnitude_of(x));
    return choose(x < 0, t, splat_f32(1)) / (1 + t);
}

// (1 - t) / (1 + t) with t = e^-2|x|, from t - 1, which is exact near 0 as well.
INLINE f32_vector tanh_f32(f32_vector x)
{
    i32_vector n;
    const f32_vector r = split_exponent(clamp_f32(-2 * magnitude_of(x), -20, 0), &n);
    const f32_vector scale = power_of_2(n);
    const f32_vector less = add_product(scale - 1, exp_less_1(r), scale); // t - 1
    const f32_vector y = less / (2 + less);
    return (f32_vector)((i32_vector)magnitude_of(y) | ((i32_vector)x & INT32_MIN));
}

#define FLOAT_MAP(name, expression)                                                \
    static void name(const float *xs, float *ys, int64_t count, float parameter)   \
    {                                                                              \
        int64_t i = 0;                                                             \
        for (; i + LANES <= count; i += LANES) {                                   \
            const f32_vector x = load_f32(xs + i), out = (expression);             \
            memcpy(ys + i, &out, sizeof out);                                      \
        }                                                                          \
        if (i < count) {                                                           \
            const f32_vector x = load_some(xs + i, count - i), out = (expression); \
            memcpy(ys + i, &out, (size_t)(count - i) * sizeof(float));             \
        }                                                                          \
        (void)parameter;                                                           \
    }
FLOAT_MAP(map_logistic, logistic_f32(x))
FLOAT_MAP(map_tanh, tanh_f32(x))
FLOAT_MAP(map_exp, exp_f32(x))
FLOAT_MAP(map_sqrt, sqrt_f32(x))
FLOAT_MAP(map_rsqrt, 1 / sqrt_f32(x))
FLOAT_MAP(map_hard_swish, x *clamp_f32(x + 3, 0, 6) / 6)
FLOAT_MAP(map_leaky_relu, choose(x > 0, x, x *parameter))

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
    .logistic = map_logistic,
    .tanh = map_tanh,
    .exp = map_exp,
    .sqrt = map_sqrt,
    .rsqrt = map_rsqrt,
    .hard_swish = map_hard_swish,
    .leaky_relu = map_leaky_relu,
};

#endif
