// SPDX-License-Identifier: Apache-2.0
// The SIMD wrappers for 64-bit Arm (NEON). generic.h says what each wrapper does.
#ifndef HALITE_FAST_SIMD_NEON_H
#define HALITE_FAST_SIMD_NEON_H

#include <arm_neon.h>
#include <stdbool.h>

enum { BYTES = 16 };
#include "fast/simd/lanes.h"
#include "fast/simd/vector_types.h"

#define TILE_ROWS 8
enum { REGISTERS = 32 };
#define MAX_PARTS 1
#define HAS_HALVES 0
#define HAS_MASKS 0
#define TO_I32_LOW 0
#define HAS_TERNARY 0
#define HAS_RESCALE 1
#define HAS_RESCALE_RIGHT 1
#define HAS_RESCALE_FLOATS 0
#define SETS_RESCALE_RIGHT 1
#define HAS_TABLES 1
#define HAS_WIDE_TABLES 0
#define HAS_SPREAD 0
#define HAS_POWER_TABLE 0
#define HAS_RSQRT 0
#define HAS_ROUND 1
#define HAS_PARTS 0
#define HAS_FUSED 1
#define HAS_LANE_PRODUCTS 1
#if defined __ARM_FEATURE_DOTPROD
#define HAS_DOT4 1
#define HAS_OCTETS 0
#elif defined MULTIPLIES_BYTES // by level_smull.c
#define HAS_DOT4 1
#define HAS_OCTETS 1
#else
#define HAS_DOT4 0
#define HAS_OCTETS 0
#endif
#define HAS_DOT2_HALVES (!HAS_DOT4)
#define DOT4_SIGNED_X 1 // as SDOT takes it

// ---- loads and stores ---------------------------------------------------------------------------

static inline uint8x8_t load_4_bytes(const uint8_t *at)
{
    uint32_t four;
    memcpy(&four, at, sizeof four);
    return vcreate_u8(four);
}

static inline u32_vector load_u8_as_i32(const uint8_t *at)
{
    return (u32_vector)vmovl_u16(vget_low_u16(vmovl_u8(load_4_bytes(at))));
}

static inline u32_vector load_i8_as_i32(const uint8_t *at)
{
    return (u32_vector)vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u8(load_4_bytes(at)))));
}

static inline u32_vector load_i8_as_i16(const int8_t *at)
{
    return (u32_vector)vmovl_s8(vld1_s8(at));
}

static inline void store_bytes(uint8_t *at, i32_vector v)
{
    const uint16x4_t words = vmovn_u32((uint32x4_t)v);
    const uint32_t four = vget_lane_u32(vreinterpret_u32_u8(vmovn_u16(vcombine_u16(words, words))), 0);
    memcpy(at, &four, sizeof four);
}

// ---- floats -------------------------------------------------------------------------------------

static inline f32_vector add_product(f32_vector sum, f32_vector w, f32_vector x)
{
    return (f32_vector)vfmaq_f32((float32x4_t)sum, (float32x4_t)w, (float32x4_t)x);
}

// Products with one lane of a quad; instructions have its number in them.
#define BY_LANE(instruction, sum, w, quad, lane)  \
    switch (lane) {                               \
    case 0: return instruction(sum, w, quad, 0);  \
    case 1: return instruction(sum, w, quad, 1);  \
    case 2: return instruction(sum, w, quad, 2);  \
    default: return instruction(sum, w, quad, 3); \
    }

INLINE float32x4_t add_lane_product(float32x4_t sum, float32x4_t w, float32x4_t quad, int lane)
{
    BY_LANE(vfmaq_laneq_f32, sum, w, quad, lane);
}

static inline u32_vector load_quad(const void *at)
{
    return load_u32(at);
}

INLINE f32_vector add_product_by_lane(f32_vector sum, f32_vector w, u32_vector quad, int lane)
{
    return (f32_vector)add_lane_product((float32x4_t)sum, (float32x4_t)w, (float32x4_t)quad, lane);
}

