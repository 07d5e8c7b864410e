// SPDX-License-Identifier: Apache-2.0
// The SIMD wrappers for x86. The header of the vectors' size gives MM(), which puts that size before the name of an
// instruction, and what the sizes do not share; here follows what they do. generic.h says what each wrapper does.
#ifndef HALITE_FAST_SIMD_X86_H
#define HALITE_FAST_SIMD_X86_H

#if defined __AVX512F__ && defined __AVX512BW__ && defined __AVX512DQ__ && defined __AVX512VL__
#include "fast/simd/x86_avx512.h"
#elif defined __AVX2__ && defined __FMA__
#include "fast/simd/x86_avx2.h"
#else
#include "fast/simd/x86_sse2.h"
#endif

#define SETS_RESCALE_RIGHT 0
#define TO_I32_LOW 1
#define HAS_LANE_PRODUCTS 0
#define HAS_DOT2_HALVES 0
#define HAS_OCTETS 0
#if !defined HAS_TERNARY
#define HAS_TERNARY 0
#endif
#if !defined HAS_DOT4
#define HAS_DOT4 0
#endif
#define DOT4_SIGNED_X 0 // as VPDPBUSD takes it

// ---- floats -------------------------------------------------------------------------------------

static inline f32_vector min_f32(f32_vector a, f32_vector b)
{
    return (f32_vector)MM(min_ps)((f32_register)a, (f32_register)b);
}

static inline f32_vector max_f32(f32_vector a, f32_vector b)
{
    return (f32_vector)MM(max_ps)((f32_register)a, (f32_register)b);
}

static inline u8_vector max_u8(u8_vector a, u8_vector b)
{
    return (u8_vector)MM(max_epu8)((int_register)a, (int_register)b);
}

static inline f32_vector sqrt_f32(f32_vector x)
{
    return (f32_vector)MM(sqrt_ps)((f32_register)x);
}

#if HAS_ROUND
#define ROUND(name, direction)                                                               \
    static inline f32_vector name(f32_vector x)                                              \
    {                                                                                        \
        return (f32_vector)ROUND_REGISTER((f32_register)x, (direction) | _MM_FROUND_NO_EXC); \
    }
ROUND(round_f32, _MM_FROUND_TO_NEAREST_INT)
ROUND(floor_f32, _MM_FROUND_TO_NEG_INF)
ROUND(ceil_f32, _MM_FROUND_TO_POS_INF)
#endif

static inline i32_vector to_i32(f32_vector v)
{
    return (i32_vector)MM(cvttps_epi32)((f32_register)v);
}

static inline f32_vector clamp_f32(f32_vector v, float low, float high)
{
    const f32_vector least = max_f32(low - (f32_vector){0}, v);
    return min_f32(high - (f32_vector){0}, least);
}

static inline f64_vector clamp_f64(f64_vector v, double low, double high)
{
    return (f64_vector)MM(min_pd)(MM(set1_pd)(high), MM(max_pd)(MM(set1_pd)(low), (f64_register)v));
}

// ---- integers -----------------------------------------------------------------------------------

static inline u32_vector add_dot2(u32_vector sum, u32_vector w, u32_vector x)
{
    return sum + (u32_vector)MM(madd_epi16)((int_register)w, (int_register)x);
}

static inline u32_quad add_16_bytes(u32_quad sums, const uint8_t *at, uint8_t mask)
{
    const __m128i x = _mm_xor_si128(_mm_loadu_si128((const __m128i *)at), _mm_set1_epi8((char)mask));
    return sums + (u32_quad)_mm_sad_epu8(x, _mm_setzero_si128());
}

static inline u32_quad add_8_bytes(u32_quad sums, const uint8_t *at, uint8_t mask)
{
    const __m128i x = _mm_xor_si128(_mm_loadl_epi64((const __m128i *)at), _mm_move_epi64(_mm_set1_epi8((char)mask)));
    return sums + (u32_quad)_mm_sad_epu8(x, _mm_setzero_si128());
}

#define BYTES_ABOVE_QUAD 1
static inline u8_quad max_u8_quad(u8_quad a, u8_quad b)
{
    return (u8_quad)_mm_max_epu8((__m128i)a, (__m128i)b);
}

#define INTERLEAVE(name, instruction)                                            \
    static inline u8_vector interleave_##name(u8_vector a, u8_vector b)          \
    {                                                                            \
        return (u8_vector)MM(instruction)((int_register)(a), (int_register)(b)); \
    }
INTERLEAVE(low_8, unpacklo_epi8)
INTERLEAVE(high_8, unpackhi_epi8)
INTERLEAVE(low_16, unpacklo_epi16)
INTERLEAVE(high_16, unpackhi_epi16)
INTERLEAVE(low_32, unpacklo_epi32)
INTERLEAVE(high_32, unpackhi_epi32)
INTERLEAVE(low_64, unpacklo_epi64)
INTERLEAVE(high_64, unpackhi_epi64)

// ---- integer sums to bytes ----------------------------------------------------------------------

#if HAS_RESCALE
// Rounding halves up gives the same as the nudge and the division of the reference.
static inline u32_vector high_product(u32_vector value, u32_vector multiplier)
{
    const i64_vector half = (i64_vector){0} + (INT64_C(1) << 30);
    const int_register v = (int_register)value, m = (int_register)multiplier;
    const i64_vector even = (i64_vector)MM(mul_epi32)(v, m) + half;
    const i64_vector odd = (i64_vector)MM(mul_epi32)(MM(srli_epi64)(v, 32), MM(srli_epi64)(m, 32)) + half;
    return (u32_vector)even_and_odd(MM(srli_epi64)((int_register)even, 31), MM(slli_epi64)((int_register)odd, 1));
}

