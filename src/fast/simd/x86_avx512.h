// SPDX-License-Identifier: Apache-2.0
// The SIMD wrappers that only 512-bit vectors of x86 have in this form (AVX-512 F, BW, DQ and VL). x86.h includes this
// file; generic.h says what each wrapper does.
#ifndef HALITE_FAST_SIMD_X86_AVX512_H
#define HALITE_FAST_SIMD_X86_AVX512_H

#include <immintrin.h>
#include <stdbool.h>

enum { BYTES = 64 };
#include "fast/simd/vector_types.h"

#define MM(name) _mm512_##name // an instruction on vectors of this level
#define ROUND_REGISTER _mm512_roundscale_ps
typedef __m512 f32_register;
typedef __m512d f64_register;
typedef __m512i int_register;

#define TILE_ROWS 14
enum { REGISTERS = 32 };
#define MAX_PARTS 4
#define HAS_HALVES 1
#define HAS_MASKS 1
#define HAS_RESCALE 1
#define HAS_RESCALE_RIGHT 1
#define HAS_RESCALE_FLOATS 1
#define HAS_TABLES 1
#define HAS_WIDE_TABLES 1
#define HAS_SPREAD 1
#define HAS_POWER_TABLE 1
#define HAS_RSQRT 1
#define HAS_ROUND 1
#define HAS_PARTS 1
#define HAS_FUSED 1
#define HAS_TERNARY 1

// ---- loads and stores ---------------------------------------------------------------------------

static inline __mmask16 first_lanes(int64_t count)
{
    return (__mmask16)((1u << count) - 1);
}

static inline u32_vector load_first(const void *at, int64_t count)
{
    return (u32_vector)_mm512_maskz_loadu_epi32(first_lanes(count), at);
}

static inline void store_first(void *at, u32_vector v, int64_t count)
{
    _mm512_mask_storeu_epi32(at, first_lanes(count), (__m512i)v);
}

static inline u32_vector load_u8_as_i32(const uint8_t *at)
{
    return (u32_vector)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)at));
}

static inline u32_vector load_i8_as_i32(const uint8_t *at)
{
    return (u32_vector)_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)at));
}

static inline u32_vector load_i8_as_i16(const int8_t *at)
{
    return (u32_vector)_mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)at));
}

static inline u32_vector load_first_i16(const int16_t *at, int count)
{
    return (u32_vector)_mm512_maskz_loadu_epi16((1u << count) - 1, at);
}

static inline u32_vector load_first_i8_as_i16(const int8_t *at, int count)
{
    return (u32_vector)_mm512_cvtepi8_epi16(_mm256_maskz_loadu_epi8((1u << count) - 1, at));
}

static inline u32_vector load_first_bytes(const uint8_t *at, int count)
{
    return (u32_vector)_mm512_maskz_loadu_epi8((UINT64_C(1) << count) - 1, at);
}

static inline void store_bytes(uint8_t *at, i32_vector v)
{
    _mm_storeu_si128((__m128i *)at, _mm512_cvtepi32_epi8((__m512i)v));
}

static inline void store_some_bytes(uint8_t *at, u8_vector v, int first, int count)
{
    const __mmask32 mask = (__mmask32)((UINT64_C(1) << count) - 1);
    const __m512i all = (__m512i)v;
    const __m256i half = first < 32 ? _mm512_castsi512_si256(all) : _mm512_extracti64x4_epi64(all, 1);
    const __m128i quarter = _mm256_extracti128_si256(half, 1);
    _mm256_mask_storeu_epi8(at, mask, first % 32 == 0 ? half : _mm256_castsi128_si256(quarter));
}

// By way of memory the CPU would wait for both stores.
static inline i32_vector join_halves(i32_half first, i32_half second)
{
    return (i32_vector)_mm512_inserti64x4(_mm512_castsi256_si512((__m256i)first), (__m256i)second, 1);
}

// (What gcc 12 makes of __builtin_convertvector takes four instructions, not one.)
static inline f64_vector doubles_of(i32_half v)
{
    return (f64_vector)_mm512_cvtepi32_pd((__m256i)v);
}

static inline i32_half ints_of(f64_vector v)
{
    return (i32_half)_mm512_cvttpd_epi32((__m512d)v);
}

