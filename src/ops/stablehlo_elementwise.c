// SPDX-License-Identifier: Apache-2.0
// STABLEHLO_ADD, MULTIPLY, MAXIMUM, MINIMUM, AND, SHIFT_LEFT: y = a + b, a * b, a < b ? b : a,
// b < a ? b : a, a & b, a << b.
// in 0: a, in 1: b of the same type and shape; out 0: y of the same type and shape.
// ADD, MULTIPLY, MAXIMUM, MINIMUM: float32, float16, float64, integers of 8 to 64 bits, bool.
// Integers wrap around, scales mean nothing, infinities stay; MAXIMUM and MINIMUM give the first
// operand where either is NaN. AND: integers and bool. SHIFT_LEFT: int8, int16, int32; amounts
// outside [0, bits of the type) give 0.
#include "ops/common/binary.h"

// ---- runs ---------------------------------------------------------------------------------------

#define FLOAT_RUNS(suffix, Type)                                     \
    HL_BINARY_RUN(add_##suffix, Type, Type, void, u + v)             \
    HL_BINARY_RUN(multiply_##suffix, Type, Type, void, u *v)         \
    HL_BINARY_RUN(maximum_##suffix, Type, Type, void, u < v ? v : u) \
    HL_BINARY_RUN(minimum_##suffix, Type, Type, void, v < u ? v : u)
FLOAT_RUNS(f32, float)
FLOAT_RUNS(f64, double)

#define HALF(name, expression) HL_BINARY_RUN(name, uint16_t, uint16_t, void, expression)
HALF(add_f16, hl_half_from_float(hl_half_to_float(u) + hl_half_to_float(v)))
HALF(multiply_f16, hl_half_from_float(hl_half_to_float(u) * hl_half_to_float(v)))
HALF(maximum_f16, hl_half_to_float(u) < hl_half_to_float(v) ? v : u)
HALF(minimum_f16, hl_half_to_float(v) < hl_half_to_float(u) ? v : u)

// Computed without a sign, so that they wrap around.
#define INTEGER_RUNS(suffix, Type, Unsigned)                                     \
    HL_BINARY_RUN(add_##suffix, Type, Type, void, (Unsigned)u + (Unsigned)v)     \
    HL_BINARY_RUN(multiply_##suffix, Type, Type, void, (Unsigned)u *(Unsigned)v) \
    HL_BINARY_RUN(maximum_##suffix, Type, Type, void, u < v ? v : u)             \
    HL_BINARY_RUN(minimum_##suffix, Type, Type, void, v < u ? v : u)             \
    HL_BINARY_RUN(and_##suffix, Type, Type, void, u &v)
INTEGER_RUNS(i8, int8_t, uint32_t)
INTEGER_RUNS(u8, uint8_t, uint32_t)
INTEGER_RUNS(i16, int16_t, uint32_t)
INTEGER_RUNS(u16, uint16_t, uint32_t)
INTEGER_RUNS(i32, int32_t, uint32_t)
INTEGER_RUNS(u32, uint32_t, uint32_t)
INTEGER_RUNS(i64, int64_t, uint64_t)
INTEGER_RUNS(u64, uint64_t, uint64_t)

HL_BINARY_RUN(either, uint8_t, uint8_t, void, u || v)
HL_BINARY_RUN(both, uint8_t, uint8_t, void, u &&v)

#define SHIFT_LEFT_RUN(suffix, Type, bits) \
    HL_BINARY_RUN(shift_left_##suffix, Type, Type, void, v < 0 || v >= (bits) ? 0 : (uint32_t)u << v)
SHIFT_LEFT_RUN(i8, int8_t, 8)
SHIFT_LEFT_RUN(i16, int16_t, 16)
SHIFT_LEFT_RUN(i32, int32_t, 32)

#define INTEGER_ROWS(name)                                                                                            \
    [kTfLiteInt8] = name##_i8, [kTfLiteUInt8] = name##_u8, [kTfLiteInt16] = name##_i16, [kTfLiteUInt16] = name##_u16, \
    [kTfLiteInt32] = name##_i32, [kTfLiteUInt32] = name##_u32, [kTfLiteInt64] = name##_i64,                           \
    [kTfLiteUInt64] = name##_u64
#define FLOAT_ROWS(name) [kTfLiteFloat32] = name##_f32, [kTfLiteFloat16] = name##_f16, [kTfLiteFloat64] = name##_f64

static const hl_binary_runs add_runs = {FLOAT_ROWS(add), INTEGER_ROWS(add), [kTfLiteBool] = either};
static const hl_binary_runs multiply_runs = {FLOAT_ROWS(multiply), INTEGER_ROWS(multiply), [kTfLiteBool] = both};
static const hl_binary_runs maximum_runs = {FLOAT_ROWS(maximum), INTEGER_ROWS(maximum), [kTfLiteBool] = either};
static const hl_binary_runs minimum_runs = {FLOAT_ROWS(minimum), INTEGER_ROWS(minimum), [kTfLiteBool] = both};
static const hl_binary_runs and_runs = {INTEGER_ROWS(and), [kTfLiteBool] = both};
static const hl_binary_runs shift_left_runs = {
    [kTfLiteInt8] = shift_left_i8,
    [kTfLiteInt16] = shift_left_i16,
    [kTfLiteInt32] = shift_left_i32,
};

// ---- the operators ------------------------------------------------------------------------------

#define OPERATOR(name)                                                          \
    static TfLiteStatus name##_prepare(TfLiteContext *ctx, TfLiteNode *node)    \
    {                                                                           \
        return hl_binary_prepare_same(ctx, node, name##_runs);                  \
    }                                                                           \
    const struct hl_op hl_op_stablehlo_##name = {                               \
        .state_size = sizeof(struct hl_binary),                                 \
        .prepare = name##_prepare,                                              \
        .invoke = hl_binary_invoke,                                             \
        .inplace = kTfLiteInplaceOpInput0Shared | kTfLiteInplaceOpInput1Shared, \
    };
OPERATOR(add)
OPERATOR(multiply)
OPERATOR(maximum)
OPERATOR(minimum)
OPERATOR(and)
OPERATOR(shift_left)
