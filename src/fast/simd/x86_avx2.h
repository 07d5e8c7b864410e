// SPDX-License-Identifier: Apache-2.0
// The SIMD wrappers that only 256-bit vectors of x86 have in this form (AVX2 and FMA). x86.h includes this file;
// generic.h says what each wrapper does.
#ifndef HALITE_FAST_SIMD_X86_AVX2_H
#define HALITE_FAST_SIMD_X86_AVX2_H

#include <immintrin.h>
#include <stdbool.h>

enum { BYTES = 32 };
#include "fast/simd/vector_types.h"

#define MM(name) _mm256_##name // an instruction on vectors of this level
#define ROUND_REGISTER _mm256_round_ps
typedef __m256 f32_register;
typedef __m256d f64_register;
typedef __m256i int_register;

#define TILE_ROWS 6
#define NARROW_TILE_ROWS 12
enum { REGISTERS = 16 };
#define MAX_PARTS 2
#define HAS_HALVES 0
#define HAS_MASKS 0
#define HAS_RESCALE 1
#define HAS_RESCALE_RIGHT 1
#define HAS_RESCALE_FLOATS 0
#define HAS_TABLES 1
#define HAS_WIDE_TABLES 0
#define HAS_SPREAD 1
#define HAS_POWER_TABLE 0
#define HAS_RSQRT 0
#define HAS_ROUND 1
#define HAS_PARTS 0
#define HAS_FUSED 1

// ---- loads and stores ---------------------------------------------------------------------------

static inline __m256i first_lanes(int64_t count)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

static inline u32_vector load_first(const void *at, int64_t count)
{
    return (u32_vector)_mm256_maskload_epi32(at, first_lanes(count));
}

// Masked stores take 12 cycles on AMD's processors. (1x1 of 256x256, 16 to 2 floats, Zen 3: 646 us with them, 490 so.)
static inline void store_first(void *at, u32_vector v, int64_t count)
{
    if (count >= 8) {
        _mm256_storeu_si256(at, (__m256i)v);
        return;
    }
    char *to = at;
    __m128i left = _mm256_castsi256_si128((__m256i)v);
    if (count & 4) {
        _mm_storeu_si128((__m128i *)(void *)to, left);
        left = _mm256_extracti128_si256((__m256i)v, 1), to += 16;
    }
    if (count & 2) {
        _mm_storel_epi64((__m128i *)(void *)to, left);
        left = _mm_unpackhi_epi64(left, left), to += 8;
    }
    if (count & 1) _mm_storeu_si32(to, left);
}

static inline u32_vector load_u8_as_i32(const uint8_t *at)
{
    return (u32_vector)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)at));
}

static inline u32_vector load_i8_as_i32(const uint8_t *at)
{
    return (u32_vector)_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)at));
}

static inline u32_vector load_i8_as_i16(const int8_t *at)
{
    return (u32_vector)_mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)at));
}

static inline u32_vector load_first_i16(const int16_t *at, int count)
{
    int16_t lanes[WIDE] = {0};
    if (count % 2 == 0) return load_first(at, count / 2);
    for (int i = 0; i < count; i++) lanes[i] = at[i];
    return load_u32(lanes);
}

static inline u32_vector load_first_i8_as_i16(const int8_t *at, int count)
{
    int16_t lanes[WIDE] = {0};
    for (int i = 0; i < count; i++) lanes[i] = at[i];
    return load_u32(lanes);
}

static inline void store_bytes(uint8_t *at, i32_vector v)
{
    __m256i bytes = (__m256i)(v & 255);
    __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
    _mm_storel_epi64((__m128i *)at, _mm_packus_epi16(words, words));
}

// By way of memory the CPU would wait for both stores.
static inline i32_vector join_halves(i32_half first, i32_half second)
{
    return (i32_vector)_mm256_inserti128_si256(_mm256_castsi128_si256((__m128i)first), (__m128i)second, 1);
}

// (What gcc 12 makes of __builtin_convertvector takes four instructions, not one.)
static inline f64_vector doubles_of(i32_half v)
{
    return (f64_vector)_mm256_cvtepi32_pd((__m128i)v);
}

static inline i32_half ints_of(f64_vector v)
{
    return (i32_half)_mm256_cvttpd_epi32((__m256d)v);
}