static inline u8_vector load_halves(const void *a, const void *b)
{
    const __m256i low = _mm256_loadu_si256(a), high = _mm256_loadu_si256(b);
    return (u8_vector)_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

static inline u8_vector load_quarters(const void *a, const void *b, const void *c, const void *d)
{
    const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(a)), _mm_loadu_si128(b), 1);
    const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(c)), _mm_loadu_si128(d), 1);
    return (u8_vector)_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

// ---- arithmetic ---------------------------------------------------------------------------------

static inline f32_half add_product_half(f32_half sum, f32_half w, f32_half x)
{
    return (f32_half)_mm256_mask_fmadd_ps((__m256)w, (__mmask8)-1, (__m256)x, (__m256)sum); // FMA has no flag here
}

static inline f32_half load_f32_half(const float *at)
{
    return (f32_half)_mm256_loadu_ps(at);
}

static inline void store_f32_half(float *at, f32_half v)
{
    _mm256_storeu_ps(at, (__m256)v);
}

static inline f32_half clamp_f32_half(f32_half v, float low, float high)
{
    return (f32_half)_mm256_min_ps(_mm256_set1_ps(high), _mm256_max_ps(_mm256_set1_ps(low), (__m256)v));
}

static inline f32_half low_half(f32_vector v)
{
    return (f32_half)_mm512_castps512_ps256((__m512)v);
}

static inline f32_vector widen_half(f32_half v)
{
    return (f32_vector)_mm512_castps256_ps512((__m256)v);
}

static inline f32_vector rsqrt_estimate(f32_vector x)
{
    return (f32_vector)_mm512_rsqrt14_ps((__m512)x);
}

