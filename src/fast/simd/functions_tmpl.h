// SPDX-License-Identifier: Apache-2.0
// Functions of a vector of floats: exponential, logistic, hyperbolic tangent, GELU, logarithm, sine, cosine, the
// inverse of a root, as close to the true values as fast/elements.h says; rounding to whole numbers, exactly.
#ifndef HALITE_FAST_SIMD_FUNCTIONS_TMPL_H
#define HALITE_FAST_SIMD_FUNCTIONS_TMPL_H

#include <math.h>

#include "fast/simd/vector.h"

// e^(x - less) = 2^n (1 + upper + lower), where x - less = n log(2) + r and |r| is hardly above log(2) / 2. log(2) is
// subtracted in two pieces. The first has 10 bits, so its product with n and the difference `upper` are exact. The
// second and `less`, which is below 2^-4, join `lower`, a polynomial fitted to the smaller terms of the series, with an
// error below 2^-27 of the whole.
struct exponential {
    i32_vector n;
    f32_vector upper, lower;
};

INLINE struct exponential exponential_of(f32_vector x, f32_vector less)
{
    const float to_integer = 0x1.8p23f; // its lowest bit is 1
    const f32_vector shifted = add_product(splat_f32(to_integer), x - less, splat_f32(0x1.715476p0f));
    const f32_vector n = shifted - to_integer, rest = n * 2.12194440e-4f - less;
    const f32_vector upper = add_product(x, n, splat_f32(-0.693359375f)), r = upper + rest;
    f32_vector sum = add_product(splat_f32(0x1.123e22p-7f), r, splat_f32(0x1.6d99cap-10f));
    sum = add_product(splat_f32(0x1.55547cp-5f), r, sum);
    sum = add_product(splat_f32(0x1.55548ap-3f), r, sum);
    sum = add_product(splat_f32(0.5f), r, sum);
    return (struct exponential){(i32_vector)shifted - 0x4b400000, // the bits of to_integer
                                upper, add_product(rest, r * r, sum)};
}

// 2^n for n in [-126, 127].
INLINE f32_vector power_of_2(i32_vector n)
{
    return (f32_vector)((u32_vector)(n + 127) << 23);
}

// e^(x - less) for |x| < 105 and a small `less`: with it x has more bits than a float holds. Compilers leave out a
// subtraction of 0.
#if HAS_POWER_TABLE
// x = n log(2) + r, where n counts sixteenths: the fraction of n chooses a power of two from a register, and
// |r| <= log(2) / 32 leaves few terms to the polynomial, whose rest is below 2^-29 of the whole. (LOGISTIC of a
// million values on a Zen 5: 217 us with the series above, 100 so; EXP 182 and 85.)
INLINE f32_vector exp_of_difference(f32_vector x, f32_vector less)
{
    const float to_16ths = 0x1.8p19f; // its lowest bit is 1 / 16
    const f32_vector powers = {0x1.000000p0f, 0x1.0b5586p0f, 0x1.172b84p0f, 0x1.2387a6p0f, 0x1.306fe0p0f, 0x1.3dea64p0f,
                               0x1.4bfdaep0f, 0x1.5ab07ep0f, 0x1.6a09e6p0f, 0x1.7a1148p0f, 0x1.8ace54p0f, 0x1.9c4918p0f,
                               0x1.ae89fap0f, 0x1.c199bep0f, 0x1.d5818ep0f, 0x1.ea4afap0f};
    const f32_vector shifted = add_product(splat_f32(to_16ths), x - less, splat_f32(0x1.715476p0f));
    const f32_vector n = shifted - to_16ths;
    const f32_vector upper = add_product(x, n, splat_f32(-0.693359375f));
    const f32_vector r = add_product(upper - less, n, splat_f32(2.12194440e-4f));
    const f32_vector power = (f32_vector)permute((u32_vector)powers, (u32_vector)shifted);
    const f32_vector sum = add_product(splat_f32(0x1.000224p-1f), r, splat_f32(0x1.555722p-3f));
    return scale_by_power(add_product(power, power * r, add_product(splat_f32(1), r, sum)), n);
}
#else
// The power of two comes in two factors because neither 2^-150 nor 2^128 is a float.
INLINE f32_vector exp_of_difference(f32_vector x, f32_vector less)
{
    const struct exponential e = exponential_of(x, less);
    const i32_vector half = e.n >> 1;
    return (1 + (e.upper + e.lower)) * power_of_2(half) * power_of_2(e.n - half);
}
#endif

