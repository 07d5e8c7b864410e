// SPDX-License-Identifier: Apache-2.0
// MAXIMUM, MINIMUM: y = a > b ? a : b, a < b ? a : b: the second operand where either is NaN.
// in 0: a, in 1: b of the same type, shapes broadcast; out 0: y of the same type. 8-bit and 16-bit integers are
// compared as they are stored, whatever their scales.
#include "fast/fast.h"
#include "ops/common/binary.h"

// Halves are compared as integers in the same order, of which only numbers have one. (As floats they took 10 KB more.)
enum { MAGNITUDE = 0x7fff, INFINITE = 0x7c00 };
static inline int16_t in_order(uint16_t half)
{
    const int16_t magnitude = (int16_t)(half & MAGNITUDE);
    return (int16_t)(half > MAGNITUDE ? -magnitude : magnitude);
}

static inline bool are_numbers(uint16_t u, uint16_t v)
{
    return (u & MAGNITUDE) <= INFINITE && (v & MAGNITUDE) <= INFINITE;
}

// The two operators over all their types; `order` is > or <.
#define PICK_RUNS(name, order)                                                                                      \
    HL_BINARY_RUN(name##_f32, float, float, void, u order v ? u : v)                                                \
    HL_BINARY_RUN(name##_f16, uint16_t, uint16_t, void, are_numbers(u, v) && in_order(u) order in_order(v) ? u : v) \
    HL_BINARY_RUN(name##_bf16, uint16_t, uint16_t, void,                                                            \
                  hl_bfloat16_to_float(u) order hl_bfloat16_to_float(v) ? u : v)                                    \
    HL_BINARY_RUN(name##_i8, int8_t, int8_t, void, u order v ? u : v)                                               \
    HL_BINARY_RUN(name##_u8, uint8_t, uint8_t, void, u order v ? u : v)                                             \
    HL_BINARY_RUN(name##_i16, int16_t, int16_t, void, u order v ? u : v)                                            \
    HL_BINARY_RUN(name##_i32, int32_t, int32_t, void, u order v ? u : v)                                            \
    HL_BINARY_RUN(name##_i64, int64_t, int64_t, void, u order v ? u : v)                                            \
    static const hl_binary_runs name##_runs = {                                                                     \
        [kTfLiteFloat32] = name##_f32, [kTfLiteFloat16] = name##_f16, [kTfLiteBFloat16] = name##_bf16,              \
        [kTfLiteInt8] = name##_i8,     [kTfLiteUInt8] = name##_u8,    [kTfLiteInt16] = name##_i16,                  \
        [kTfLiteInt32] = name##_i32,   [kTfLiteInt64] = name##_i64,                                                 \
    };

PICK_RUNS(maximum, >)
PICK_RUNS(minimum, <)

HL_BINARY_OPERATOR(maximum, maximum_runs, &hl_fast_maximum)
HL_BINARY_OPERATOR(minimum, minimum_runs, &hl_fast_minimum)