static inline f32_vector fraction_of(f32_vector x)
{
    return (f32_vector)_mm512_getmant_ps((__m512)x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
}

static inline f32_vector exponent_of(f32_vector x)
{
    return (f32_vector)_mm512_getexp_ps((__m512)x);
}

static inline f32_vector add_product(f32_vector sum, f32_vector w, f32_vector x)
{
    return (f32_vector)_mm512_fmadd_ps((__m512)w, (__m512)x, (__m512)sum);
}

static inline bool any_lane(i32_vector mask)
{
    return _mm512_movepi32_mask((__m512i)mask) != 0;
}

static inline f32_vector with_sign_of(f32_vector x, f32_vector size)
{
    enum { SIZE_OR_SIGN = 0xf8 }; // size | (x & mask)
    return (f32_vector)_mm512_ternarylogic_epi32((__m512i)size, (__m512i)x, _mm512_set1_epi32(INT32_MIN), SIZE_OR_SIGN);
}

static inline float largest_lane(f32_vector v)
{
    return _mm512_reduce_max_ps((__m512)v);
}

static inline float sum_of_lanes(f32_vector v)
{
    return _mm512_reduce_add_ps((__m512)v);
}

// Lanes 0, 2 ... of `even`, lanes 1, 3 ... of `odd`.
static inline __m512i even_and_odd(__m512i even, __m512i odd)
{
    return _mm512_mask_mov_epi32(even, 0xaaaa, odd);
}

// Quads of bytes 0, 4, 8, 12, then 1, 5, 9, 13 and so on.
static inline u8_vector gather_quads(u8_vector v)
{
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return (u8_vector)_mm512_permutexvar_epi32(order, (__m512i)v);
}

// Lane i of the result is lane lanes[i] of v.
static inline u32_vector permute(u32_vector v, u32_vector lanes)
{
    return (u32_vector)_mm512_permutexvar_epi32((__m512i)lanes, (__m512i)v);
}

static inline f32_vector scale_by_power(f32_vector v, f32_vector n)
{
    return (f32_vector)_mm512_scalef_ps((__m512)v, (__m512)n);
}

// The same 16 bytes in each 16 bytes of a vector.
static inline __m512i splat_16_bytes(__m128i bytes)
{
    return _mm512_broadcast_i32x4(bytes);
}

// ---- integer sums to bytes ----------------------------------------------------------------------

// Both roundings of rescale_lanes as one addition and one shift of 64 bits, for even and odd lanes apart. With
// h = 2^(right - 1), ((x * m + 2^30) >> 31) + h, less 1 where that is negative, >> right, is
// (x * m + 2^30 + (h << 31), less 2^31 where x is negative) >> (31 + right): where the signs of x and of its product
// differ, the product has become 0, which rounds to 0 in either way.
struct right_rescale {
    __m512i multiplier[2], rounding[2], shift[2];
};

static inline struct right_rescale right_rescale_of(u32_vector multiplier, u32_vector right)
{
    const __m512i one = _mm512_set1_epi64(1), half = _mm512_set1_epi64(INT64_C(1) << 30);
    const __m512i even = _mm512_and_si512((__m512i)right, _mm512_set1_epi64(UINT32_MAX));
    const __m512i odd = _mm512_srli_epi64((__m512i)right, 32);
    return (struct right_rescale){
        .multiplier = {(__m512i)multiplier, _mm512_srli_epi64((__m512i)multiplier, 32)},
        .rounding = {_mm512_add_epi64(half, _mm512_sllv_epi64(half, even)),
                     _mm512_add_epi64(half, _mm512_sllv_epi64(half, odd))},
        // The result of an odd lane is wanted in the upper half of its 64 bits.
        .shift = {_mm512_add_epi64(even, _mm512_set1_epi64(31)), _mm512_sub_epi64(odd, one)},
    };
}

static inline __m512i rescale_right_half(__m512i x, const struct right_rescale *params, int odd)
{
    const __m512i sum = _mm512_add_epi64(_mm512_mul_epi32(x, params->multiplier[odd]), params->rounding[odd]);
    const __m512i less = _mm512_and_si512(x, _mm512_set1_epi64(INT64_C(1) << 31));
    return _mm512_srav_epi64(_mm512_sub_epi64(sum, less), params->shift[odd]);
}

static inline u32_vector rescale_right(u32_vector value, const struct right_rescale *params)
{
    const __m512i x = (__m512i)value;
    return (u32_vector)even_and_odd(rescale_right_half(x, params, 0),
                                    rescale_right_half(_mm512_srli_epi64(x, 32), params, 1));
}

// In floats, for shifts of MIN_FLOAT_SHIFT to MAX_FLOAT_SHIFT. Let P be x * m, and s the sign of x. The shift of 64
// bits above, less its last bit, is w = floor((P + s * 2^30) / 2^(30 + right)), and the result is (w + 1) >> 1. For w
// to be right, P must stay on its side of all B, the multiples of 2^30 that it is compared with. Floats hold them,
// because a byte needs |B| <= 514 * 2^(30 + right); and then |x| <= 514 * 2^right, and a float holds x as well.
// m is the sum of a float of 24 bits, times 2^7, and one of 7 bits. x times the latter has right + 16 bits, and with
// s * 2^30 it has 31: rounding it down to 24 of them makes it a multiple of 2^7 at most. So are B and the product with
// the former, and what is rounded down to such a multiple stays on its side of B. The second fused multiply-add rounds
// down to a float, which is not below a whole number of 2^(30 + right) that the sum is not below. Larger x stay outside
// of the range, and below 2^31 after the product.
// (ResNet-50: 20.4 ms with s * 2^30 as another addition, 20.1 so.)
enum { MIN_FLOAT_SHIFT = 2, MAX_FLOAT_SHIFT = 14 };
#define DOWN (_MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)

struct float_rescale {
    __m512 high, low, nudge;
};

static inline bool fits_float_rescale(u32_vector right, int columns)
{
    const __m512i above = _mm512_sub_epi32((__m512i)right, _mm512_set1_epi32(MIN_FLOAT_SHIFT));
    const __m512i most = _mm512_set1_epi32(MAX_FLOAT_SHIFT - MIN_FLOAT_SHIFT);
    return !_mm512_mask_cmpgt_epu32_mask(first_lanes(columns < LANES ? columns : LANES), above, most);
}

static inline struct float_rescale float_rescale_of(u32_vector multiplier, u32_vector right)
{
    enum { LOW_BITS = 7, MANTISSA = 23, BIAS = 127, ONE = 30 };
    const u32_vector high = (multiplier + (1u << (LOW_BITS - 1))) & -(1u << LOW_BITS);
    const __m512 power = (__m512)((BIAS - ONE - right) << MANTISSA);
    return (struct float_rescale){
        .high = _mm512_mul_ps(_mm512_cvtepu32_ps((__m512i)high), power),
        .low = _mm512_mul_ps(_mm512_cvtepi32_ps((__m512i)(multiplier - high)), power),
        .nudge = (__m512)((BIAS - right) << MANTISSA),
    };
}

static inline u32_vector rescale_doubled(u32_vector value, const struct float_rescale *params)
{
    const __m512 x = _mm512_cvtepi32_ps((__m512i)value);
    const __m512 nudge = _mm512_or_ps(params->nudge, _mm512_and_ps(x, _mm512_set1_ps(-0.0f)));
    const __m512 sum = _mm512_fmadd_round_ps(x, params->high, _mm512_fmadd_round_ps(x, params->low, nudge, DOWN), DOWN);
    return (u32_vector)_mm512_cvt_roundps_epi32(sum, DOWN);
}

// ---- wide tables --------------------------------------------------------------------------------

// One instruction of VBMI looks up 128 bytes. Not all CPUs of this level have it, so these are whole loops.
#define VBMI __attribute__((target("avx512vbmi")))

struct wide_table {
    __m512i quarters[4];
};

static inline struct wide_table load_wide_table(const uint8_t *table)
{
    struct wide_table t;
    for (int q = 0; q < 4; q++) t.quarters[q] = _mm512_loadu_si512(table + 64 * q);
    return t;
}

static inline __mmask64 first_bytes(int64_t count)
{
    return count < 64 ? (__mmask64)((UINT64_C(1) << count) - 1) : UINT64_MAX;
}

VBMI static inline __m512i look_up_wide(const struct wide_table *t, __m512i index)
{
    const __m512i low = _mm512_permutex2var_epi8(t->quarters[0], index, t->quarters[1]);
    const __m512i high = _mm512_permutex2var_epi8(t->quarters[2], index, t->quarters[3]);
    return _mm512_mask_mov_epi8(low, _mm512_movepi8_mask(index), high);
}

VBMI static inline uint64_t sum_by_wide_tables(const uint8_t *x, int64_t count, uint8_t add,
                                               const uint8_t planes[3][256])
{
    const __m512i none = _mm512_setzero_si512(), adds = _mm512_set1_epi8((char)add);
    struct wide_table tables[3];
    __m512i sums[3] = {none, none, none};
    for (int p = 0; p < 3; p++) tables[p] = load_wide_table(planes[p]);
    for (int64_t i = 0; i < count; i += 64) {
        const __mmask64 mask = first_bytes(count - i);
        const __m512i index = _mm512_add_epi8(_mm512_maskz_loadu_epi8(mask, x + i), adds);
        UNROLL for (int p = 0; p < 3; p++)
        {
            const __m512i bytes = _mm512_maskz_mov_epi8(mask, look_up_wide(&tables[p], index));
            sums[p] = _mm512_add_epi64(sums[p], _mm512_sad_epu8(bytes, none));
        }
    }
    sums[0] = _mm512_add_epi64(sums[0], _mm512_slli_epi64(sums[1], 8));
    return (uint64_t)_mm512_reduce_add_epi64(_mm512_add_epi64(sums[0], _mm512_slli_epi64(sums[2], 16)));
}

VBMI static inline void map_by_wide_table(const uint8_t *x, uint8_t *y, int64_t count, uint8_t add,
                                          const uint8_t *table)
{
    const struct wide_table rows = load_wide_table(table);
    const __m512i adds = _mm512_set1_epi8((char)add);
    for (int64_t i = 0; i < count; i += 64) {
        const __mmask64 mask = first_bytes(count - i);
        const __m512i index = _mm512_add_epi8(_mm512_maskz_loadu_epi8(mask, x + i), adds);
        _mm512_mask_storeu_epi8(y + i, mask, look_up_wide(&rows, index));
    }
}

// ---- dot products of bytes ----------------------------------------------------------------------

#if defined __AVX512VNNI__
#define HAS_DOT4 1
static inline u32_vector add_dot4(u32_vector sum, u32_vector w, u32_vector x)
{
    return (u32_vector)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)x, (__m512i)w);
}

static inline u32_half add_dot4_half(u32_half sum, u32_half w, u32_half x)
{
    return (u32_half)_mm256_dpbusd_epi32((__m256i)sum, (__m256i)x, (__m256i)w);
}
#endif

#endif
