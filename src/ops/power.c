// SPDX-License-Identifier: Apache-2.0
// POW: y = a ^ b; ATAN2: the angle of the point (x, y), atan2(y, x).
// POW      in 0: a, in 1: b of the same type, shapes broadcast; out 0: y. float32; int32, whose
//          exponents must not be negative and whose results saturate.
// ATAN2    in 0: y, in 1: x of the same type and shape; out 0: the angle. float32, float16,
//          bfloat16, float64.
#include <math.h>

#include "ops/common/binary.h"

static TfLiteStatus require_exponents(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *b = hl_input(ctx, node, 1);
    int64_t count = hl_elements(b);
    for (int64_t i = 0; i < count; i++)
        HL_REQUIRE(ctx, node, HL_IN(int32_t, b)[i] >= 0, "the exponent %d is negative", (int)HL_IN(int32_t, b)[i]);
    return kTfLiteOk;
}

static int32_t power_i32(int32_t base, int32_t exponent)
{
    double power = pow(base, exponent);
    return power >= INT32_MAX ? INT32_MAX : power <= INT32_MIN ? INT32_MIN : (int32_t)power;
}

HL_BINARY_RUN(pow_f32, float, float, void, powf(u, v))
HL_BINARY_RUN(pow_i32, int32_t, int32_t, void, power_i32(u, v))

static const hl_binary_runs pow_runs = {[kTfLiteFloat32] = pow_f32, [kTfLiteInt32] = pow_i32};

static TfLiteStatus pow_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    struct hl_binary *op = node->user_data;
    HL_TRY(hl_binary_check(ctx, node, kTfLiteNoType));
    op->check_values = hl_input(ctx, node, 0)->type == kTfLiteInt32 ? require_exponents : NULL;
    return hl_binary_prepare(ctx, node, pow_runs, kTfLiteNoType);
}

const struct hl_op hl_op_pow = {HL_BINARY_FIELDS(pow, struct hl_binary)};

HL_BINARY_RUN(atan2_f32, float, float, void, atan2f(u, v))
HL_BINARY_RUN(atan2_f16, uint16_t, uint16_t, void, hl_half_from_float(atan2f(hl_half_to_float(u), hl_half_to_float(v))))
HL_BINARY_RUN(atan2_bf16, uint16_t, uint16_t, void,
              hl_bfloat16_from_float(atan2f(hl_bfloat16_to_float(u), hl_bfloat16_to_float(v))))
HL_BINARY_RUN(atan2_f64, double, double, void, atan2(u, v))

static const hl_binary_runs atan2_runs = {
    [kTfLiteFloat32] = atan2_f32,
    [kTfLiteFloat16] = atan2_f16,
    [kTfLiteBFloat16] = atan2_bf16,
    [kTfLiteFloat64] = atan2_f64,
};

static TfLiteStatus atan2_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    return hl_binary_prepare_same(ctx, node, atan2_runs);
}

const struct hl_op hl_op_atan2 = {HL_BINARY_FIELDS(atan2, struct hl_binary)};
