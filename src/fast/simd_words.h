// SPDX-License-Identifier: Apache-2.0
// The words in which simd_kernels.h is written, for the instructions that its file is compiled for: vectors of LANES floats
// or 32-bit integers (BYTES each), and what the compilers' vector types do not say.
#ifndef HALITE_FAST_SIMD_WORDS_H
#define HALITE_FAST_SIMD_WORDS_H

#include <stdint.h>
#include <string.h>

#if defined __SSE2__
#include <immintrin.h>
#elif defined __aarch64__
#include <arm_neon.h>
#endif

#if defined __AVX512F__
enum { BYTES = 64 };
#elif defined __AVX2__
enum { BYTES = 32 };
#else
enum { BYTES = 16 };
#endif
enum { LANES = BYTES / 4 };

typedef float f32_vector __attribute__((vector_size(BYTES)));
typedef uint32_t u32_vector __attribute__((vector_size(BYTES))); // sums wrap
typedef int32_t i32_vector __attribute__((vector_size(BYTES)));
typedef uint8_t u8_lanes __attribute__((vector_size(LANES)));
typedef int8_t i8_lanes __attribute__((vector_size(LANES)));

static inline f32_vector load_f32(const float *at)
{
    f32_vector v;
    memcpy(&v, at, sizeof v);
    return v;
}

// The first `count` floats, LANES at most, without a call for fewer (8 columns at 12544 positions: 0.19 ms with memcpy, 0.16
// without).
static inline void store_f32(float *at, f32_vector v, int count)
{
    if (count >= LANES) {
        memcpy(at, &v, sizeof v);
        return;
    }
#if defined __AVX512F__
    _mm512_mask_storeu_ps(at, (__mmask16)((1 << count) - 1), (__m512)v);
#else
    memcpy(at, &v, (size_t)count * sizeof *at);
#endif
}

static inline u32_vector load_i32(const int32_t *at)
{
    u32_vector v;
    memcpy(&v, at, sizeof v);
    return v;
}

// LANES bytes, widened, less zero. (gcc 12 makes single bytes of a conversion of vectors.)
static inline u32_vector load_bytes(const uint8_t *at, int is_unsigned, int32_t zero)
{
    u32_vector wide;
#if defined __AVX512F__
    __m128i bytes = _mm_loadu_si128((const __m128i *)at);
    wide = (u32_vector)(is_unsigned ? _mm512_cvtepu8_epi32(bytes) : _mm512_cvtepi8_epi32(bytes));
#elif defined __AVX2__
    __m128i bytes = _mm_loadl_epi64((const __m128i *)at);
    wide = (u32_vector)(is_unsigned ? _mm256_cvtepu8_epi32(bytes) : _mm256_cvtepi8_epi32(bytes));
#elif defined __SSE2__
    int32_t four;
    memcpy(&four, at, sizeof four);
    __m128i bytes = _mm_cvtsi32_si128(four);
    __m128i twice = _mm_unpacklo_epi8(bytes, bytes);
    __m128i high = _mm_unpacklo_epi16(twice, twice); // each byte four times
    wide = (u32_vector)(is_unsigned ? _mm_srli_epi32(high, 24) : _mm_srai_epi32(high, 24));
#else
    u8_lanes bytes;
    memcpy(&bytes, at, sizeof bytes);
    wide = is_unsigned ? __builtin_convertvector(bytes, u32_vector)
                       : (u32_vector) __builtin_convertvector((i8_lanes)bytes, i32_vector);
#endif
    return wide - (uint32_t)zero;
}

// sum + w * x, fused where the CPU can.
static inline f32_vector add_product(f32_vector sum, f32_vector w, f32_vector x)
{
#if defined __AVX512F__
    return (f32_vector)_mm512_fmadd_ps((__m512)w, (__m512)x, (__m512)sum);
#elif defined __AVX2__
    return (f32_vector)_mm256_fmadd_ps((__m256)w, (__m256)x, (__m256)sum);
#elif defined __aarch64__
    return (f32_vector)vfmaq_f32((float32x4_t)sum, (float32x4_t)w, (float32x4_t)x);
#else
    return sum + w * x;
#endif
}

static inline f32_vector splat_f32(float x)
{
    return x - (f32_vector){0};
}

static inline u32_vector splat_i32(int32_t x)
{
    return (uint32_t)x + (u32_vector){0};
}

