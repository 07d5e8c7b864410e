// SPDX-License-Identifier: Apache-2.0
// The SIMD wrappers that go lane by lane where an architecture has no instructions for parts of a vector. generic.h,
// x86_sse2.h and neon.h include this file.
#ifndef HALITE_FAST_SIMD_LANES_H
#define HALITE_FAST_SIMD_LANES_H

#include "fast/simd/vector_types.h"

// The first `count` 32-bit values, count < LANES; the other lanes are 0. Memory after them is not touched. (By way of a
// vector in memory, the CPU would wait for each of its parts: 32 ADDs of one float took 0.23 us more.)
static inline u32_vector load_first(const void *at, int64_t count)
{
    uint32_t lanes[3] = {0};
    if (count > 0) memcpy(&lanes[0], at, 4);
    if (count > 1) memcpy(&lanes[1], (const char *)at + 4, 4);
    if (count > 2) memcpy(&lanes[2], (const char *)at + 8, 4);
    return (u32_vector){lanes[0], lanes[1], lanes[2], 0};
}

// Stores the first `count` 32-bit lanes, count < LANES.
static inline void store_first(void *at, u32_vector v, int64_t count)
{
    const uint32_t lanes[3] = {v[0], v[1], v[2]};
    if (count > 0) memcpy(at, &lanes[0], 4);
    if (count > 1) memcpy((char *)at + 4, &lanes[1], 4);
    if (count > 2) memcpy((char *)at + 8, &lanes[2], 4);
}

// The first `count` values as 16-bit lanes, count < WIDE; the other lanes are 0.
static inline u32_vector load_first_i16(const int16_t *at, int count)
{
    int16_t lanes[WIDE] = {0};
    for (int i = 0; i < count; i++) lanes[i] = at[i];
    return load_u32(lanes);
}

static inline u32_vector load_first_i8_as_i16(const int8_t *at, int count)
{
    int16_t lanes[WIDE] = {0};
    for (int i = 0; i < count; i++) lanes[i] = at[i];
    return load_u32(lanes);
}

// The first half of the result is `first`.
static inline i32_vector join_halves(i32_half first, i32_half second)
{
    i32_vector v;
    memcpy(&v, &first, sizeof first);
    memcpy((char *)&v + sizeof first, &second, sizeof second);
    return v;
}

static inline f64_vector doubles_of(i32_half v)
{
    return __builtin_convertvector(v, f64_vector);
}

// Rounded towards 0.
static inline i32_half ints_of(f64_vector v)
{
    return __builtin_convertvector(v, i32_half);
}

// The largest lane of a vector without a NaN.
static inline float largest_lane(f32_vector v)
{
    float largest = v[0];
    for (int lane = 1; lane < LANES; lane++) largest = v[lane] > largest ? v[lane] : largest;
    return largest;
}

// The sum of all lanes, in an order that may differ from level to level.
static inline float sum_of_lanes(f32_vector v)
{
    float sum = 0;
    for (int lane = 0; lane < LANES; lane++) sum += v[lane];
    return sum;
}

#endif
