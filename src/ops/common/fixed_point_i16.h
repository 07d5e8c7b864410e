// SPDX-License-Identifier: Apache-2.0
// Functions of 16-bit fixed-point numbers, bit for bit those of the official reference kernels; sigmoids are in
// row_kernels.h. A number of format Qm has m integer bits, 15 - m fractional ones and a sign:
// the int16 v is v / 2^(15 - m).
#ifndef HALITE_OPS_COMMON_FIXED_POINT_I16_H
#define HALITE_OPS_COMMON_FIXED_POINT_I16_H

#include <stdint.h>

// a * b: the high half of 2ab, rounded half up; of Qm and Qn a Q(m + n). Not both are INT16_MIN.
static inline int32_t hl_fixed16_product(int32_t a, int32_t b)
{
    return (a * b + (1 << 14)) >> 15;
}

// The same of any two.
static inline int16_t hl_fixed16_multiply(int16_t a, int16_t b)
{
    int32_t product = hl_fixed16_product(a, b);
    return (int16_t)(product > INT16_MAX ? INT16_MAX : product);
}

// x / 2^bits rounded half away from zero; bits in 0..30.
static inline int32_t hl_fixed16_divide(int32_t x, int bits)
{
    int32_t mask = (int32_t)((UINT32_C(1) << bits) - 1);
    int32_t rest = x & mask, threshold = (mask >> 1) + (x < 0);
    return (x >> bits) + (rest > threshold);
}

#endif