// a < b ? a : b and a > b ? a : b, as these say with NaN.
static inline f32_vector min_f32(f32_vector a, f32_vector b)
{
#if defined __AVX512F__
    return (f32_vector)_mm512_min_ps((__m512)a, (__m512)b);
#elif defined __AVX2__
    return (f32_vector)_mm256_min_ps((__m256)a, (__m256)b);
#elif defined __SSE2__
    return (f32_vector)_mm_min_ps((__m128)a, (__m128)b);
#else
    for (int i = 0; i < LANES; i++) a[i] = a[i] < b[i] ? a[i] : b[i];
    return a;
#endif
}

static inline f32_vector max_f32(f32_vector a, f32_vector b)
{
#if defined __AVX512F__
    return (f32_vector)_mm512_max_ps((__m512)a, (__m512)b);
#elif defined __AVX2__
    return (f32_vector)_mm256_max_ps((__m256)a, (__m256)b);
#elif defined __SSE2__
    return (f32_vector)_mm_max_ps((__m128)a, (__m128)b);
#else
    for (int i = 0; i < LANES; i++) a[i] = a[i] > b[i] ? a[i] : b[i];
    return a;
#endif
}

// Towards zero.
static inline i32_vector to_i32(f32_vector v)
{
#if defined __AVX512F__
    return (i32_vector)_mm512_cvttps_epi32((__m512)v);
#elif defined __AVX2__
    return (i32_vector)_mm256_cvttps_epi32((__m256)v);
#elif defined __SSE2__
    return (i32_vector)_mm_cvttps_epi32((__m128)v);
#else
    return __builtin_convertvector(v, i32_vector);
#endif
}

// LANES values of [-128, 127] as bytes.
static inline void store_i8(int8_t *at, i32_vector v)
{
#if defined __AVX512F__
    _mm_storeu_si128((__m128i *)at, _mm512_cvtepi32_epi8((__m512i)v));
#elif defined __AVX2__
    __m256i full = (__m256i)v;
    __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(full), _mm256_extracti128_si256(full, 1));
    _mm_storel_epi64((__m128i *)at, _mm_packs_epi16(words, words));
#elif defined __SSE2__
    __m128i words = _mm_packs_epi32((__m128i)v, (__m128i)v);
    int32_t four = _mm_cvtsi128_si32(_mm_packs_epi16(words, words));
    memcpy(at, &four, sizeof four);
#else
    for (int i = 0; i < LANES; i++) at[i] = (int8_t)v[i];
#endif
}

// A NaN stays one, as in the reference kernels.
static inline f32_vector clamp_f32(f32_vector v, float low, float high)
{
#if defined __AVX512F__
    return (f32_vector)_mm512_min_ps(_mm512_set1_ps(high),
                                     _mm512_max_ps(_mm512_set1_ps(low), (__m512)v));
#elif defined __AVX2__
    return (f32_vector)_mm256_min_ps(_mm256_set1_ps(high),
                                     _mm256_max_ps(_mm256_set1_ps(low), (__m256)v));
#elif defined __SSE2__
    return (f32_vector)_mm_min_ps(_mm_set1_ps(high), _mm_max_ps(_mm_set1_ps(low), (__m128)v));
#elif defined __aarch64__
    return (f32_vector)vminq_f32(vdupq_n_f32(high), vmaxq_f32(vdupq_n_f32(low), (float32x4_t)v));
#else
    for (int i = 0; i < LANES; i++) v[i] = v[i] < low ? low : v[i] > high ? high : v[i];
    return v;
#endif
}

// sum + the two products of int16 in each lane.
static inline u32_vector add_pairs(u32_vector sum, u32_vector w, u32_vector x)
{
#if defined __AVX512F__
    return sum + (u32_vector)_mm512_madd_epi16((__m512i)w, (__m512i)x);
#elif defined __AVX2__
    return sum + (u32_vector)_mm256_madd_epi16((__m256i)w, (__m256i)x);
#elif defined __SSE2__
    return sum + (u32_vector)_mm_madd_epi16((__m128i)w, (__m128i)x);
#else
    i32_vector low = ((i32_vector)(w << 16) >> 16) * ((i32_vector)(x << 16) >> 16);
    return sum + (u32_vector)low + (u32_vector)(((i32_vector)w >> 16) * ((i32_vector)x >> 16));
#endif
}

#if defined __AVX512VNNI__
// sum + the four products of bytes in each lane: int8 of w, uint8 of x.
static inline u32_vector add_quads(u32_vector sum, u32_vector w, u32_vector x)
{
    return (u32_vector)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)x, (__m512i)w);
}
#endif

// All of a loop of constant length, so that arrays of sums become registers.
#if defined __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define INLINE static inline __attribute__((always_inline))

#endif