// FMIN and FMAX give a NaN where one of the two is one; min_f32 and max_f32 must not.
static inline f32_vector min_f32(f32_vector a, f32_vector b)
{
    const uint32x4_t first = vcltq_f32((float32x4_t)a, (float32x4_t)b);
    return (f32_vector)vbslq_f32(first, (float32x4_t)a, (float32x4_t)b);
}

static inline f32_vector max_f32(f32_vector a, f32_vector b)
{
    const uint32x4_t first = vcgtq_f32((float32x4_t)a, (float32x4_t)b);
    return (f32_vector)vbslq_f32(first, (float32x4_t)a, (float32x4_t)b);
}

static inline u8_vector max_u8(u8_vector a, u8_vector b)
{
    return (u8_vector)vmaxq_u8((uint8x16_t)a, (uint8x16_t)b);
}

static inline f32_vector sqrt_f32(f32_vector x)
{
    return (f32_vector)vsqrtq_f32((float32x4_t)x);
}

static inline f32_vector round_f32(f32_vector x)
{
    return (f32_vector)vrndnq_f32((float32x4_t)x);
}

static inline f32_vector floor_f32(f32_vector x)
{
    return (f32_vector)vrndmq_f32((float32x4_t)x);
}

static inline f32_vector ceil_f32(f32_vector x)
{
    return (f32_vector)vrndpq_f32((float32x4_t)x);
}

static inline bool any_lane(i32_vector mask)
{
    return vmaxvq_u32((uint32x4_t)mask) != 0;
}

static inline i32_vector to_i32(f32_vector v)
{
    return (i32_vector)vcvtq_s32_f32((float32x4_t)v);
}

static inline f32_vector clamp_f32(f32_vector v, float low, float high)
{
    return (f32_vector)vminq_f32(vdupq_n_f32(high), vmaxq_f32(vdupq_n_f32(low), (float32x4_t)v));
}

static inline f64_vector clamp_f64(f64_vector v, double low, double high)
{
    return (f64_vector)vminq_f64(vdupq_n_f64(high), vmaxq_f64(vdupq_n_f64(low), (float64x2_t)v));
}

// ---- integers -----------------------------------------------------------------------------------

static inline u32_vector add_dot2(u32_vector sum, u32_vector w, u32_vector x)
{
    const int16x8_t a = (int16x8_t)w, b = (int16x8_t)x;
    const int32x4_t low = vmull_s16(vget_low_s16(a), vget_low_s16(b)), high = vmull_high_s16(a, b);
    return sum + (u32_vector)vpaddq_s32(low, high);
}

#if HAS_DOT2_HALVES
static inline u32_vector add_dot2_low(u32_vector sum, u32_vector w, u32_vector x)
{
    return (u32_vector)vmlal_s16((int32x4_t)sum, vget_low_s16((int16x8_t)w), vget_low_s16((int16x8_t)x));
}

static inline u32_vector add_dot2_high(u32_vector sum, u32_vector w, u32_vector x)
{
    return (u32_vector)vmlal_high_s16((int32x4_t)sum, (int16x8_t)w, (int16x8_t)x);
}

static inline u32_vector join_dots(u32_vector low, u32_vector high)
{
    return (u32_vector)vpaddq_s32((int32x4_t)low, (int32x4_t)high);
}
#endif

#if HAS_OCTETS
static inline u32_vector add_dot4(u32_vector sum, u32_vector w, u32_vector x)
{
    const int16x8_t low = vmull_s8(vget_low_s8((int8x16_t)w), vget_low_s8((int8x16_t)x));
    const int16x8_t high = vmull_high_s8((int8x16_t)w, (int8x16_t)x);
    return sum + (u32_vector)vpaddq_s32(vpaddlq_s16(low), vpaddlq_s16(high));
}

typedef int8x8_t octet;

static inline octet load_octet(const char *at)
{
    return vld1_s8((const int8_t *)at);
}

static inline octet load_half_octet(const char *at)
{
    return vreinterpret_s8_u8(load_4_bytes((const uint8_t *)at));
}

static inline u32_vector add_octet_products(u32_vector sum, octet w, octet x)
{
    return (u32_vector)vpadalq_s16((int32x4_t)sum, vmull_s8(w, x));
}

