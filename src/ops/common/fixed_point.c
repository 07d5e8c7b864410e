// SPDX-License-Identifier: Apache-2.0
// The functions of fixed_point.h. Constants are real numbers rounded to the format that stands
// beside them. Every step rounds as the official kernels do, so the order of operations matters.
#include "ops/common/fixed_point.h"

static const int32_t ONE_Q0 = INT32_MAX; // the nearest to 1 that there is

int32_t hl_shift_left_saturated(int32_t value, int bits)
{
    return hl_saturate_i32((int64_t)value * (INT64_C(1) << bits));
}

int hl_leading_zeros(uint32_t value)
{
    int zeros = 0;
    for (uint32_t bit = UINT32_C(1) << 31; bit != 0 && !(value & bit); bit >>= 1) zeros++;
    return zeros;
}

// (a + b) / 2, half away from zero.
static int32_t half_sum(int32_t a, int32_t b)
{
    int64_t sum = (int64_t)a + b;
    return (int32_t)((sum + (sum >= 0 ? 1 : -1)) / 2);
}

// ---- exp ----------------------------------------------------------------------------------------

// e^x as Q0 of x in [-1/4, 0) in Q0: the Taylor series around -1/8 up to the fourth power,
// e^-1/8 * (1 + t + (t^2 + (t^3 + t^4 / 4) / 3) / 2).
static int32_t exp_of_quarter(int32_t x)
{
    const int32_t exp_of_middle = 1895147668, third = 715827883; // e^-1/8 and 1/3 in Q0
    int32_t t = x + (1 << 28);
    int32_t t2 = hl_high_mul(t, t), t3 = hl_high_mul(t2, t), t4 = hl_high_mul(t2, t2);
    int32_t cubic = hl_high_mul(hl_shift_right_round(t4, 2) + t3, third);
    int32_t series = t + hl_shift_right_round(cubic + t2, 1);
    return exp_of_middle + hl_high_mul(exp_of_middle, series);
}