static inline u8_vector load_halves(const void *a, const void *b)
{
    const __m128i low = _mm_loadu_si128(a), high = _mm_loadu_si128(b);
    return (u8_vector)_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

// ---- arithmetic ---------------------------------------------------------------------------------

static inline f32_vector add_product(f32_vector sum, f32_vector w, f32_vector x)
{
    return (f32_vector)_mm256_fmadd_ps((__m256)w, (__m256)x, (__m256)sum);
}

static inline bool any_lane(i32_vector mask)
{
    return _mm256_movemask_ps((__m256)mask) != 0;
}

static inline float largest_lane(f32_vector v)
{
    float largest = v[0];
    for (int lane = 1; lane < LANES; lane++) largest = v[lane] > largest ? v[lane] : largest;
    return largest;
}

static inline float sum_of_lanes(f32_vector v)
{
    float sum = 0;
    for (int lane = 0; lane < LANES; lane++) sum += v[lane];
    return sum;
}

// Lanes 0, 2 ... of `even`, lanes 1, 3 ... of `odd`.
static inline __m256i even_and_odd(__m256i even, __m256i odd)
{
    return _mm256_blend_epi32(even, odd, 0xaa);
}

// Quads of bytes 0, 4, then 1, 5 and so on.
static inline u8_vector gather_quads(u8_vector v)
{
    return (u8_vector)_mm256_permutevar8x32_epi32((__m256i)v, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

// Lane i of the result is lane lanes[i] of v.
static inline u32_vector permute(u32_vector v, u32_vector lanes)
{
    return (u32_vector)_mm256_permutevar8x32_epi32((__m256i)v, (__m256i)lanes);
}

// ---- integer sums to bytes ----------------------------------------------------------------------

// Both roundings of rescale_lanes as one addition and one shift of 64 bits, for even and odd lanes apart, as
// x86_avx512.h says. There is no arithmetic shift of these: no sum is below -2^62, so 2^62 is added before the shift,
// and `less`, what that has become, is taken away behind it. (1x1 of 56x56, 24 to 144 int8: 322 us, 309 so. Floats that
// are rounded down make 297 of it, but the CPU's rounding must be set around them: a wake word of 55 nodes took 5.2 us,
// and 4.1 with these integers.)
struct right_rescale {
    __m256i multiplier[2], rounding[2], shift[2], less;
};

static inline struct right_rescale right_rescale_of(u32_vector multiplier, u32_vector right)
{
    const __m256i half = _mm256_set1_epi64x(INT64_C(1) << 30), up = _mm256_set1_epi64x((INT64_C(1) << 62) + (1 << 30));
    const __m256i even = _mm256_and_si256((__m256i)right, _mm256_set1_epi64x(UINT32_MAX));
    const __m256i odd = _mm256_srli_epi64((__m256i)right, 32);
    return (struct right_rescale){
        .multiplier = {(__m256i)multiplier, _mm256_srli_epi64((__m256i)multiplier, 32)},
        .rounding = {_mm256_add_epi64(up, _mm256_sllv_epi64(half, even)),
                     _mm256_add_epi64(up, _mm256_sllv_epi64(half, odd))},
        // The result of an odd lane is wanted in the upper half of its 64 bits.
        .shift = {_mm256_add_epi64(even, _mm256_set1_epi64x(31)), _mm256_sub_epi64(odd, _mm256_set1_epi64x(1))},
        .less = _mm256_srlv_epi32(_mm256_set1_epi32(INT32_MIN), (__m256i)right),
    };
}

static inline __m256i rescale_right_half(__m256i x, const struct right_rescale *params, int odd)
{
    const __m256i sum = _mm256_add_epi64(_mm256_mul_epi32(x, params->multiplier[odd]), params->rounding[odd]);
    const __m256i less = _mm256_and_si256(x, _mm256_set1_epi64x(INT64_C(1) << 31));
    return _mm256_srlv_epi64(_mm256_sub_epi64(sum, less), params->shift[odd]);
}

static inline u32_vector rescale_right(u32_vector value, const struct right_rescale *params)
{
    const __m256i x = (__m256i)value;
    const __m256i both =
        even_and_odd(rescale_right_half(x, params, 0), rescale_right_half(_mm256_srli_epi64(x, 32), params, 1));
    return (u32_vector)_mm256_sub_epi32(both, params->less);
}

// The same 16 bytes in each 16 bytes of a vector.
static inline __m256i splat_16_bytes(__m128i bytes)
{
    return _mm256_broadcastsi128_si256(bytes);
}

#endif
