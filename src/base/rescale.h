// SPDX-License-Identifier: Apache-2.0
// Multiplication by a positive real number in fixed point, bit for bit that of the official reference kernels: the
// arithmetic with which quantized operators get from the scale of a sum to that of their output. The CPU's kernels
// apply it, and the GPU delegate computes tables and constants with it.
#ifndef HALITE_BASE_RESCALE_H
#define HALITE_BASE_RESCALE_H

#include <stdint.h>

// A positive real number as multiplier * 2^(shift - 31), multiplier in [2^30, 2^31).
struct hl_rescale {
    int32_t multiplier;
    int shift; // > 0: left
};
// Rounds half away from zero; 0 for real numbers too small. real must be finite and >= 0.
struct hl_rescale hl_rescale_from(double real);
// The rescale of a sum of `count` elements, count > 0, to their mean: with 1 / count multiplied into it in integers, as
// the original does.
struct hl_rescale hl_rescale_of_mean(double real, int64_t count);

// High half of 2ab, rounded half up; the one overflow saturates. And x / 2^exponent rounded half away from zero.
static inline int32_t hl_high_mul(int32_t a, int32_t b)
{
    if (a == INT32_MIN && b == INT32_MIN) return INT32_MAX;
    return (int32_t)(((int64_t)a * b + (INT64_C(1) << 30)) >> 31); // as the original's nudge and division
}
static inline int32_t hl_shift_right_round(int32_t value, int exponent)
{
    int32_t mask = (int32_t)((INT64_C(1) << exponent) - 1);
    int32_t rest = value & mask, threshold = (mask >> 1) + (value < 0);
    return (value >> exponent) + (rest > threshold);
}
// value * rescale for 32-bit sums ("double rounding"). A left shift that would overflow wraps as two's complement.
static inline int32_t hl_rescale_apply(int32_t value, struct hl_rescale rescale)
{
    int left = rescale.shift > 0 ? rescale.shift : 0, right = rescale.shift > 0 ? 0 : -rescale.shift;
    return hl_shift_right_round(hl_high_mul((int32_t)((uint32_t)value << left), rescale.multiplier), right);
}

#endif
