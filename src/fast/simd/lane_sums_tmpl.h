// SPDX-License-Identifier: Apache-2.0
// Sums of all lanes of a vector, for several vectors at once. In: vectors of floats or of int32. Out: one number each.
#ifndef HALITE_FAST_SIMD_LANE_SUMS_TMPL_H
#define HALITE_FAST_SIMD_LANE_SUMS_TMPL_H

#include "fast/simd/vector.h"

enum { ADDED = 4 }; // vectors whose lanes are added together

// sums[r] = the sum of all lanes of parts[r].
#define ADD_LANES(name, vector, quad, type)                                                                           \
    INLINE void name(const vector parts[ADDED], type sums[ADDED])                                                     \
    {                                                                                                                 \
        u8_vector a = (u8_vector)parts[0], b = (u8_vector)parts[1], c = (u8_vector)parts[2], d = (u8_vector)parts[3]; \
        a = (u8_vector)((vector)interleave_low_32(a, b) + (vector)interleave_high_32(a, b));                          \
        c = (u8_vector)((vector)interleave_low_32(c, d) + (vector)interleave_high_32(c, d));                          \
        const vector all = (vector)interleave_low_64(a, c) + (vector)interleave_high_64(a, c);                        \
        quad pieces[BYTES / sizeof(quad)], sum;                                                                       \
        memcpy(pieces, &all, sizeof all);                                                                             \
        sum = pieces[0];                                                                                              \
        UNROLL for (size_t i = 1; i < BYTES / sizeof(quad); i++) sum += pieces[i];                                    \
        memcpy(sums, &sum, sizeof sum);                                                                               \
    }
ADD_LANES(add_lanes_f32, f32_vector, f32_quad, float)
ADD_LANES(add_lanes_integer, u32_vector, u32_quad, int32_t)

#endif
