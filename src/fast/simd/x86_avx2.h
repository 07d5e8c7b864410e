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
#define HAS_RESCALE_RIGHT 0
#define HAS_RESCALE_FLOATS 1
#define ROUNDS_BY_STATE 1
#define HAS_TABLES 1
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

// What the shifts of rescale_doubled may be.
static inline bool fits_float_rescale(u32_vector right, int columns)
{
    const __m256i below = _mm256_cmpgt_epi32(_mm256_set1_epi32(MIN_FLOAT_SHIFT), (__m256i)right);
    const __m256i above = _mm256_cmpgt_epi32((__m256i)right, _mm256_set1_epi32(MAX_FLOAT_SHIFT));
    return _mm256_testz_si256(_mm256_or_si256(below, above), first_lanes(columns));
}

// Instructions have no rounding of their own, but follow the CPU's. Nothing that is between these two in the program is
// loaded before, or stored after, and nothing else is computed there in floats.
static inline unsigned round_down(void)
{
    const unsigned before = _mm_getcsr();
    _mm_setcsr((before & ~(unsigned)_MM_ROUND_MASK) | _MM_ROUND_DOWN);
    __asm__ volatile("" ::: "memory");
    return before;
}

static inline void round_as(unsigned before)
{
    __asm__ volatile("" ::: "memory");
    _mm_setcsr(before);
}

#define MUL_DOWN _mm256_mul_ps
#define ADD_DOWN _mm256_add_ps
#define FMADD_DOWN _mm256_fmadd_ps
#define INTEGER_DOWN _mm256_cvtps_epi32

// The same 16 bytes in each 16 bytes of a vector.
static inline __m256i splat_16_bytes(__m128i bytes)
{
    return _mm256_broadcastsi128_si256(bytes);
}

#endif
