// SPDX-License-Identifier: Apache-2.0
// Functions of fixed-point numbers, bit for bit those of the official reference kernels. A number
// of format Qm has m integer bits, 31 - m fractional ones and a sign: the int32 v stands for
// v / 2^(31 - m). The high product of a Qm and a Qn (hl_high_mul) is a Q(m + n).
#ifndef HALITE_OPS_COMMON_FIXED_POINT_H
#define HALITE_OPS_COMMON_FIXED_POINT_H

#include "ops/common/quant.h"

// value * 2^bits, saturating; bits in 0..31.
int32_t hl_shift_left_saturated(int32_t value, int bits);

// Zero bits above the highest set one; 32 for 0.
int hl_leading_zeros(uint32_t value);

// e^x as Q0 of x <= 0 in Q5.
int32_t hl_fixed_exp(int32_t x);

// 1 / (1 + x) as Q0 of x in [0, 1) in Q0.
int32_t hl_fixed_inverse_of_one_plus(int32_t x);

// 1 / x for x > 0 in Q12, taken as unsigned: a Q0 in [1/2, 1) to be divided by 2^*bits_over_unit.
int32_t hl_fixed_reciprocal(uint32_t x, int *bits_over_unit);

// Natural logarithm as Q5 of x >= 1 in Q12.
int32_t hl_fixed_log(int32_t x);

// 1 / sqrt(x) of an integer; of 0 and 1 it is the largest number below 1.
struct hl_rescale hl_fixed_inverse_sqrt(int64_t x);

#endif