static inline u32_vector add_narrow_products(u32_vector sum, octet w0, octet x0, octet w1, octet x1)
{
    return (u32_vector)vpadalq_s16((int32x4_t)sum, vmlal_s8(vmull_s8(w0, x0), w1, x1));
}

static inline u32_vector add_up(const u32_vector v[4])
{
    const int32x4_t low = vpaddq_s32((int32x4_t)v[0], (int32x4_t)v[1]);
    return (u32_vector)vpaddq_s32(low, vpaddq_s32((int32x4_t)v[2], (int32x4_t)v[3]));
}
#elif HAS_DOT4
static inline u32_vector add_dot4(u32_vector sum, u32_vector w, u32_vector x)
{
    return (u32_vector)vdotq_s32((int32x4_t)sum, (int8x16_t)w, (int8x16_t)x);
}

INLINE int32x4_t add_lane_dot4(int32x4_t sum, int8x16_t w, int8x16_t quad, int lane)
{
    BY_LANE(vdotq_laneq_s32, sum, w, quad, lane);
}

INLINE u32_vector add_dot4_by_lane(u32_vector sum, u32_vector w, u32_vector quad, int lane)
{
    return (u32_vector)add_lane_dot4((int32x4_t)sum, (int8x16_t)w, (int8x16_t)quad, lane);
}
#endif

#if defined __ARM_FEATURE_MATMUL_INT8
static inline u32_vector add_dot8(u32_vector sum, u32_vector x, u32_vector w)
{
    return (u32_vector)vmmlaq_s32((int32x4_t)sum, (int8x16_t)x, (int8x16_t)w);
}
#endif

static inline u32_vector splat_u64(uint64_t x)
{
    return (u32_vector)vdupq_n_u64(x);
}

#define ON_TWO(name, instruction, type)                       \
    static inline u32_vector name(u32_vector a, u32_vector b) \
    {                                                         \
        return (u32_vector)instruction((type)a, (type)b);     \
    }
ON_TWO(interleave_low_u64, vtrn1q_u64, uint64x2_t)
ON_TWO(interleave_high_u64, vtrn2q_u64, uint64x2_t)
ON_TWO(zip_low_u32, vzip1q_u32, uint32x4_t)
ON_TWO(zip_high_u32, vzip2q_u32, uint32x4_t)
ON_TWO(zip_low_u64, vzip1q_u64, uint64x2_t)
ON_TWO(zip_high_u64, vzip2q_u64, uint64x2_t)
ON_TWO(unzip_even_u64, vuzp1q_u64, uint64x2_t)
ON_TWO(unzip_odd_u64, vuzp2q_u64, uint64x2_t)

#define BYTES_ABOVE_QUAD 0
static inline u32_quad add_16_bytes(u32_quad sums, const uint8_t *at, uint8_t mask)
{
    const uint8x16_t x = veorq_u8(vld1q_u8(at), vdupq_n_u8(mask));
    return (u32_quad)vpadalq_u16((uint32x4_t)sums, vpaddlq_u8(x));
}

static inline u32_quad add_8_bytes(u32_quad sums, const uint8_t *at, uint8_t mask)
{
    return (u32_quad)vpadalq_u16((uint32x4_t)sums, vmovl_u8(veor_u8(vld1_u8(at), vdup_n_u8(mask))));
}

#define INTERLEAVE(name, instruction, type)                             \
    static inline u8_vector interleave_##name(u8_vector a, u8_vector b) \
    {                                                                   \
        return (u8_vector)instruction((type)a, (type)b);                \
    }
INTERLEAVE(low_8, vzip1q_u8, uint8x16_t)
INTERLEAVE(high_8, vzip2q_u8, uint8x16_t)
INTERLEAVE(low_16, vzip1q_u16, uint16x8_t)
INTERLEAVE(high_16, vzip2q_u16, uint16x8_t)
INTERLEAVE(low_32, vzip1q_u32, uint32x4_t)
INTERLEAVE(high_32, vzip2q_u32, uint32x4_t)
INTERLEAVE(low_64, vzip1q_u64, uint64x2_t)
INTERLEAVE(high_64, vzip2q_u64, uint64x2_t)

// ---- integer sums to bytes ----------------------------------------------------------------------