INLINE f32_vector exp_f32(f32_vector x)
{
    return exp_of_difference(x, (f32_vector){0});
}

// e^(x - less) for x <= 0 or NaN. Results below e^-87, which is a little above the smallest normal number, become 0:
// CPUs need a hundred cycles for a subnormal number, and masked scores make many of them. (SOFTMAX of 4.5 million
// values, most of them masked: 22 ms with subnormal results, 4 ms without.)
INLINE f32_vector exp_below_0(f32_vector x, f32_vector less)
{
#if HAS_POWER_TABLE
    const f32_vector y = exp_of_difference(max_f32(splat_f32(-87), x), less);
#else
    const struct exponential e = exponential_of(clamp_f32(x, -87, 0), less);
    const f32_vector y = (1 + (e.upper + e.lower)) * power_of_2(e.n);
#endif
    return choose(x < -87, splat_f32(0), y);
}

// The formula of the reference kernel. Above 30 it is 1, below -89 it is 0. (An approximate reciprocal with one Newton
// step takes 1.2 times as long as the division.)
INLINE f32_vector logistic_f32(f32_vector x)
{
    return 1 / (1 + exp_f32(-clamp_f32(x, -89, 30)));
}

// e^x - 1 for x < 0, which is -1 below -20: from the terms of the exponential, as it would lose bits near 0.
INLINE f32_vector elu_f32(f32_vector x)
{
    const struct exponential e = exponential_of(max_f32(x, splat_f32(-20)), (f32_vector){0});
    const f32_vector scale = power_of_2(e.n);
    return choose(x < 0, add_product(scale - 1, e.upper + e.lower, scale), x);
}

// (1 - t) / (1 + t) with t = e^-2|x|. It is computed from t - 1, which is exact near 0 as well.
INLINE f32_vector tanh_f32(f32_vector x)
{
    const struct exponential e = exponential_of(max_f32(splat_f32(-20), -2 * magnitude_of(x)), (f32_vector){0});
    const f32_vector scale = power_of_2(e.n);
    const f32_vector less = add_product(scale - 1, e.upper + e.lower, scale); // t - 1
    const f32_vector y = less / (2 + less);
    return with_sign_of(x, magnitude_of(y));
}

// e^(-c^2 / 2) for c >= 0, with all bits of the square: rounding 13^2 / 2 would cost 6 bits of the result. Beyond 13.19
// it is 0.
INLINE f32_vector exp_of_square(f32_vector c)
{
#if HAS_FUSED
    const f32_vector half = -0.5f * c, product = half * c;
    return exp_below_0(product, add_product(product, half, -c));
#else
    const f32_vector upper = (f32_vector)((i32_vector)c & ~0xfff), lower = c - upper; // upper has 12 bits
    return exp_below_0(-0.5f * upper * upper, lower * (upper + lower * 0.5f));
#endif
}

