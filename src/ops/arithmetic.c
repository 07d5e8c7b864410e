// SPDX-License-Identifier: Apache-2.0
// ADD, SUB, MUL, SQUARED_DIFFERENCE: y = act(a + b), act(a - b), act(a * b), (a - b)^2.
// in 0: a, in 1: b of the same type, shapes broadcast; out 0: y of the same type (MUL: int16
// inputs also give 8 bits).
// float32, float16 (ADD, MUL), complex64 (MUL, no activation); plain integers wrap around; int8,
// uint8, int16 quantized. Floats are clamped to the largest finite number even without an
// activation (not SQUARED_DIFFERENCE), NaN stays. Quantized sums bring both operands to the scale
// 2 * max(s_a, s_b), some bits to spare, add, and rescale to the output's.
#include <complex.h>
#include <math.h>

#include "fast/fast.h"
#include "ops/arithmetic.h"

// ---- one element --------------------------------------------------------------------------------

static float clamp_f32(float value, const struct hl_arithmetic *s)
{
    if (value < s->low_f32) value = s->low_f32;
    return s->high_f32 < value ? s->high_f32 : value;
}

static uint16_t clamp_f16(float value, const struct hl_arithmetic *s)
{
    return hl_half_from_float(clamp_f32(value, s));
}

static int64_t clamp_int(int64_t value, const struct hl_arithmetic *s)
{
    return value < s->low ? s->low : value > s->high ? s->high : value;
}

static int32_t at_common_scale(int32_t stored, const struct hl_operand *operand, const struct hl_arithmetic *s)
{
    return hl_rescale_apply((stored - operand->zero) * (1 << s->bits), operand->rescale);
}

static int64_t to_stored(int32_t value, const struct hl_arithmetic *s)
{
    return clamp_int((int64_t)hl_rescale_apply(value, s->y.rescale) + s->y.zero, s);
}

static int64_t stored_sum(int32_t u, int32_t v, const struct hl_arithmetic *s)
{
    return to_stored(at_common_scale(u, &s->a, s) + at_common_scale(v, &s->b, s), s);
}

static int64_t stored_difference(int32_t u, int32_t v, const struct hl_arithmetic *s)
{
    return to_stored(at_common_scale(u, &s->a, s) - at_common_scale(v, &s->b, s), s);
}

static int64_t stored_product(int32_t u, int32_t v, const struct hl_arithmetic *s)
{
    return to_stored((u - s->a.zero) * (v - s->b.zero), s);
}

static int64_t stored_square(int32_t u, int32_t v, const struct hl_arithmetic *s)
{
    int32_t difference = at_common_scale(u, &s->a, s) - at_common_scale(v, &s->b, s);
    return to_stored(difference * difference, s);
}

// Two int16 values as fractions of 2^15, their product cut to 8 bits.
static int64_t narrow_product(int16_t u, int16_t v, const struct hl_arithmetic *s)
{
    int32_t product = (int32_t)u * v;
    int32_t half = product >= 0 ? 1 << 14 : 1 - (1 << 14);
    int32_t fraction = hl_clamp_i32((product + half) / (1 << 15), INT16_MIN, INT16_MAX);
    return clamp_int((int64_t)hl_shift_right_round(fraction, 8) + s->y.zero, s);
}

static float square(float value)
{
    return value * value;
}

// ---- runs ---------------------------------------------------------------------------------------

#define FLOAT_RUN(name, expression) HL_BINARY_RUN(name, float, float, struct hl_arithmetic, clamp_f32(expression, s))
#define HALF_RUN(name, operator)                                  \
    HL_BINARY_RUN(name, uint16_t, uint16_t, struct hl_arithmetic, \
                  clamp_f16(hl_half_to_float(u) operator hl_half_to_float(v), s))
// Plain integers: computed without a sign, so that they wrap around.
#define INTEGER_RUN(name, Type, Unsigned, operator) \
    HL_BINARY_RUN(name, Type, Type, struct hl_arithmetic, clamp_int((Type)((Unsigned)u operator(Unsigned) v), s))
