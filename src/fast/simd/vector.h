// SPDX-License-Identifier: Apache-2.0
// The SIMD wrappers that the templates are written in: vectors of LANES floats or 32-bit integers, and functions on
// them. The compiler's flags choose the header of the architecture, which gives BYTES, the capabilities HAS_... and
// what needs instructions. Here follows what all architectures can make of that.
#ifndef HALITE_FAST_SIMD_VECTOR_H
#define HALITE_FAST_SIMD_VECTOR_H

#if defined __SSE2__
#include "fast/simd/x86.h"
#elif defined __ARM_FEATURE_SVE_BITS && __ARM_FEATURE_SVE_BITS > 128
#include "fast/simd/sve.h"
#elif defined __aarch64__ && defined __ARM_NEON
#include "fast/simd/neon.h"
#else
#include "fast/simd/generic.h"
#endif

static inline f32_vector splat_f32(float x)
{
    return x - (f32_vector){0};
}

static inline f64_vector splat_f64(double x)
{
    return x - (f64_vector){0};
}

static inline u32_vector load_i32(const int32_t *at)
{
    return load_u32(at);
}

static inline u32_vector load_i16(const int16_t *at)
{
    return load_u32(at);
}

static inline f32_vector load_f32(const float *at)
{
    return (f32_vector)load_u32(at);
}

// LANES int16 as 32-bit lanes, and lanes that are values of int16 back.
static inline i32_vector load_i16_as_i32(const int16_t *at)
{
    i16_half v;
    memcpy(&v, at, sizeof v);
    return __builtin_convertvector(v, i32_vector);
}

static inline void store_i16(int16_t *at, i32_vector v)
{
    const i16_half half = __builtin_convertvector(v, i16_half);
    memcpy(at, &half, sizeof half);
}

// The first `count` floats, count < LANES; the other lanes are 0.
static inline f32_vector load_first_f32(const float *at, int64_t count)
{
    return (f32_vector)load_first(at, count);
}

static inline void store_f32(float *at, f32_vector v)
{
    memcpy(at, &v, sizeof v);
}

// Stores the first `count` lanes, or all where count is larger. (memcpy of fewer would be a call: 8 columns at 12544
// positions take 0.19 ms with it and 0.16 ms without.)
static inline void store_first_f32(float *at, f32_vector v, int64_t count)
{
    if (count >= LANES)
        store_f32(at, v);
    else
        store_first(at, (u32_vector)v, count);
}

// LANES bytes minus the zero point, as 32-bit lanes.
static inline u32_vector load_bytes(const uint8_t *at, int is_unsigned, int32_t zero)
{
    return (is_unsigned ? load_u8_as_i32(at) : load_i8_as_i32(at)) - (uint32_t)zero;
}

// Lanes of mask are all ones or all zeros.
static inline f32_vector choose(i32_vector mask, f32_vector yes, f32_vector no)
{
    return (f32_vector)((mask & (i32_vector)yes) | (~mask & (i32_vector)no));
}

static inline f32_vector magnitude_of(f32_vector x)
{
    return (f32_vector)((i32_vector)x & INT32_MAX);
}

#if !HAS_TERNARY
// size, which is not negative, with the sign of x.
static inline f32_vector with_sign_of(f32_vector x, f32_vector size)
{
    return (f32_vector)((i32_vector)size | ((i32_vector)x & INT32_MIN));
}
#endif

#if HAS_RESCALE && !HAS_RESCALE_RIGHT
struct right_rescale {
    u32_vector multiplier, right;
};

static inline struct right_rescale right_rescale_of(u32_vector multiplier, u32_vector right)
{
    return (struct right_rescale){multiplier, right};
}

static inline u32_vector rescale_right(u32_vector value, const struct right_rescale *params)
{
    return rescale_lanes(value, params->multiplier, (u32_vector){0}, params->right);
}
#endif

// ---- dot products of integers ---------------------------------------------------------------------

// A lane of 4 bytes holds DOT_WIDTH neighboring values of a sum: 4 bytes, or 2 int16 from which zero points are already
// subtracted.
enum { DOT_WIDTH = HAS_DOT4 ? 4 : 2, SIGNED_X = HAS_DOT4 && DOT4_SIGNED_X };

// Each lane: sum + the DOT_WIDTH products of w and x.
static inline u32_vector add_dots(u32_vector sum, u32_vector w, u32_vector x)
{
#if HAS_DOT4
    return add_dot4(sum, w, x);
#else
    return add_dot2(sum, w, x);
#endif
}

#endif
