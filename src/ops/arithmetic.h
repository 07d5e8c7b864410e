// SPDX-License-Identifier: Apache-2.0
// The state of ADD, SUB, MUL, DIV and SQUARED_DIFFERENCE. Their prepare fills it; the reference kernels of arithmetic.c
// and div.c and the fast ones of fast/elementwise.c read it.
#ifndef HALITE_OPS_ARITHMETIC_H
#define HALITE_OPS_ARITHMETIC_H

#include "ops/common/binary.h"
#include "ops/common/quant.h"

struct hl_operand {
    int32_t zero;              // zero point
    struct hl_rescale rescale; // of a and b: to the scale in which they are added; of y: from that scale to y's
};

struct hl_arithmetic {
    struct hl_binary binary;
    float low_f32, high_f32; // the activation's range for floats
    int64_t low, high;       // the activation's range for integers and for quantized values
    bool rescales; // quantized values, multiplied by numbers of any size: `run` is none of plain ones or shifts
    int bits;      // quantized sums: operands are shifted left by this before they are rescaled
    struct hl_operand a, b, y;
    int a_shift, b_shift; // int16 sums with power-of-two scales: operands are shifted right by these
};

#endif
