// SPDX-License-Identifier: Apache-2.0
// The functions of fixed_point_i16.h. Constants are real numbers rounded to the format that stands
// beside them. Every step rounds as the official kernels do, so the order of the operations
// matters.
#include "ops/fixed_point_i16.h"

#include "ops/quant.h"

static const int16_t ONE_Q0 = INT16_MAX; // the nearest to 1 that there is
static const int16_t ONE_Q2 = 1 << 13;

// x * 2^bits: from one format to another with fewer integer bits.
static int16_t shift_left(int16_t x, int bits)
{
    return hl_saturate_i16(x * (1 << bits));
}

int16_t hl_fixed16_multiply(int16_t a, int16_t b)
{
    int32_t product = a * b;
    return hl_saturate_i16((product + (product >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15));
}

int32_t hl_fixed16_divide(int32_t x, int bits)
{
    int32_t mask = (int32_t)((UINT32_C(1) << bits) - 1);
    int32_t rest = x & mask, threshold = (mask >> 1) + (x < 0);
    return (x >> bits) + (rest > threshold);
}

// (a + 1) / 2 of Q0.
static int16_t half_of_one_plus(int16_t a)
{
    int32_t sum = a + ONE_Q0;
    return (int16_t)((sum + (sum >= 0 ? 1 : -1)) / 2);
}

// e^x of x in [-1/4, 0): the Taylor series around -1/8 up to the fourth power,
// e^-1/8 * (1 + t + (t^2 + (t^3 + t^4 / 4) / 3) / 2).
static int16_t exp_of_quarter(int16_t x)
{
    const int16_t exp_eighth = 28918, third = 10923; // Q0
    int16_t t = (int16_t)(x + (1 << 12));
    int16_t t2 = hl_fixed16_multiply(t, t), t3 = hl_fixed16_multiply(t2, t);
    int16_t t4 = hl_fixed16_multiply(t2, t2);
    int16_t inner = hl_fixed16_multiply((int16_t)(hl_fixed16_divide(t4, 2) + t3), third);
    int16_t rest = (int16_t)hl_fixed16_divide(inner + t2, 1);
    return hl_saturate_i16(exp_eighth + hl_fixed16_multiply(exp_eighth, (int16_t)(t + rest)));
}

// e^x as Q0 of x <= 0 in Qm, m in 0..7.
static int16_t exp_of_negative(int16_t x, int m)
{
    static const int16_t powers[] = {25520, 19875, 12055, 4435,
                                     600,   11,    0}; // e^-2^i, i from -2, Q0
    if (x == 0) return ONE_Q0;
    int unit = 15 - m; // bits of fraction
    int quarter = 1 << (unit - 2);
    if (m > 5 && x < -32 * (1 << unit)) return 0;
    int below = (x & (quarter - 1)) - quarter; // x is this less whole quarters
    int rest = below - x;
    int16_t result = exp_of_quarter((int16_t)(below * (1 << m)));
    for (int i = -2; i <= 4 && i < m; i++)
        if (rest & 1 << (unit + i)) result = hl_fixed16_multiply(result, powers[i + 2]);
    return result;
}

// 2 / (1 + x) as Q2 of x in [0, 1) in Q0: three steps of Newton's method.
static int16_t twice_inverse_of_one_plus(int16_t x)
{
    const int16_t start = 23130, slope = -15420; // 48/17 and -32/17, Q2
    int16_t half = half_of_one_plus(x);
    int16_t y = (int16_t)(start + hl_fixed16_multiply(half, slope));
    for (int i = 0; i < 3; i++) {
        int16_t error = (int16_t)(ONE_Q2 - hl_fixed16_multiply(half, y));
        y = (int16_t)(y + shift_left(hl_fixed16_multiply(y, error), 2));
    }
    return y;
}

static int16_t minus_magnitude(int16_t x)
{
    return (int16_t)(x > 0 ? -x : x);
}

int16_t hl_fixed16_logistic(int16_t x, int m)
{
    if (x == 0) return 1 << 14;
    int16_t y = shift_left(twice_inverse_of_one_plus(exp_of_negative(minus_magnitude(x), m)), 1);
    return x > 0 ? y : (int16_t)(ONE_Q0 - y);
}

int16_t hl_fixed16_tanh(int16_t x, int m)
{
    if (x == 0) return 0;
    int16_t inverse = twice_inverse_of_one_plus(exp_of_negative(minus_magnitude(x), m + 1));
    int16_t y = shift_left((int16_t)(inverse - ONE_Q2), 2);
    return (int16_t)(x > 0 ? y : -y);
}
