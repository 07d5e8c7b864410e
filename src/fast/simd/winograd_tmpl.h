// SPDX-License-Identifier: Apache-2.0
// The transforms of Winograd's algorithm F(2x2, 3x3) (fast/winograd.c): additions alone. In: 4x4 input positions, or
// the products of 16 points. Out: the 16 points of a patch, or 2x2 output positions.
#ifndef HALITE_FAST_SIMD_WINOGRAD_TMPL_H
#define HALITE_FAST_SIMD_WINOGRAD_TMPL_H

#include "fast/simd/simd.h"
#include "fast/simd/vector.h"

// B' d B, with B' = [1 0 -1 0; 0 1 1 0; 0 -1 1 0; 0 1 0 -1].
INLINE void winograd_points(const float *const *x, int64_t c, float *to, ptrdiff_t stride)
{
    f32_vector d[4][4];
    UNROLL for (int l = 0; l < 4; l++)
    {
        const f32_vector x0 = load_f32(x[l] + c), x1 = load_f32(x[4 + l] + c), x2 = load_f32(x[8 + l] + c);
        d[0][l] = x0 - x2, d[1][l] = x1 + x2, d[2][l] = x2 - x1, d[3][l] = x1 - load_f32(x[12 + l] + c);
    }
    UNROLL for (int k = 0; k < 4; k++, to += 4 * stride)
    {
        store_f32(to + c, d[k][0] - d[k][2]);
        store_f32(to + stride + c, d[k][1] + d[k][2]);
        store_f32(to + 2 * stride + c, d[k][2] - d[k][1]);
        store_f32(to + 3 * stride + c, d[k][1] - d[k][3]);
    }
}

static void winograd_input(const float *const *x, int64_t channels, float *to, ptrdiff_t stride)
{
    int64_t c = 0;
    for (; c + LANES <= channels; c += LANES) winograd_points(x, c, to, stride);
    if (c < channels) winograd_points(x, channels - LANES, to, stride);
}

// A' m A, with A' = [1 1 1 0; 0 1 -1 -1].
static void winograd_output(const struct hl_winograd_output *output)
{
    const ptrdiff_t stride = output->stride;
    for (int c = 0; c < output->columns; c += LANES) {
        const f32_vector bias = load_f32(output->bias + c);
        f32_vector s[2][4];
        UNROLL for (int l = 0; l < 4; l++)
        {
            const float *m = output->products + l * stride + c;
            const f32_vector m1 = load_f32(m + 4 * stride), m2 = load_f32(m + 8 * stride);
            s[0][l] = load_f32(m) + m1 + m2, s[1][l] = m1 - m2 - load_f32(m + 12 * stride);
        }
        UNROLL for (int p = 0; p < 4; p++)
        {
            const f32_vector *r = s[p / 2];
            const f32_vector sum = p % 2 == 0 ? r[0] + r[1] + r[2] : r[1] - r[2] - r[3];
            if (output->y[p])
                store_first_f32(output->y[p] + c, clamp_f32(sum + bias, output->low, output->high),
                                output->columns - c);
        }
    }
}

#endif
