// SPDX-License-Identifier: Apache-2.0
// The functions of fixed_point_i16.h.
#include "ops/fixed_point_i16.h"

#include "ops/quant.h"

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
