// SPDX-License-Identifier: Apache-2.0
// The SIMD wrappers for 64-bit Arm's scalable vectors (SVE), of a length that the compiler is told: what matrix
// products need. The rest is as fast in NEON, whose units are as wide in all on the CPUs that have both. generic.h says
// what each wrapper does.
#ifndef HALITE_FAST_SIMD_SVE_H
#define HALITE_FAST_SIMD_SVE_H

#include <arm_sve.h>

enum { BYTES = __ARM_FEATURE_SVE_BITS / 8 };
#include "fast/simd/vector_types.h"

#define TILE_ROWS 8
enum { REGISTERS = 32 };
#define MAX_PARTS 1
#define HAS_HALVES 0
#define HAS_MASKS 1
#define TO_I32_LOW 0
#define HAS_TERNARY 0
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
#define HAS_FUSED 1
#define HAS_LANE_PRODUCTS 1
#define HAS_DOT2_HALVES 0
#define HAS_OCTETS 0
#define HAS_DOT4 0
#define DOT4_SIGNED_X 1

// Compilers take intrinsics' types, and the vectors of vector_types.h for them by way of these.
#define FIXED __attribute__((arm_sve_vector_bits(__ARM_FEATURE_SVE_BITS)))
typedef svfloat32_t f32_register FIXED;
typedef svint32_t i32_register FIXED;
typedef svuint32_t u32_register FIXED;
typedef svuint64_t u64_register FIXED;
typedef svint8_t i8_register FIXED;

// ---- loads and stores ---------------------------------------------------------------------------

static inline svbool_t first_lanes(int64_t count)
{
    return svwhilelt_b32_s64(0, count);
}

static inline u32_vector load_first(const void *at, int64_t count)
{
    return (u32_vector)(u32_register)svld1_u32(first_lanes(count), at);
}

static inline void store_first(void *at, u32_vector v, int64_t count)
{
    svst1_u32(first_lanes(count), at, (u32_register)v);
}

static inline u32_vector load_u8_as_i32(const uint8_t *at)
{
    return (u32_vector)(u32_register)svld1ub_u32(svptrue_b32(), at);
}

static inline u32_vector load_i8_as_i32(const uint8_t *at)
{
    return (u32_vector)(i32_register)svld1sb_s32(svptrue_b32(), (const int8_t *)at);
}

static inline u32_vector load_quad(const void *at)
{
    return (u32_vector)(u32_register)svld1rq_u32(svptrue_b32(), at);
}

// ---- floats -------------------------------------------------------------------------------------

static inline f32_vector add_product(f32_vector sum, f32_vector w, f32_vector x)
{
    return (f32_vector)(f32_register)svmla_f32_x(svptrue_b32(), (f32_register)sum, (f32_register)w, (f32_register)x);
}

INLINE f32_vector add_product_by_lane(f32_vector sum, f32_vector w, u32_vector quad, int lane)
{
    const f32_register s = (f32_register)sum, a = (f32_register)w, b = (f32_register)quad;
    switch (lane) { // which instructions have in them
    case 0: return (f32_vector)(f32_register)svmla_lane_f32(s, a, b, 0);
    case 1: return (f32_vector)(f32_register)svmla_lane_f32(s, a, b, 1);
    case 2: return (f32_vector)(f32_register)svmla_lane_f32(s, a, b, 2);
    default: return (f32_vector)(f32_register)svmla_lane_f32(s, a, b, 3);
    }
}

static inline f32_vector clamp_f32(f32_vector v, float low, float high)
{
    const svbool_t all = svptrue_b32();
    return (f32_vector)(f32_register)svmin_n_f32_x(all, svmax_n_f32_x(all, (f32_register)v, low), high);
}

// ---- integers -----------------------------------------------------------------------------------

static inline u32_vector add_dot2(u32_vector sum, u32_vector w, u32_vector x)
{
    const i32_vector low = ((i32_vector)(w << 16) >> 16) * ((i32_vector)(x << 16) >> 16);
    return sum + (u32_vector)low + (u32_vector)(((i32_vector)w >> 16) * ((i32_vector)x >> 16));
}

static inline u32_vector add_dot8(u32_vector sum, u32_vector x, u32_vector w)
{
    return (u32_vector)(i32_register)svmmla_s32((i32_register)sum, (i8_register)x, (i8_register)w);
}

static inline u32_vector splat_u64(uint64_t x)
{
    return (u32_vector)(u64_register)svdup_n_u64(x);
}

#define ON_TWO(name, instruction, type)                                                          \
    static inline u32_vector name(u32_vector a, u32_vector b)                                    \
    {                                                                                            \
        return (u32_vector)(type##_register)instruction((type##_register)a, (type##_register)b); \
    }
ON_TWO(interleave_low_u64, svtrn1_u64, u64)
ON_TWO(interleave_high_u64, svtrn2_u64, u64)
ON_TWO(zip_low_u32, svzip1_u32, u32)
ON_TWO(zip_high_u32, svzip2_u32, u32)
ON_TWO(zip_low_u64, svzip1_u64, u64)
ON_TWO(zip_high_u64, svzip2_u64, u64)
ON_TWO(unzip_even_u64, svuzp1_u64, u64)
ON_TWO(unzip_odd_u64, svuzp2_u64, u64)

#endif
