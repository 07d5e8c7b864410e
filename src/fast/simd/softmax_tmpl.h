// SPDX-License-Identifier: Apache-2.0
// SOFTMAX of rows of floats, in the words of vector.h. Included by microkernels_tmpl.h, so once for each level.
#ifndef HALITE_FAST_SIMD_SOFTMAX_TMPL_H
#define HALITE_FAST_SIMD_SOFTMAX_TMPL_H

#include <float.h>

#include "fast/simd/elements_tmpl.h"
#include "fast/simd/vector.h"

// The lanes of a vector without a NaN as one value, and their sum.
INLINE float largest_lane(f32_vector v)
{
#if defined __AVX512F__
    return _mm512_reduce_max_ps((__m512)v);
#else
    float largest = v[0];
    for (int lane = 1; lane < LANES; lane++) largest = v[lane] > largest ? v[lane] : largest;
    return largest;
#endif
}

INLINE float sum_of_lanes(f32_vector v)
{
#if defined __AVX512F__
    return _mm512_reduce_add_ps((__m512)v);
#else
    float sum = 0;
    for (int lane = 0; lane < LANES; lane++) sum += v[lane];
    return sum;
#endif
}

// A NaN is not the largest, as in the reference kernel.
static float largest_of(const float *x, int length)
{
    f32_vector most = splat_f32(-FLT_MAX);
    int64_t i = 0;
    for (; i + LANES <= length; i += LANES) most = max_f32(load_f32(x + i), most);
    float largest = largest_lane(most);
    for (; i < length; i++)
        if (x[i] > largest) largest = x[i];
    return largest;
}

// e^x for x up to 0, or NaN. Results below e^-87, a little above the least normal number, are 0: numbers below that one
// take CPUs a hundred cycles, and masks make many. (4.5 million values, most of them masked: 22 ms with them, 4 ms
// without.)
INLINE f32_vector exp_below_0(f32_vector x)
{
    const struct exponential e = exponential_of(clamp_f32(x, -87, 0));
    return choose(x < -87, splat_f32(0), (1 + (e.upper + e.lower)) * power_of_2(e.n));
}

// y[i] = exp((x[i] - largest) * beta), and their sum.
static float exponentials(const float *x, float *y, int length, float largest, float beta)
{
    f32_vector sums = {0};
    int64_t i = 0;
    for (; i + LANES <= length; i += LANES) {
        f32_vector v = exp_below_0((load_f32(x + i) - largest) * beta);
        sums += v;
        memcpy(y + i, &v, sizeof v);
    }
    float sum = 0;
    if (i < length) {
        f32_vector v = exp_below_0((load_some(x + i, length - i) - largest) * beta);
        memcpy(y + i, &v, (size_t)(length - i) * sizeof *y);
        for (; i < length; i++) sum += y[i];
    }
    return sum + sum_of_lanes(sums);
}

// Rows shorter than a vector, as many as fit a buffer at a time, share the vectors of exponentials.
static void softmax_short_rows(const float *x, float *y, int64_t rows, int length, float beta)
{
    enum { MOST = 512 };
    float values[MOST + LANES] = {0};
    int together = MOST / length;
    for (int64_t row = 0, count; row < rows; row += count) {
        count = rows - row < together ? rows - row : together;
        const float *from = x + row * length;
        float *to = y + row * length;
        int all = (int)count * length;
        for (int at = 0; at < all; at += length) {
            float largest = -FLT_MAX;
            for (int i = 0; i < length; i++)
                if (from[at + i] > largest) largest = from[at + i];
            for (int i = 0; i < length; i++) values[at + i] = (from[at + i] - largest) * beta;
        }
        for (int i = 0; i < all; i += LANES) {
            f32_vector v = exp_below_0(load_f32(values + i));
            memcpy(values + i, &v, sizeof v);
        }
        for (int at = 0; at < all; at += length) {
            float sum = 0;
            for (int i = 0; i < length; i++) sum += values[at + i];
            for (int i = 0; i < length; i++) to[at + i] = values[at + i] / sum;
        }
    }
}

static void softmax_f32(const float *x, float *y, int64_t rows, int length, float beta)
{
    if (length < LANES) {
        softmax_short_rows(x, y, rows, length, beta);
        return;
    }
    for (; rows > 0; rows--, x += length, y += length) {
        float inverse = 1 / exponentials(x, y, length, largest_of(x, length), beta);
        for (int i = 0; i < length; i++) y[i] *= inverse;
    }
}

#endif