int32_t hl_fixed_exp(int32_t x)
{
    // e^-2^(i - 2) in Q0: a factor for each bit of x above the quarter.
    static const int32_t factors[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
    const int32_t quarter = 1 << 24; // in Q5
    if (x == 0) return ONE_Q0;
    int32_t rest = (x & (quarter - 1)) - quarter; // in [-1/4, 0)
    int32_t result = exp_of_quarter(hl_shift_left_saturated(rest, 5));
    int64_t quarters = (int64_t)rest - x;
    for (int i = 0; i < 7; i++)
        if (quarters & (INT64_C(1) << (24 + i))) result = hl_high_mul(result, factors[i]);
    return result;
}

// ---- reciprocals --------------------------------------------------------------------------------

// Newton's method for the reciprocal of d = (1 + x) / 2 in [1/2, 1), from the best linear guess.
int32_t hl_fixed_inverse_of_one_plus(int32_t x)
{
    const int32_t guess = 1515870810, guess_slope = -1010580540; // 48/17 and -32/17 in Q2
    const int32_t one = 1 << 29;                                 // in Q2
    int32_t d = half_sum(x, ONE_Q0);
    int32_t inverse = guess + hl_high_mul(d, guess_slope);
    for (int i = 0; i < 3; i++) {
        int32_t error = one - hl_high_mul(d, inverse);
        inverse += hl_shift_left_saturated(hl_high_mul(inverse, error), 2);
    }
    return hl_shift_left_saturated(inverse, 1); // half of it, Q2 to Q0
}

int32_t hl_fixed_reciprocal(uint32_t x, int *bits_over_unit)
{
    int zeros = hl_leading_zeros(x);
    *bits_over_unit = 12 - zeros;
    uint32_t above_one = (x << zeros) & INT32_MAX; // x as a Q0 in [1, 2), without the 1
    return hl_fixed_inverse_of_one_plus((int32_t)above_one);
}

// ---- logarithm ----------------------------------------------------------------------------------

// The exponent of a number in Q6, moved by `quarters` quarters.
static int32_t exponent_in_q6(int exponent, int quarters)
{
    const int32_t quarter = 1 << 23;
    return hl_saturate_i32((int64_t)hl_shift_left_saturated(exponent, 25) + quarters * quarter);
}

// x = r * 2^e with r around sqrt(1/sqrt(2)); e is a multiple of 1/2 off by a quarter: of the two
// candidates, one from x and one from x * sqrt(1/2), the smaller r belongs to the larger exponent.
// log(r) comes from q = 2 (r - c), c = sqrt(1/sqrt(2)), as a quotient of polynomials.
int32_t hl_fixed_log(int32_t x)
{
    const int32_t log_2 = 1488522236, sqrt_half = 1518500250, sqrt_sqrt_half = 1805811301; // Q0
    // 11 / (240 s), 1 / (20 s), 2 / s - s, s / 4 with s = sqrt(sqrt(2)), in Q0.
    const int32_t alpha_n = 117049297, alpha_d = 127690142, alpha_i = 1057819769, alpha_f = 638450708;

    int zeros_a = hl_leading_zeros((uint32_t)x);
    int32_t normal_a = hl_shift_left_saturated(x, zeros_a - 1);
    int32_t r_a = hl_shift_left_saturated(hl_high_mul(normal_a, sqrt_half), 1);
    int32_t exponent_a = exponent_in_q6(12 - zeros_a, 1);

    int headroom_b = hl_leading_zeros((uint32_t)hl_high_mul(x, sqrt_half)) - 1;
    int32_t r_b = hl_shift_left_saturated(x, headroom_b);
    int32_t exponent_b = exponent_in_q6(12 - headroom_b, -1);

    int32_t r = r_a < r_b ? r_a : r_b;
    int32_t exponent = exponent_a > exponent_b ? exponent_a : exponent_b;

    int32_t p = half_sum(r, sqrt_sqrt_half);
    int32_t q = 2 * (r - sqrt_sqrt_half);
    int32_t q2 = hl_high_mul(q, q);
    int32_t numerator = hl_high_mul(q, r) + hl_high_mul(hl_high_mul(q, q2), alpha_n);
    int32_t denominator_less_one = hl_high_mul(p, alpha_i + q + hl_high_mul(alpha_d, q2)) + hl_high_mul(alpha_f, q);
    int32_t inverse = hl_fixed_inverse_of_one_plus(denominator_less_one);
    int32_t sum = hl_high_mul(exponent, log_2) + hl_high_mul(hl_shift_right_round(numerator, 6), inverse); // Q6
    return hl_shift_left_saturated(sum, 1);
}

// ---- inverse square root ------------------------------------------------------------------------

struct hl_rescale hl_fixed_inverse_sqrt(int64_t x)
{
    const int32_t half_of_three = (1 << 28) + (1 << 27), sqrt_half = 1518500250; // Q3, Q0
    if (x <= 1) return (struct hl_rescale){INT32_MAX, 0};

    // An even power of two brings x to [1/4, 1) as a Q3.
    int right = 11;
    while (x >= 1 << 29) {
        x /= 4;
        right++;
    }
    int pairs = (hl_leading_zeros((uint32_t)x) - 1) / 2 - 1;
    right -= pairs;
    int32_t input = (int32_t)(x << (2 * pairs)) >> 1;
    int32_t half_input = hl_shift_right_round(input, 1);

    // Newton: y = (3/2) y - (x/2) y^3, from 1. Products of Q3 numbers are shifted back to Q3.
    int32_t y = 1 << 28;
    for (int i = 0; i < 5; i++) {
        int32_t y3 = hl_shift_left_saturated(hl_high_mul(hl_high_mul(y, y), y), 6);
        y = hl_shift_left_saturated(hl_high_mul(half_of_three, y) - hl_high_mul(half_input, y3), 3);
    }
    int32_t multiplier = hl_high_mul(y, sqrt_half);
    if (right >= 0) return (struct hl_rescale){multiplier, -right};
    return (struct hl_rescale){(int32_t)((uint32_t)multiplier << -right), 0};
}