// x Phi(x), Phi the normal distribution: max(x, 0) - |x| Phi(-|x|), where Phi(-c) = e^(-c^2 / 2) P(c) / Q(c) with an
// error below 2^-26.5 of it, up to c = 13.2; from there on the exponential is 0. -infinity, times 0, is NaN. P and Q
// begin with numbers whose last place is small beside them, as most inputs are near 0.
INLINE f32_vector gelu_f32(f32_vector x)
{
    const f32_vector limit = splat_f32(14), c = min_f32(limit, magnitude_of(x)), e = exp_of_square(c);
    const f32_vector s = c * c;
    f32_vector p = add_product(splat_f32(0x1.862a66p-1f), s, splat_f32(0x1.1e3152p-4f));
    p = add_product(p, c, add_product(splat_f32(0x1.4497eap-2f), s, splat_f32(0x1.cc1772p-8f)));
    p = add_product(splat_f32(0x1.cp-1f), c, p);
    f32_vector q = add_product(splat_f32(0x1.9fad8ep-1f), s, splat_f32(0x1.2050c2p-6f));
    q = add_product(splat_f32(0x1.75cf1cp+1f), s, q);
    q = add_product(q, c, add_product(splat_f32(0x1.0b6766p+1f), s, splat_f32(0x1.66b752p-3f)));
    q = add_product(splat_f32(0x1.cp+0f), c, q);
    return add_product(max_f32(x, splat_f32(0)), magnitude_of(min_f32(limit, x)) * (p / q), -e);
}

// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) = x / (1 + e^-2u), where u is what tanh is of.
INLINE f32_vector gelu_tanh_f32(f32_vector x)
{
    const f32_vector doubled = x * add_product(splat_f32(0x1.988454p+0f), x * x, splat_f32(0x1.2444f2p-4f));
    return x / (1 + exp_f32(-clamp_f32(doubled, -89, 30)));
}

// log(m 2^n) for m in [0.75, 1.5): n log(2) + f - f^2 / 2 + f^3 P(f), where f = m - 1 and the error of the last three
// is below 2^-27.5 of their sum. log(2) has two pieces, of which the first has 15 bits and n at most 8; both are
// positive, as n may be infinite.
INLINE f32_vector log_of_parts(f32_vector m, f32_vector n)
{
    const f32_vector f = m - 1;
    f32_vector sum = add_product(splat_f32(0x1.ac90acp-4f), f, splat_f32(-0x1.7140b8p-5f));
    sum = add_product(splat_f32(-0x1.0d8a0cp-3f), f, sum);
    sum = add_product(splat_f32(0x1.288418p-3f), f, sum);
    sum = add_product(splat_f32(-0x1.54efa2p-3f), f, sum);
    sum = add_product(splat_f32(0x1.99699cp-3f), f, sum);
    sum = add_product(splat_f32(-0x1.000042p-2f), f, sum);
    sum = add_product(splat_f32(0x1.5555a4p-2f), f, sum);
    sum = add_product(splat_f32(-0.5f), f, sum);
    sum = f + add_product(n * 0x1.7f7d1cp-20f, f * f, sum);
    return add_product(sum, n, splat_f32(0x1.62e4p-1f));
}

INLINE f32_vector log_f32(f32_vector x)
{
#if HAS_PARTS
    const f32_vector m = fraction_of(x), n = exponent_of(x);
    return log_of_parts(m, choose(m < 1, n + 1, n));
#else
    // Subnormal numbers are multiplied by 2^23 first. A negative x has the sign that makes NaN of any bits.
    const i32_vector is_small = x < 0x1p-126f, bits = (i32_vector)choose(is_small, x * 0x1p23f, x);
    const i32_vector n = (i32_vector)((u32_vector)bits - 0x3f400000) >> 23; // the bits of 0.75
    const f32_vector m = (f32_vector)((u32_vector)bits - ((u32_vector)n << 23));
    f32_vector y = log_of_parts(m, __builtin_convertvector(n - (is_small & 23), f32_vector));
    y = choose(x < INFINITY, y, x);
    y = (f32_vector)((i32_vector)y | (i32_vector)x >> 31);
    return choose(x == 0, splat_f32(-INFINITY), y);
#endif
}