// SQRDMULH rounds halves up, which gives the same as the nudge and the division of the reference.
static inline u32_vector high_product(u32_vector value, u32_vector multiplier)
{
    return (u32_vector)vqrdmulhq_s32((int32x4_t)value, (int32x4_t)multiplier);
}

// SRSHL rounds halves up: a negative value loses 1 first, so that its halves go away from zero. Where right is 0, so is
// what it loses.
static inline u32_vector rescale_lanes(u32_vector value, u32_vector multiplier, u32_vector left, u32_vector right)
{
    const int32x4_t v = (int32x4_t)high_product((u32_vector)vshlq_u32((uint32x4_t)value, (int32x4_t)left), multiplier);
    const int32x4_t shift = vnegq_s32((int32x4_t)right), negative = vshrq_n_s32(vandq_s32(v, shift), 31);
    return (u32_vector)vrshlq_s32(vaddq_s32(v, negative), shift);
}

struct right_rescale {
    int32x4_t multiplier, shift; // to the left
};

static inline struct right_rescale right_rescale_of(u32_vector multiplier, u32_vector right)
{
    return (struct right_rescale){(int32x4_t)multiplier, vnegq_s32((int32x4_t)right)};
}

// Every lane is shifted, so every negative one loses 1.
static inline u32_vector rescale_right(u32_vector value, const struct right_rescale *params)
{
    const int32x4_t v = vqrdmulhq_s32((int32x4_t)value, params->multiplier);
    return (u32_vector)vrshlq_s32(vsraq_n_s32(v, v, 31), params->shift);
}

static inline i32_vector clamp_i32(i32_vector v, int32_t low, int32_t high)
{
    return (i32_vector)vminq_s32(vdupq_n_s32(high), vmaxq_s32(vdupq_n_s32(low), (int32x4_t)v));
}

static inline u8_vector narrow(const u32_vector values[4], int32_t zero, int32_t low, int32_t high)
{
    const int16x8_t z = vdupq_n_s16((int16_t)zero);
    int16x8_t v01 = vcombine_s16(vqmovn_s32((int32x4_t)values[0]), vqmovn_s32((int32x4_t)values[1]));
    int16x8_t v23 = vcombine_s16(vqmovn_s32((int32x4_t)values[2]), vqmovn_s32((int32x4_t)values[3]));
    v01 = vqaddq_s16(v01, z), v23 = vqaddq_s16(v23, z);
    if (low < 0) {
        const int8x16_t v = vcombine_s8(vqmovn_s16(v01), vqmovn_s16(v23));
        return (u8_vector)vminq_s8(vmaxq_s8(v, vdupq_n_s8((int8_t)low)), vdupq_n_s8((int8_t)high));
    }
    const uint8x16_t v = vcombine_u8(vqmovun_s16(v01), vqmovun_s16(v23));
    return (u8_vector)vminq_u8(vmaxq_u8(v, vdupq_n_u8((uint8_t)low)), vdupq_n_u8((uint8_t)high));
}

static inline u8_vector narrow_in_order(const u32_vector values[4], int32_t zero, int32_t low, int32_t high)
{
    return narrow(values, zero, low, high);
}

static inline void store_clamped(uint8_t *at, u32_vector value, int32_t zero, int32_t low, int32_t high)
{
    store_bytes(at, clamp_i32((i32_vector)value, low - zero, high - zero) + zero);
}

// ---- tables -------------------------------------------------------------------------------------

// TBL gives 0, and TBX leaves a byte as it is, where the index is 64 or more.
struct byte_table {
    uint8x16x4_t quarters[4];
};

static inline struct byte_table load_table(const uint8_t table[256])
{
    struct byte_table t;
    for (int q = 0; q < 4; q++) t.quarters[q] = vld1q_u8_x4(table + 64 * q);
    return t;
}

INLINE u8_vector look_up(const struct byte_table *table, u8_vector index)
{
    uint8x16_t y = vqtbl4q_u8(table->quarters[0], (uint8x16_t)index);
    UNROLL for (int q = 1; q < 4; q++) y = vqtbx4q_u8(y, table->quarters[q], (uint8x16_t)(index - (uint8_t)(64 * q)));
    return (u8_vector)y;
}

#endif
