// SPDX-License-Identifier: Apache-2.0
// DIV, FLOOR_DIV, FLOOR_MOD: y = act(a / b), floor(a / b), a - b * floor(a / b).
// in 0: a, in 1: b of the same type, shapes broadcast; out 0: y of the same type.
// DIV: float32 (clamped to the largest finite number, NaN stays), int32 (truncates), int8, uint8,
// int16 quantized. FLOOR_DIV: float32, int8, int16, int32. FLOOR_MOD: these and int64; the result
// has the sign of b.
// A divisor of zero is an error when the node runs, except in float DIV and float FLOOR_MOD.
#include <math.h>

#include "fast/fast.h"
#include "ops/arithmetic.h"
#include "ops/common/fixed_point.h"

// ---- divisors of zero ---------------------------------------------------------------------------

static TfLiteStatus require_divisors(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *b = hl_input(ctx, node, 1);
    int64_t count = hl_elements(b);
    for (int64_t i = 0; i < count; i++) {
        bool zero = b->type == kTfLiteFloat32 ? HL_IN(float, b)[i] == 0 : hl_integer_at(b, i) == 0;
        HL_REQUIRE(ctx, node, !zero, "division by zero: element %lld of input 1", (long long)i);
    }
    return kTfLiteOk;
}

static TfLiteStatus require_stored_divisors(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *b = hl_input(ctx, node, 1);
    int64_t count = hl_elements(b);
    for (int64_t i = 0; i < count; i++)
        HL_REQUIRE(ctx, node, hl_integer_at(b, i) != hl_zero(b),
                   "division by zero: element %lld of input 1 is its zero point", (long long)i);
    return kTfLiteOk;
}

// ---- DIV ----------------------------------------------------------------------------------------

// value * rescale where the shift may be any; results below half a step are 0.
static int32_t rescale_far(int32_t value, int32_t multiplier, int shift)
{
    int32_t product = hl_high_mul(value, multiplier);
    if (shift > 0) return hl_shift_left_saturated(product, shift > 31 ? 31 : shift);
    return shift < -31 ? 0 : hl_shift_right_round(product, -shift);
}

// How far a value can be shifted left within 32 bits; 31 for 0.
static int headroom_of(int32_t value)
{
    return value < 0 ? hl_leading_zeros(2 * (uint32_t)-value - 1) : hl_leading_zeros((uint32_t)value) - 1;
}

// The quotient of two stored values: a times the reciprocal of b, with as many bits as there are.
static int32_t stored_quotient(int32_t u, int32_t v, const struct hl_arithmetic *s)
{
    int32_t a = u - s->a.zero, b = v - s->b.zero;
    if (b < 0) {
        a = -a;
        b = -b;
    }
    int b_zeros = hl_leading_zeros((uint32_t)b), headroom = headroom_of(a);
    // b = (1 + rest) * 2^(31 - b_zeros), rest a fraction of 2^31.
    int32_t rest = (int32_t)(((uint32_t)b << b_zeros) & INT32_MAX);
    int32_t quotient = hl_high_mul((int32_t)((uint32_t)a << headroom), hl_fixed_inverse_of_one_plus(rest));
    int shift = s->y.rescale.shift - (31 - b_zeros) - headroom;
    int64_t stored = s->y.zero;
    if (a != 0)
        stored += rescale_far(quotient, s->y.rescale.multiplier, shift);
    else
        stored += shift < -31; // the original's rounding of 0 by more bits than there are gives 1
    return (int32_t)(stored < s->low ? s->low : stored > s->high ? s->high : stored);
}

static float quotient_f32(float u, float v, const struct hl_arithmetic *s)
{
    float value = u / v;
    if (value < s->low_f32) value = s->low_f32;
    return s->high_f32 < value ? s->high_f32 : value;
}

HL_BINARY_RUN(div_f32, float, float, struct hl_arithmetic, quotient_f32(u, v, s))
HL_BINARY_RUN(div_i32, int32_t, int32_t, struct hl_arithmetic,
              hl_clamp_i32(hl_saturate_i32((int64_t)u / v), (int32_t)s->low, (int32_t)s->high))
HL_BINARY_RUN(div_i8, int8_t, int8_t, struct hl_arithmetic, stored_quotient(u, v, s))
HL_BINARY_RUN(div_u8, uint8_t, uint8_t, struct hl_arithmetic, stored_quotient(u, v, s))
HL_BINARY_RUN(div_i16, int16_t, int16_t, struct hl_arithmetic, stored_quotient(u, v, s))

static const hl_binary_runs div_runs = {
    [kTfLiteFloat32] = div_f32, [kTfLiteInt32] = div_i32, [kTfLiteInt8] = div_i8,
    [kTfLiteUInt8] = div_u8,    [kTfLiteInt16] = div_i16,
};