// x - n pi for |x| up to MAX_REDUCED. What is left may be as small as 2^-27, and keeps its relative precision.
#define MAX_REDUCED 32768
INLINE f32_vector less_multiple_of_pi(f32_vector x, f32_vector n)
{
#if HAS_FUSED
    // The first difference has no more than 24 bits, so it is exact. The second is rounded, by half of its last place
    // at most, and the third is all but that.
    x = add_product(x, n, splat_f32(-0x1.921fb6p+1f));
    x = add_product(x, n, splat_f32(0x1.777a5cp-24f));
    return add_product(x, n, splat_f32(0x1.ee59dap-49f));
#else
    // Products with the first piece are exact in double precision.
    for (int i = 0; i < LANES; i++)
        x[i] = (float)((double)x[i] - (double)n[i] * 0x1.921fb5444p+1 - (double)n[i] * 0x1.68c234c4c6629p-38);
    return x;
#endif
}

// sin(r), times -1 if the lowest bit of k is set, for |r| hardly above pi / 2: r (1 + r^2 P(r^2)), with an error below
// 2^-26.8 of it.
INLINE f32_vector sin_of_rest(f32_vector r, i32_vector k)
{
    const f32_vector s = r * r;
    f32_vector sum = add_product(splat_f32(-0x1.9f6e7ap-13f), s, splat_f32(0x1.5da900p-19f));
    sum = add_product(splat_f32(0x1.110ecep-7f), s, sum);
    sum = add_product(splat_f32(-0x1.55554cp-3f), s, sum);
    const f32_vector y = r * add_product(splat_f32(1), s, sum);
    return (f32_vector)((u32_vector)y ^ (u32_vector)k << 31);
}

// By libm, for the vectors that have a lane beyond the bound.
RARE f32_vector map_lanes(f32_vector x, float (*function)(float))
{
    for (int i = 0; i < LANES; i++) x[i] = function(x[i]);
    return x;
}

INLINE f32_vector sin_f32(f32_vector x)
{
    const float to_integer = 0x1.8p23f;
    if (any_lane(magnitude_of(x) > MAX_REDUCED)) return map_lanes(x, sinf);
    const f32_vector shifted = add_product(splat_f32(to_integer), x, splat_f32(0x1.45f306p-2f));
    return sin_of_rest(less_multiple_of_pi(x, shifted - to_integer), (i32_vector)shifted);
}

// With x = (k - 1/2) pi + r it is sin(r), times -1 if k is odd.
INLINE f32_vector cos_f32(f32_vector x)
{
    const float to_integer = 0x1.8p23f;
    if (any_lane(magnitude_of(x) > MAX_REDUCED)) return map_lanes(x, cosf);
    const f32_vector shifted = add_product(splat_f32(0.5f), x, splat_f32(0x1.45f306p-2f)) + to_integer;
    return sin_of_rest(less_multiple_of_pi(x, shifted - to_integer - 0.5f), (i32_vector)shifted);
}

// An estimate and a step of Newton's, where the CPU has one (RSQRT of 32,768 values on a Zen 4: 9.3 us by a division of
// 1, 3.5 so). The estimates of 0 and of infinity are the results, and have no error that is a number.
INLINE f32_vector rsqrt_f32(f32_vector x)
{
#if HAS_RSQRT
    const f32_vector estimate = rsqrt_estimate(x), error = add_product(splat_f32(1), -x * estimate, estimate);
    return choose(error == error, add_product(estimate, estimate * 0.5f, error), estimate);
#else
    return 1 / sqrt_f32(x);
#endif
}

#if !HAS_ROUND
// Halves go to the even neighbor. Floats from 2^23 on are whole.
INLINE f32_vector round_f32(f32_vector x)
{
    const float whole = 0x1p23f;
    const f32_vector size = magnitude_of(x), rounded = size + whole - whole;
    return with_sign_of(x, choose(size < whole, rounded, size));
}

INLINE f32_vector floor_f32(f32_vector x)
{
    const f32_vector near = round_f32(x);
    return near - choose(near > x, splat_f32(1), splat_f32(0));
}

INLINE f32_vector ceil_f32(f32_vector x)
{
    const f32_vector near = round_f32(x);
    return with_sign_of(x, near + choose(near < x, splat_f32(1), splat_f32(0)));
}
#endif

#endif