#define STORED_RUNS(name, function)                                                      \
    HL_BINARY_RUN(name##_i8, int8_t, int8_t, struct hl_arithmetic, function(u, v, s))    \
    HL_BINARY_RUN(name##_u8, uint8_t, uint8_t, struct hl_arithmetic, function(u, v, s))  \
    HL_BINARY_RUN(name##_i16, int16_t, int16_t, struct hl_arithmetic, function(u, v, s)) \
    static const hl_binary_runs name = {                                                 \
        [kTfLiteInt8] = name##_i8,                                                       \
        [kTfLiteUInt8] = name##_u8,                                                      \
        [kTfLiteInt16] = name##_i16,                                                     \
    };

FLOAT_RUN(add_f32, u + v)
HALF_RUN(add_f16, +)
INTEGER_RUN(add_i16, int16_t, uint32_t, +)
INTEGER_RUN(add_i32, int32_t, uint32_t, +)
INTEGER_RUN(add_i64, int64_t, uint64_t, +)
STORED_RUNS(add_stored, stored_sum)
HL_BINARY_RUN(add_powers_of_two, int16_t, int16_t, struct hl_arithmetic,
              clamp_int(hl_shift_right_round(u, s->a_shift) + hl_shift_right_round(v, s->b_shift), s))

FLOAT_RUN(sub_f32, u - v)
INTEGER_RUN(sub_i32, int32_t, uint32_t, -)
INTEGER_RUN(sub_i64, int64_t, uint64_t, -)
STORED_RUNS(sub_stored, stored_difference)
HL_BINARY_RUN(sub_powers_of_two, int16_t, int16_t, struct hl_arithmetic,
              clamp_int(hl_shift_right_round(u, s->a_shift) - hl_shift_right_round(v, s->b_shift), s))

FLOAT_RUN(mul_f32, u *v)
HALF_RUN(mul_f16, *)
HL_BINARY_RUN(mul_c64, float complex, float complex, struct hl_arithmetic, u *v)
INTEGER_RUN(mul_i16, int16_t, uint32_t, *)
INTEGER_RUN(mul_i32, int32_t, uint32_t, *)
INTEGER_RUN(mul_u32, uint32_t, uint32_t, *)
INTEGER_RUN(mul_i64, int64_t, uint64_t, *)
STORED_RUNS(mul_stored, stored_product)
HL_BINARY_RUN(mul_i16_to_i8, int16_t, int8_t, struct hl_arithmetic, narrow_product(u, v, s))
HL_BINARY_RUN(mul_i16_to_u8, int16_t, uint8_t, struct hl_arithmetic, narrow_product(u, v, s))

HL_BINARY_RUN(square_f32, float, float, struct hl_arithmetic, square(u - v))
HL_BINARY_RUN(square_i32, int32_t, int32_t, struct hl_arithmetic,
              ((uint32_t)u - (uint32_t)v) * ((uint32_t)u - (uint32_t)v))
HL_BINARY_RUN(square_i8, int8_t, int8_t, struct hl_arithmetic, stored_square(u, v, s))

static const hl_binary_runs add_plain = {
    [kTfLiteFloat32] = add_f32, [kTfLiteFloat16] = add_f16, [kTfLiteInt16] = add_i16,
    [kTfLiteInt32] = add_i32,   [kTfLiteInt64] = add_i64,
};
static const hl_binary_runs sub_plain = {
    [kTfLiteFloat32] = sub_f32,
    [kTfLiteInt32] = sub_i32,
    [kTfLiteInt64] = sub_i64,
};
static const hl_binary_runs mul_plain = {
    [kTfLiteFloat32] = mul_f32, [kTfLiteFloat16] = mul_f16, [kTfLiteComplex64] = mul_c64, [kTfLiteInt16] = mul_i16,
    [kTfLiteInt32] = mul_i32,   [kTfLiteUInt32] = mul_u32,  [kTfLiteInt64] = mul_i64,
};
static const hl_binary_runs square_plain = {
    [kTfLiteFloat32] = square_f32,
    [kTfLiteInt32] = square_i32,
};
static const hl_binary_runs square_stored = {[kTfLiteInt8] = square_i8};

// ---- prepare ------------------------------------------------------------------------------------

static bool is_8bit(TfLiteType type)
{
    return type == kTfLiteInt8 || type == kTfLiteUInt8;
}

// 8-bit integers are always quantized, int16 when the output is (SUB: always).
static bool works_on_stored(TfLiteContext *ctx, const TfLiteNode *node, const hl_binary_runs plain)
{
    TfLiteType type = hl_input(ctx, node, 0)->type;
    return is_8bit(type) || (type == kTfLiteInt16 && (!plain[type] || hl_is_quantized(hl_output(ctx, node, 0))));
}

static void set_plain_range(struct hl_arithmetic *op, TfLiteFusedActivation activation, TfLiteType type)
{
    hl_activation_range_f32(activation, &op->low_f32, &op->high_f32);
    if (type == kTfLiteFloat16) {
        const float largest = 65504;
        if (op->low_f32 < -largest) op->low_f32 = -largest;
        if (op->high_f32 > largest) op->high_f32 = largest;
    }
    hl_activation_range_i64(activation, type, &op->low, &op->high);
    if (type == kTfLiteUInt32) {
        // The original's -1 is the largest number here: whatever comes, its RELU_N1_TO_1 gives 1.
        if (op->low < 0) op->low = activation == kTfLiteActReluN1To1;
        if (op->high == INT32_MAX) op->high = UINT32_MAX;
    }
}

// Zero points and range; the rescales are left to the operator.
static TfLiteStatus set_stored_range(TfLiteContext *ctx, const TfLiteNode *node, TfLiteFusedActivation activation)
{
    struct hl_arithmetic *op = node->user_data;
    const TfLiteTensor *const tensors[] = {hl_input(ctx, node, 0), hl_input(ctx, node, 1), hl_output(ctx, node, 0)};
    for (int i = 0; i < 3; i++)
        HL_TRY(tensors[i]->type == kTfLiteInt16 ? hl_require_symmetric(ctx, node, tensors[i])
                                                : hl_require_quantized(ctx, node, tensors[i]));
    op->a.zero = hl_zero(tensors[0]);
    op->b.zero = hl_zero(tensors[1]);
    op->y.zero = hl_zero(tensors[2]);
    int32_t low, high;
    hl_activation_range(activation, tensors[2], &low, &high);
    op->low = low, op->high = high;
    return kTfLiteOk;
}

// For (a + b) ^ power: rescales of the operands, shifted left by `bits` first, and of the result.
static TfLiteStatus set_common_scale(TfLiteContext *ctx, const TfLiteNode *node, int bits, int power)
{
    struct hl_arithmetic *op = node->user_data;
    double a_scale = hl_scale(hl_input(ctx, node, 0)), b_scale = hl_scale(hl_input(ctx, node, 1));
    double y_scale = hl_scale(hl_output(ctx, node, 0));
    double common = 2 * fmax(a_scale, b_scale);
    double to_output = (power == 1 ? common : common * common) / ldexp(y_scale, bits * power);
    HL_REQUIRE(ctx, node, to_output < 1, "the output's scale %g is too small for the inputs' scales %g and %g", y_scale,
               a_scale, b_scale);
    op->bits = bits;
    op->a.rescale = hl_rescale_from(a_scale / common);
    op->b.rescale = hl_rescale_from(b_scale / common);
    op->y.rescale = hl_rescale_from(to_output);
    return kTfLiteOk;
}

// Whether the scale is a power of two, to within a thousandth of the exponent.
static bool is_power_of_two(float scale, int *exponent)
{
    float logarithm = logf(scale) * (1.0f / logf(2.0f)), rounded = roundf(logarithm);
    *exponent = (int)rounded;
    return fabsf(logarithm - rounded) < 1e-3f;
}

// int16 sums whose scales are all powers of two: one operand has the output's scale, the other is
// shifted to it.
static TfLiteStatus set_power_of_two_shifts(TfLiteContext *ctx, const TfLiteNode *node, bool *possible)
{
    struct hl_arithmetic *op = node->user_data;
    int a, b, y;
    *possible = is_power_of_two(hl_input(ctx, node, 0)->params.scale, &a) &&
                is_power_of_two(hl_input(ctx, node, 1)->params.scale, &b) &&
                is_power_of_two(hl_output(ctx, node, 0)->params.scale, &y);
    if (!*possible) return kTfLiteOk;
    HL_REQUIRE(ctx, node, (a == y && b <= y) || (b == y && a <= y),
               "the scales are 2^%d, 2^%d and 2^%d: one input must have the output's, the other "
               "not a larger one",
               a, b, y);
    op->a_shift = y - a > 31 ? 31 : y - a;
    op->b_shift = y - b > 31 ? 31 : y - b;
    return kTfLiteOk;
}

static TfLiteStatus prepare_sum(TfLiteContext *ctx, TfLiteNode *node, const hl_binary_runs plain,
                                const hl_binary_runs stored, hl_binary_run *powers_of_two,
                                TfLiteFusedActivation activation, bool prefer_powers_of_two)
{
    struct hl_arithmetic *op = node->user_data;
    HL_TRY(hl_binary_check(ctx, node, kTfLiteNoType));
    TfLiteType type = hl_input(ctx, node, 0)->type;
    if (!works_on_stored(ctx, node, plain)) {
        HL_TRY(hl_binary_choose(ctx, node, plain));
        set_plain_range(op, activation, type);
        return hl_binary_finish(ctx, node);
    }

    HL_TRY(hl_binary_choose(ctx, node, stored));
    HL_TRY(set_stored_range(ctx, node, activation));
    bool possible = false;
    if (type == kTfLiteInt16 && prefer_powers_of_two) HL_TRY(set_power_of_two_shifts(ctx, node, &possible));
    op->rescales = !possible;
    if (possible)
        op->binary.run = powers_of_two;
    else
        HL_TRY(set_common_scale(ctx, node, type == kTfLiteInt16 ? 15 : 20, 1));
    return hl_binary_finish(ctx, node);
}

static TfLiteStatus add_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteAddParams *options = node->builtin_data;
    return prepare_sum(ctx, node, add_plain, add_stored, add_powers_of_two, options->activation,
                       options->pot_scale_int16);
}

static TfLiteStatus sub_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteSubParams *options = node->builtin_data;
    return prepare_sum(ctx, node, sub_plain, sub_stored, sub_powers_of_two, options->activation,
                       options->pot_scale_int16);
}

static TfLiteStatus mul_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    struct hl_arithmetic *op = node->user_data;
    const TfLiteMulParams *options = node->builtin_data;
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    const TfLiteTensor *a = hl_input(ctx, node, 0), *b = hl_input(ctx, node, 1);
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    bool narrow = a->type == kTfLiteInt16 && is_8bit(y->type);
    HL_TRY(hl_binary_check(ctx, node, narrow ? y->type : kTfLiteNoType));
    HL_REQUIRE(ctx, node, a->type != kTfLiteComplex64 || options->activation == kTfLiteActNone,
               "complex64 takes no activation");

    if (!narrow && !works_on_stored(ctx, node, mul_plain)) {
        HL_TRY(hl_binary_choose(ctx, node, mul_plain));
        set_plain_range(op, options->activation, a->type);
        return hl_binary_finish(ctx, node);
    }
    HL_TRY(hl_binary_choose(ctx, node, mul_stored));
    HL_TRY(set_stored_range(ctx, node, options->activation));
    op->rescales = !narrow;
    if (narrow) op->binary.run = y->type == kTfLiteInt8 ? mul_i16_to_i8 : mul_i16_to_u8;
    float product = a->params.scale * b->params.scale; // in float, as the original
    op->y.rescale = hl_rescale_from((double)(product / y->params.scale));
    return hl_binary_finish(ctx, node);
}

static TfLiteStatus squared_difference_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_binary_check(ctx, node, kTfLiteNoType));
    if (hl_input(ctx, node, 0)->type != kTfLiteInt8) return hl_binary_prepare(ctx, node, square_plain, kTfLiteNoType);

    HL_TRY(hl_binary_choose(ctx, node, square_stored));
    HL_TRY(set_stored_range(ctx, node, kTfLiteActNone));
    HL_TRY(set_common_scale(ctx, node, 7, 2));
    ((struct hl_arithmetic *)node->user_data)->rescales = true;
    return hl_binary_finish(ctx, node);
}

#define ARITHMETIC(symbol)                                                                                             \
    const struct hl_op hl_op_##symbol = {HL_BINARY_FIELDS(symbol, struct hl_arithmetic), .inplace = HL_INPLACE_EITHER, \
                                         .fast = &hl_fast_##symbol};

ARITHMETIC(add)
ARITHMETIC(sub)
ARITHMETIC(mul)
ARITHMETIC(squared_difference)
