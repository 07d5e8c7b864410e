// SPDX-License-Identifier: Apache-2.0
// BITWISE_XOR, RIGHT_SHIFT: y = a ^ b, a >> b. A shift is arithmetic for signed types; its amount is clamped to [0,
// bits of the type). in 0: a, in 1: b of the same type, shapes broadcast; out 0: y of the same type.
#include "ops/common/binary.h"

// Shift amounts of any type, clamped to [0, last].
static int shift_amount(int64_t amount, int last)
{
    return (int)(amount < 0 ? 0 : amount > last ? last : amount);
}

#define BIT_RUNS(suffix, Type, bits)                     \
    HL_BINARY_RUN(xor_##suffix, Type, Type, void, u ^ v) \
    HL_BINARY_RUN(shift_##suffix, Type, Type, void, u >> shift_amount(v, (bits)-1))

BIT_RUNS(i8, int8_t, 8)
BIT_RUNS(u8, uint8_t, 8)
BIT_RUNS(i16, int16_t, 16)
BIT_RUNS(u16, uint16_t, 16)
BIT_RUNS(i32, int32_t, 32)
BIT_RUNS(u32, uint32_t, 32)

static const hl_binary_runs xor_runs = {
    [kTfLiteInt8] = xor_i8,    [kTfLiteUInt8] = xor_u8,  [kTfLiteInt16] = xor_i16,
    [kTfLiteUInt16] = xor_u16, [kTfLiteInt32] = xor_i32, [kTfLiteUInt32] = xor_u32,
};

static const hl_binary_runs shift_runs = {
    [kTfLiteInt8] = shift_i8,    [kTfLiteUInt8] = shift_u8,  [kTfLiteInt16] = shift_i16,
    [kTfLiteUInt16] = shift_u16, [kTfLiteInt32] = shift_i32, [kTfLiteUInt32] = shift_u32,
};

HL_BINARY_OPERATOR(bitwise_xor, xor_runs, NULL)
HL_BINARY_OPERATOR(right_shift, shift_runs, NULL)
