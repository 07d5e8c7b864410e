// SPDX-License-Identifier: Apache-2.0
// The words in which the inner loops are written, for the instructions that its file is compiled for: vectors of LANES
// floats or 32-bit integers (BYTES each), and what the compilers' vector types do not say.
#ifndef HALITE_FAST_SIMD_VECTOR_H
#define HALITE_FAST_SIMD_VECTOR_H

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

// x86: an instruction and the registers of the level. What differs by more than this prefix is written out.
#if defined __AVX512F__
#define WORD(name) _mm512_##name
typedef __m512 f32_register;
typedef __m512d f64_register;
typedef __m512i int_register;
#elif defined __AVX2__
#define WORD(name) _mm256_##name
typedef __m256 f32_register;
typedef __m256d f64_register;
typedef __m256i int_register;
#elif defined __SSE2__
#define WORD(name) _mm_##name
typedef __m128 f32_register;
typedef __m128d f64_register;
typedef __m128i int_register;
#endif

typedef float f32_vector __attribute__((vector_size(BYTES)));
typedef uint32_t u32_vector __attribute__((vector_size(BYTES))); // sums wrap
typedef int32_t i32_vector __attribute__((vector_size(BYTES)));
typedef double f64_vector __attribute__((vector_size(BYTES)));
typedef int64_t i64_vector __attribute__((vector_size(BYTES)));
typedef int32_t i32_half __attribute__((vector_size(BYTES / 2)));
typedef uint8_t u8_lanes __attribute__((vector_size(LANES)));
typedef int8_t i8_lanes __attribute__((vector_size(LANES)));
typedef uint8_t u8_vector __attribute__((vector_size(BYTES)));

static inline f32_vector load_f32(const float *at)
{
    f32_vector v;
    memcpy(&v, at, sizeof v);
    return v;
}

#if defined __AVX2__ && !defined __AVX512F__
static inline __m256i first_lanes(int64_t count)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
#endif

// The first `count` floats, LANES at most, without a call for fewer (8 columns at 12544 positions: 0.19 ms with memcpy,
// 0.16 without).
static inline void store_f32(float *at, f32_vector v, int64_t count)
{
    if (count >= LANES) {
        memcpy(at, &v, sizeof v);
        return;
    }
#if defined __AVX512F__
    _mm512_mask_storeu_ps(at, (__mmask16)((1 << count) - 1), (__m512)v);
#elif defined __AVX2__
    _mm256_maskstore_ps(at, first_lanes(count), (__m256)v);
#else
    for (int64_t i = 0; i < count; i++) at[i] = v[i];
#endif
}

// The first `count` floats, fewer than LANES, the other lanes 0.
static inline f32_vector load_some(const float *at, int64_t count)
{
#if defined __AVX512F__
    return (f32_vector)_mm512_maskz_loadu_ps((__mmask16)((1 << count) - 1), at);
#elif defined __AVX2__
    return (f32_vector)_mm256_maskload_ps(at, first_lanes(count));
#else
    f32_vector v = {0};
    for (int64_t i = 0; i < count; i++) v[i] = at[i];
    return v;
#endif
}

static inline u32_vector load_u32(const uint32_t *at)
{
    u32_vector v;
    memcpy(&v, at, sizeof v);
    return v;
}

