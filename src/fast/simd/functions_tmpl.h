// SPDX-License-Identifier: Apache-2.0
// Functions of a vector of floats: exponential, logistic, hyperbolic tangent. Results are within 4 units of the last
// place of libm's (fast/elements.h).
#ifndef HALITE_FAST_SIMD_FUNCTIONS_TMPL_H
#define HALITE_FAST_SIMD_FUNCTIONS_TMPL_H

#include "fast/simd/vector.h"

// e^x = 2^n (1 + upper + lower), where x = n log(2) + r and |r| is hardly above log(2) / 2. log(2) is subtracted in two
// pieces. The first has 10 bits, so its product with n and the difference `upper` are exact. The second joins the
// smaller terms of the series in `lower`, up to r^8 / 8!; the rest of the series is below 2^-32 of the whole.
struct exponential {
    i32_vector n;
    f32_vector upper, lower;
};

INLINE struct exponential exponential_of(f32_vector x)
{
    const float to_integer = 0x1.8p23f; // its lowest bit is 1
    const f32_vector shifted = add_product(splat_f32(to_integer), x, splat_f32(0x1.715476p0f));
    const f32_vector n = shifted - to_integer, rest = n * 2.12194440e-4f;
    const f32_vector upper = add_product(x, n, splat_f32(-0.693359375f)), r = upper + rest;
    f32_vector sum = add_product(splat_f32(1.0f / 5040), r, splat_f32(1.0f / 40320));
    sum = add_product(splat_f32(1.0f / 720), r, sum);
    sum = add_product(splat_f32(1.0f / 120), r, sum);
    sum = add_product(splat_f32(1.0f / 24), r, sum);
    sum = add_product(splat_f32(1.0f / 6), r, sum);
    sum = add_product(splat_f32(0.5f), r, sum);
    return (struct exponential){(i32_vector)shifted - 0x4b400000, // the bits of to_integer
                                upper, add_product(rest, r * r, sum)};
}

// 2^n for n in [-126, 127].
INLINE f32_vector power_of_2(i32_vector n)
{
    return (f32_vector)((u32_vector)(n + 127) << 23);
}

// What rounding 1 + upper lost is added again, so that the result is nearly always the nearest float. The power of two
// comes in two factors because neither 2^-150 nor 2^128 is a float.
INLINE f32_vector exp_f32(f32_vector x)
{
    const struct exponential e = exponential_of(clamp_f32(x, -104, 89));
    const f32_vector whole = 1 + e.upper, lost = e.upper - (whole - 1);
    const i32_vector half = e.n >> 1;
    return (whole + (lost + e.lower)) * power_of_2(half) * power_of_2(e.n - half);
}

// The formula of the reference kernel: with so exact an exponential, 99 of 100 results are the same, and deep networks
// stay near the reference. (An approximate reciprocal with one Newton step takes 1.2 times as long.)
INLINE f32_vector logistic_f32(f32_vector x)
{
    return 1 / (1 + exp_f32(-x));
}

// (1 - t) / (1 + t) with t = e^-2|x|. It is computed from t - 1, which is exact near 0 as well.
INLINE f32_vector tanh_f32(f32_vector x)
{
    const struct exponential e = exponential_of(clamp_f32(-2 * magnitude_of(x), -20, 0));
    const f32_vector scale = power_of_2(e.n);
    const f32_vector less = add_product(scale - 1, e.upper + e.lower, scale); // t - 1
    const f32_vector y = less / (2 + less);
    return (f32_vector)((i32_vector)magnitude_of(y) | ((i32_vector)x & INT32_MIN));
}

#endif