// The shift to the right: (v - (v < 0)) >> (right - 1), + 1, >> 1 rounds halves away from zero without overflow,
// because v is above INT32_MIN and below INT32_MAX. Nothing happens where right is 0.
static inline u32_vector rescale_lanes(u32_vector value, u32_vector multiplier, u32_vector left, u32_vector right)
{
    const u32_vector shifted = (u32_vector)MM(sllv_epi32)((int_register)value, (int_register)left);
    const u32_vector v = high_product(shifted, multiplier);
    const u32_vector last = (u32_vector)MM(min_epu32)((int_register)right, MM(set1_epi32)(1));
    const u32_vector negative = (u32_vector)MM(srlv_epi32)((int_register)v, (int_register)(32 - last));
    const u32_vector most = (u32_vector)MM(srav_epi32)((int_register)(v - negative), (int_register)(right - last));
    return (u32_vector)MM(srav_epi32)((int_register)(most + last), (int_register)last);
}

// `doubled`: (value + 1) >> 1 is meant.
INLINE u8_vector narrow_any(const u32_vector values[4], int32_t zero, int32_t low, int32_t high, bool doubled)
{
    const int up = low < 0 ? 128 : 0; // the bytes are unsigned until the last line
    const int_register z = MM(set1_epi16)((int16_t)(doubled ? 2 * (zero + up) + 1 : zero + up));
    int_register v01 = MM(adds_epi16)(MM(packs_epi32)((int_register)values[0], (int_register)values[1]), z);
    int_register v23 = MM(adds_epi16)(MM(packs_epi32)((int_register)values[2], (int_register)values[3]), z);
    if (doubled) v01 = MM(srai_epi16)(v01, 1), v23 = MM(srai_epi16)(v23, 1);
    int_register v = MM(packus_epi16)(v01, v23);
    v = MM(max_epu8)(v, MM(set1_epi8)((char)(low + up)));
    v = MM(min_epu8)(v, MM(set1_epi8)((char)(high + up)));
    return (u8_vector)v ^ (uint8_t)up;
}

static inline u8_vector narrow(const u32_vector values[4], int32_t zero, int32_t low, int32_t high)
{
    return narrow_any(values, zero, low, high, false);
}

// The instructions of narrow work in each 16 bytes for themselves.
static inline u8_vector narrow_in_order(const u32_vector values[4], int32_t zero, int32_t low, int32_t high)
{
    return gather_quads(narrow(values, zero, low, high));
}

static inline u8_vector narrow_doubled(const u32_vector values[4], int32_t zero, int32_t low, int32_t high)
{
    return narrow_any(values, zero, low, high, true);
}

static inline u8_vector narrow_doubled_in_order(const u32_vector values[4], int32_t zero, int32_t low, int32_t high)
{
    return gather_quads(narrow_doubled(values, zero, low, high));
}

static inline i32_vector clamp_i32(i32_vector v, int32_t low, int32_t high)
{
    const int_register least = MM(max_epi32)(MM(set1_epi32)(low), (int_register)v);
    return (i32_vector)MM(min_epi32)(MM(set1_epi32)(high), least);
}

static inline void store_clamped(uint8_t *at, u32_vector value, int32_t zero, int32_t low, int32_t high)
{
    if (BYTES == 64) {
        store_bytes(at, clamp_i32((i32_vector)value, low - zero, high - zero) + zero);
        return;
    }
    const u32_vector values[4] = {value};
    const u8_vector bytes = narrow(values, zero, low, high);
    memcpy(at, &bytes, 4);
    memcpy(at + 4, (const char *)&bytes + 16, 4);
}
#endif

// ---- tables -------------------------------------------------------------------------------------

#if HAS_TABLES
// Rows of 16 entries, each of which the shuffle looks up; it gives 0 where the index has its highest bit set. The index
// loses 16 at each step k. Its highest bit is clear at the last step of its row, i / 16, and at up to seven steps
// before, so a row is stored as the difference (xor) from what those steps give. From step 9 on, the subtraction
// saturates, because nothing may wrap around.
struct byte_table {
    u8_vector rows[16];
};

static inline struct byte_table load_table(const uint8_t table[256])
{
    struct byte_table t;
    for (int k = 0; k < 16; k++) {
        __m128i row = _mm_loadu_si128((const __m128i *)(const void *)table + k);
        if (k > 0) row = _mm_xor_si128(row, _mm_loadu_si128((const __m128i *)(const void *)table + k - 1));
        t.rows[k] = (u8_vector)splat_16_bytes(row);
        if (k >= 8) t.rows[k] ^= t.rows[k - 8];
    }
    return t;
}

INLINE u8_vector look_up(const struct byte_table *table, u8_vector index)
{
    const u8_vector row_length = (u8_vector){0} + 16;
    u8_vector y = (u8_vector)MM(shuffle_epi8)((int_register)table->rows[0], (int_register)index);
    UNROLL for (int k = 1; k < 16; k++)
    {
        index = k <= 8 ? index - row_length : (u8_vector)MM(subs_epi8)((int_register)index, (int_register)row_length);
        y ^= (u8_vector)MM(shuffle_epi8)((int_register)table->rows[k], (int_register)index);
    }
    return y;
}
#endif

#endif