static TfLiteStatus div_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    struct hl_arithmetic *op = node->user_data;
    const TfLiteDivParams *options = node->builtin_data;
    HL_TRY(hl_binary_check(ctx, node, kTfLiteNoType));
    HL_TRY(hl_binary_choose(ctx, node, div_runs));
    const TfLiteTensor *a = hl_input(ctx, node, 0), *b = hl_input(ctx, node, 1);
    const TfLiteTensor *y = hl_output(ctx, node, 0);

    if (a->type == kTfLiteFloat32) {
        hl_activation_range_f32(options->activation, &op->low_f32, &op->high_f32);
    } else if (a->type == kTfLiteInt32) {
        hl_activation_range_i64(options->activation, a->type, &op->low, &op->high);
        op->binary.check_values = require_divisors;
    } else {
        HL_TRY(hl_require_quantized(ctx, node, a));
        HL_TRY(hl_require_quantized(ctx, node, b));
        HL_TRY(hl_require_quantized(ctx, node, y));
        op->a.zero = hl_zero(a);
        op->b.zero = hl_zero(b);
        op->y.zero = hl_zero(y);
        int32_t low, high;
        hl_activation_range(options->activation, y, &low, &high);
        op->low = low, op->high = high;
        float divisor = b->params.scale * y->params.scale; // in float, as the original
        op->y.rescale = hl_rescale_from((double)(a->params.scale / divisor));
        op->binary.check_values = require_stored_divisors;
    }
    return hl_binary_finish(ctx, node);
}

const struct hl_op hl_op_div = {
    HL_BINARY_FIELDS(div, struct hl_arithmetic),
    .inplace = HL_INPLACE_EITHER,
    .fast = &hl_fast_div,
};

// ---- FLOOR_DIV, FLOOR_MOD -----------------------------------------------------------------------

static float floor_quotient_f32(float u, float v)
{
    return (float)floor((double)u / (double)v);
}

static int64_t floor_quotient(int64_t u, int64_t v, int64_t largest)
{
    int64_t quotient = u / v;
    if (u % v != 0 && (u < 0) != (v < 0)) quotient--;
    return quotient > largest ? largest : quotient;
}

static float floor_rest_f32(float u, float v)
{
    float rest = fmodf(u, v);
    return rest != 0 && (v < 0) != (rest < 0) ? rest + v : rest;
}

static int64_t floor_rest(int64_t u, int64_t v)
{
    if (v == -1) return 0; // the smallest number has no quotient by -1
    int64_t rest = u % v;
    return rest != 0 && (v < 0) != (rest < 0) ? rest + v : rest;
}

HL_BINARY_RUN(floor_div_f32, float, float, void, floor_quotient_f32(u, v))
HL_BINARY_RUN(floor_div_i8, int8_t, int8_t, void, floor_quotient(u, v, INT8_MAX))
HL_BINARY_RUN(floor_div_i16, int16_t, int16_t, void, floor_quotient(u, v, INT16_MAX))
HL_BINARY_RUN(floor_div_i32, int32_t, int32_t, void, floor_quotient(u, v, INT32_MAX))
HL_BINARY_RUN(floor_mod_f32, float, float, void, floor_rest_f32(u, v))
HL_BINARY_RUN(floor_mod_i8, int8_t, int8_t, void, floor_rest(u, v))
HL_BINARY_RUN(floor_mod_i16, int16_t, int16_t, void, floor_rest(u, v))
HL_BINARY_RUN(floor_mod_i32, int32_t, int32_t, void, floor_rest(u, v))
HL_BINARY_RUN(floor_mod_i64, int64_t, int64_t, void, floor_rest(u, v))

static const hl_binary_runs floor_div_runs = {
    [kTfLiteFloat32] = floor_div_f32,
    [kTfLiteInt8] = floor_div_i8,
    [kTfLiteInt16] = floor_div_i16,
    [kTfLiteInt32] = floor_div_i32,
};
static const hl_binary_runs floor_mod_runs = {
    [kTfLiteFloat32] = floor_mod_f32, [kTfLiteInt8] = floor_mod_i8,   [kTfLiteInt16] = floor_mod_i16,
    [kTfLiteInt32] = floor_mod_i32,   [kTfLiteInt64] = floor_mod_i64,
};

static TfLiteStatus floor_div_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    struct hl_binary *op = node->user_data;
    op->check_values = require_divisors;
    return hl_binary_prepare(ctx, node, floor_div_runs, kTfLiteNoType);
}

static TfLiteStatus floor_mod_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    struct hl_binary *op = node->user_data;
    HL_TRY(hl_binary_check(ctx, node, kTfLiteNoType));
    op->check_values = hl_input(ctx, node, 0)->type == kTfLiteFloat32 ? NULL : require_divisors;
    return hl_binary_prepare(ctx, node, floor_mod_runs, kTfLiteNoType);
}

const struct hl_op hl_op_floor_div = {HL_BINARY_FIELDS(floor_div, struct hl_binary)};

const struct hl_op hl_op_floor_mod = {HL_BINARY_FIELDS(floor_mod, struct hl_binary)};
