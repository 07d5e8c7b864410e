// SPDX-License-Identifier: Apache-2.0
// Functions of 16-bit fixed-point numbers, bit for bit those of the official reference kernels; sigmoids are in row_loops.h.
// A number of format Qm has m integer bits, 15 - m fractional ones and a sign:
// the int16 v is v / 2^(15 - m).
#ifndef HALITE_OPS_FIXED_POINT_I16_H
#define HALITE_OPS_FIXED_POINT_I16_H

#include <stdint.h>

// a * b: the high half of 2ab, rounded; of Qm and Qn a Q(m + n).
int16_t hl_fixed16_multiply(int16_t a, int16_t b);
// x / 2^bits rounded half away from zero; bits in 0..30.
int32_t hl_fixed16_divide(int32_t x, int bits);

#endif
