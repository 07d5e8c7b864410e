// SPDX-License-Identifier: Apache-2.0
// Sigmoids of 16-bit fixed-point numbers (fixed_point_i16.h), bit for bit those of the official reference kernels, as
// loops without branches that compilers turn into vectors: for ops/common/row_kernels.c, and for each level of
// instructions by fast/simd/rows_tmpl.h. (30 to 75 ns a value with branches; 11 with SSE2, 5 with AVX2, 3 with
// AVX-512.)
// Constants are real numbers rounded to the format that stands beside them. Every step rounds as the official kernels
// do, so the order of the operations matters.
#ifndef HALITE_OPS_COMMON_SIGMOIDS_I16_H
#define HALITE_OPS_COMMON_SIGMOIDS_I16_H

#include <stdint.h>

#include "ops/common/fixed_point_i16.h"

// What e^x depends on, of x in Qm, m in 0..7: taken apart before the loop, which has no branches then.
struct i16_format {
    int scale, quarter, bits[7], least; // 2^m; 1/4; 2^i, i from -2, where a number can be so large; e^x is 0 below
};

static inline struct i16_format i16_format(int m)
{
    int unit = 15 - m; // bits of fraction
    struct i16_format format = {.scale = 1 << m,
                                .quarter = 1 << (unit - 2),
                                .least = m > 5 ? -(32 << unit) : INT16_MIN};
    for (int i = 0; i < 7; i++) format.bits[i] = i - 2 < m ? format.quarter << i : 0;
    return format;
}

// e^x as Q0 of x <= 0: x is -1/4..0 less whole quarters. Of the first, the Taylor series around -1/8 up to the fourth
// power, e^-1/8 * (1 + t + (t^2 + (t^3 + t^4 / 4) / 3) / 2); times a power of e for each bit of the second.
static inline int i16_exp(int x, const struct i16_format *format)
{
    static const int powers[] = {25520, 19875, 12055, 4435, 600, 11, 0}; // e^-2^i, i from -2, Q0
    const int exp_eighth = 28918, third = 10923;                         // Q0
    int below = (x & (format->quarter - 1)) - format->quarter, rest = below - x;
    int t = below * format->scale + (1 << 12);
    int t2 = hl_fixed16_product(t, t), t3 = hl_fixed16_product(t2, t), t4 = hl_fixed16_product(t2, t2);
    int inner = hl_fixed16_product(hl_fixed16_divide(t4, 2) + t3, third);
    int y = exp_eighth + hl_fixed16_product(exp_eighth, t + hl_fixed16_divide(inner + t2, 1));
    y = y > INT16_MAX ? INT16_MAX : y;
    for (int i = 0; i < 7; i++) {
        int times = hl_fixed16_product(y, powers[i]);
        y = rest & format->bits[i] ? times : y;
    }
    y = x < format->least ? 0 : y;
    return x == 0 ? INT16_MAX : y;
}

// 2 / (1 + x) as Q2 of x in [0, 1) in Q0: three steps of Newton's method.
static inline int i16_twice_inverse(int x)
{
    const int start = 23130, slope = -15420; // 48/17 and -32/17, Q2
    int half = (x >> 1) + (1 << 14), y = start + hl_fixed16_product(half, slope);
    for (int i = 0; i < 3; i++) y += hl_fixed16_product(y, (1 << 13) - hl_fixed16_product(half, y)) * 4;
    return y;
}

// In place, from Qm to Q0, m in 0..6.
static void logistic_i16(int16_t *values, int m, int64_t count)
{
    const struct i16_format format = i16_format(m);
    for (int64_t i = 0; i < count; i++) {
        int x = values[i], y = 2 * i16_twice_inverse(i16_exp(x > 0 ? -x : x, &format));
        y = y > INT16_MAX ? INT16_MAX : y;
        y = x > 0 ? y : INT16_MAX - y;
        values[i] = (int16_t)(x == 0 ? 1 << 14 : y);
    }
}

static void tanh_i16(int16_t *values, int m, int64_t count)
{
    const struct i16_format format = i16_format(m + 1);
    for (int64_t i = 0; i < count; i++) {
        int x = values[i], y = 4 * (i16_twice_inverse(i16_exp(x > 0 ? -x : x, &format)) - (1 << 13));
        y = y > INT16_MAX ? INT16_MAX : y;
        y = x > 0 ? y : -y;
        values[i] = (int16_t)(x == 0 ? 0 : y);
    }
}

#endif