static inline u32_vector load_i32(const int32_t *at)
{
    return load_u32((const uint32_t *)at);
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

static inline f64_vector splat_f64(double x)
{
    return x - (f64_vector){0};
}

static inline u32_vector splat_i32(int32_t x)
{
    return (uint32_t)x + (u32_vector){0};
}

// a < b ? a : b and a > b ? a : b, as these say with NaN.
static inline f32_vector min_f32(f32_vector a, f32_vector b)
{
#if defined WORD
    return (f32_vector)WORD(min_ps)((f32_register)a, (f32_register)b);
#else
    for (int i = 0; i < LANES; i++) a[i] = a[i] < b[i] ? a[i] : b[i];
    return a;
#endif
}

static inline f32_vector max_f32(f32_vector a, f32_vector b)
{
#if defined WORD
    return (f32_vector)WORD(max_ps)((f32_register)a, (f32_register)b);
#else
    for (int i = 0; i < LANES; i++) a[i] = a[i] > b[i] ? a[i] : b[i];
    return a;
#endif
}

// Towards zero.
static inline i32_vector to_i32(f32_vector v)
{
#if defined WORD
    return (i32_vector)WORD(cvttps_epi32)((f32_register)v);
#else
    return __builtin_convertvector(v, i32_vector);
#endif
}

static inline f64_vector clamp_f64(f64_vector v, double low, double high)
{
#if defined WORD
    return (f64_vector)WORD(min_pd)(WORD(set1_pd)(high), WORD(max_pd)(WORD(set1_pd)(low), (f64_register)v));
#else
    for (int i = 0; i < LANES / 2; i++) v[i] = v[i] < low ? low : v[i] > high ? high : v[i];
    return v;
#endif
}

// By way of memory the CPU would wait for both stores.
static inline i32_vector join(i32_half first, i32_half second)
{
#if defined __AVX512F__
    return (i32_vector)_mm512_inserti64x4(_mm512_castsi256_si512((__m256i)first), (__m256i)second, 1);
#elif defined __AVX2__
    return (i32_vector)_mm256_inserti128_si256(_mm256_castsi128_si256((__m128i)first), (__m128i)second, 1);
#else
    i32_vector v;
    memcpy(&v, &first, sizeof first);
    memcpy((char *)&v + sizeof first, &second, sizeof second);
    return v;
#endif
}

// v[i] * by[i] in [low, high], rounded half away from zero.
static inline i32_half rounded_products(i32_half v, const double *by, double low, double high)
{
    f64_vector x;
    memcpy(&x, by, sizeof x);
    x = clamp_f64(x * __builtin_convertvector(v, f64_vector), low, high);
    i64_vector half = ((i64_vector)x & INT64_MIN) | (i64_vector)splat_f64(0.5 - 0x1p-54);
    return __builtin_convertvector(x + (f64_vector)half, i32_half);
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
#if defined __aarch64__
    return (f32_vector)vminq_f32(vdupq_n_f32(high), vmaxq_f32(vdupq_n_f32(low), (float32x4_t)v));
#else
    return min_f32(splat_f32(high), max_f32(splat_f32(low), v));
#endif
}

// sum + the two products of int16 in each lane.
static inline u32_vector add_pairs(u32_vector sum, u32_vector w, u32_vector x)
{
#if defined WORD
    return sum + (u32_vector)WORD(madd_epi16)((int_register)w, (int_register)x);
#elif defined __aarch64__
    int16x8_t a = (int16x8_t)w, b = (int16x8_t)x;
    int32x4_t low = vmull_s16(vget_low_s16(a), vget_low_s16(b)), high = vmull_high_s16(a, b);
    return sum + (u32_vector)vpaddq_s32(low, high);
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

// a and b element by element, of the lower or upper halves of each 16 bytes.
#if defined WORD
#define INTERLEAVE(half, bits, a, b) (u8_vector) WORD(unpack##half##_epi##bits)((int_register)(a), (int_register)(b))
#endif
static inline u8_vector interleave_low_8(u8_vector a, u8_vector b)
{
#if defined INTERLEAVE
    return INTERLEAVE(lo, 8, a, b);
#else
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
#endif
}

static inline u8_vector interleave_high_8(u8_vector a, u8_vector b)
{
#if defined INTERLEAVE
    return INTERLEAVE(hi, 8, a, b);
#else
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
#endif
}

#if defined __AVX512VNNI__
static inline u8_vector interleave_low_16(u8_vector a, u8_vector b)
{
    return INTERLEAVE(lo, 16, a, b);
}

static inline u8_vector interleave_high_16(u8_vector a, u8_vector b)
{
    return INTERLEAVE(hi, 16, a, b);
}
#endif

// Where there are 64-bit products and shifts by lane: hl_high_mul, modulo 2^32, hl_rescale_apply, and the way to stored
// bytes.
#if defined __AVX2__
#define RESCALES
// Half up equals the reference's nudge and division.
static inline u32_vector high_product(u32_vector value, u32_vector multiplier)
{
    const i64_vector half = (i64_vector){0} + (INT64_C(1) << 30);
    const int_register v = (int_register)value, m = (int_register)multiplier;
    const i64_vector even = (i64_vector)WORD(mul_epi32)(v, m) + half;
    const i64_vector odd = (i64_vector)WORD(mul_epi32)(WORD(srli_epi64)(v, 32), WORD(srli_epi64)(m, 32)) + half;
    const int_register lower = WORD(srli_epi64)((int_register)even, 31), upper = WORD(slli_epi64)((int_register)odd, 1);
#if defined __AVX512F__
    return (u32_vector)_mm512_mask_mov_epi32(lower, 0xaaaa, upper);
#else
    return (u32_vector)_mm256_blend_epi32(lower, upper, 0xaa);
#endif
}

// The shift to the right: (v - (v < 0)) >> (right - 1), + 1, >> 1 rounds half away from zero without overflow, as v is
// above INT32_MIN and below INT32_MAX; nothing happens where right is 0.
static inline u32_vector rescale_lanes(u32_vector value, u32_vector multiplier, u32_vector left, u32_vector right)
{
    const u32_vector shifted = (u32_vector)WORD(sllv_epi32)((int_register)value, (int_register)left);
    const u32_vector v = high_product(shifted, multiplier);
    const u32_vector last = (u32_vector)WORD(min_epu32)((int_register)right, (int_register)splat_i32(1));
    const u32_vector negative = (u32_vector)WORD(srlv_epi32)((int_register)v, (int_register)(32 - last));
    const u32_vector most = (u32_vector)WORD(srav_epi32)((int_register)(v - negative), (int_register)(right - last));
    return (u32_vector)WORD(srav_epi32)((int_register)(most + last), (int_register)last);
}

// Four vectors, plus zero, as bytes in [low, high]; each 16 bytes are of the same 16 bytes of all four.
static inline u8_vector narrow(const u32_vector values[4], int32_t zero, int32_t low, int32_t high)
{
    const int up = low < 0 ? 128 : 0; // unsigned bytes, for now
    const int_register z = WORD(set1_epi16)((int16_t)(zero + up));
    const int_register v01 = WORD(packs_epi32)((int_register)values[0], (int_register)values[1]);
    const int_register v23 = WORD(packs_epi32)((int_register)values[2], (int_register)values[3]);
    int_register v = WORD(packus_epi16)(WORD(adds_epi16)(v01, z), WORD(adds_epi16)(v23, z));
    v = WORD(max_epu8)(v, WORD(set1_epi8)((char)(low + up)));
    v = WORD(min_epu8)(v, WORD(set1_epi8)((char)(high + up)));
    return (u8_vector)v ^ (uint8_t)up;
}

// The same of one vector, stored.
static inline void store_clamped(uint8_t *at, u32_vector value, int32_t zero, int32_t low, int32_t high)
{
#if defined __AVX512F__
    __m512i v = _mm512_max_epi32((__m512i)value, _mm512_set1_epi32(low - zero));
    v = _mm512_add_epi32(_mm512_min_epi32(v, _mm512_set1_epi32(high - zero)), _mm512_set1_epi32(zero));
    _mm_storeu_si128((__m128i *)at, _mm512_cvtepi32_epi8(v));
#else
    u32_vector values[4] = {value};
    u8_vector bytes = narrow(values, zero, low, high);
    memcpy(at, &bytes, 4);
    memcpy(at + 4, (const char *)&bytes + 16, 4);
#endif
}
#elif defined __aarch64__
static inline u32_vector high_product(u32_vector value, u32_vector multiplier)
{
    return (u32_vector)vqrdmulhq_s32((int32x4_t)value, (int32x4_t)multiplier);
}
#endif

// All of a loop of constant length, so that arrays of sums become registers.
#if defined __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define SYMBOL(prefix, level) JOIN(prefix, level)
#define JOIN(a, b) a##b
#define INLINE static inline __attribute__((always_inline))

#endif
