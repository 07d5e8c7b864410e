// SPDX-License-Identifier: Apache-2.0
// What prepare of ADD, SUB, MUL and SQUARED_DIFFERENCE finds out for their loops: those of arithmetic.c and the fast
// ones.
#ifndef HALITE_OPS_ARITHMETIC_H
#define HALITE_OPS_ARITHMETIC_H

#include "ops/common/binary.h"
#include "ops/common/quant.h"

struct hl_operand {
    int32_t zero;         // point
    struct hl_rescale by; // to the common scale; of y: to stored values
};

struct hl_arithmetic {
    struct hl_binary binary;
    float low_f32, high_f32;   // the activation's range of floats,
    int64_t low, high;         // of plain integers and of stored values
    int bits;                  // quantized sums: operands are shifted left by so many bits first
    struct hl_operand a, b, y; // y: from the sum or product to stored values
    int a_shift, b_shift;      // int16 sums with power-of-two scales: operands are shifted right
};

#endif
