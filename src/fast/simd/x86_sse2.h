// SPDX-License-Identifier: Apache-2.0
// The SIMD wrappers that only 128-bit vectors of x86 have in this form (SSE2). x86.h includes this file; generic.h says
// what each wrapper does.
#ifndef HALITE_FAST_SIMD_X86_SSE2_H
#define HALITE_FAST_SIMD_X86_SSE2_H

#include <emmintrin.h>
#include <stdbool.h>

enum { BYTES = 16 };
#include "fast/simd/lanes.h"
#include "fast/simd/vector_types.h"

#define MM(name) _mm_##name // an instruction on vectors of this level
typedef __m128 f32_register;
typedef __m128d f64_register;
typedef __m128i int_register;

#define TILE_ROWS 4
enum { REGISTERS = 16 };
#define MAX_PARTS 1
#define HAS_HALVES 0
#define HAS_MASKS 0
#define HAS_RESCALE 0
#define HAS_RESCALE_RIGHT 0
#define HAS_RESCALE_FLOATS 0
#define HAS_TABLES 0
#define HAS_WIDE_TABLES 0
#define HAS_SPREAD 0
#define HAS_POWER_TABLE 0
#define HAS_RSQRT 0
#define HAS_ROUND 0
#define HAS_PARTS 0
#define HAS_FUSED 0

// Each of 4 bytes, four times.
static inline __m128i load_4_times(const uint8_t *at)
{
    int32_t four;
    memcpy(&four, at, sizeof four);
    __m128i bytes = _mm_cvtsi32_si128(four), twice = _mm_unpacklo_epi8(bytes, bytes);
    return _mm_unpacklo_epi16(twice, twice);
}

static inline u32_vector load_u8_as_i32(const uint8_t *at)
{
    return (u32_vector)_mm_srli_epi32(load_4_times(at), 24);
}

static inline u32_vector load_i8_as_i32(const uint8_t *at)
{
    return (u32_vector)_mm_srai_epi32(load_4_times(at), 24);
}

static inline u32_vector load_i8_as_i16(const int8_t *at)
{
    __m128i bytes = _mm_loadl_epi64((const __m128i *)at);
    return (u32_vector)_mm_srai_epi16(_mm_unpacklo_epi8(bytes, bytes), 8);
}

static inline void store_bytes(uint8_t *at, i32_vector v)
{
    __m128i bytes = (__m128i)(v & 255), words = _mm_packs_epi32(bytes, bytes);
    int32_t four = _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
    memcpy(at, &four, sizeof four);
}

static inline f32_vector add_product(f32_vector sum, f32_vector w, f32_vector x)
{
    return sum + w * x;
}

static inline bool any_lane(i32_vector mask)
{
    return _mm_movemask_ps((__m128)mask) != 0;
}

#endif
