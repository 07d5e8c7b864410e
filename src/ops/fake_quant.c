// SPDX-License-Identifier: Apache-2.0
// FAKE_QUANT: x clamped to [min, max] and rounded to one of 2^num_bits steps, still as float.
// in 0: x of any shape, out 0: the same shape; float32.
// The range is moved a little ("nudged") so that 0 is one of the steps.
#include <math.h>

#include "ops/common/map.h"

struct fake_quant {
    float low, high, step;
};

static TfLiteStatus fake_quant_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_map_prepare(ctx, node));
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    const TfLiteFakeQuantParams *params = node->builtin_data;
    struct fake_quant *op = node->user_data;
    if (input->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, input);
    HL_REQUIRE(ctx, node, !params->narrow_range, "narrow_range is not supported");
    HL_REQUIRE(ctx, node, params->num_bits >= 2 && params->num_bits <= 16, "num_bits %d must be 2 to 16",
               params->num_bits);
    float steps = (float)((1 << params->num_bits) - 1);
    op->step = (params->max - params->min) / steps;
    HL_REQUIRE(ctx, node, op->step > 0 && isfinite(op->step), "min %g must be below max %g", (double)params->min,
               (double)params->max);

    float zero = -params->min / op->step;
    zero = !(zero > 0) ? 0 : zero > steps ? steps : roundf(zero);
    op->low = -zero * op->step;
    op->high = (steps - zero) * op->step;
    return kTfLiteOk;
}

static TfLiteStatus fake_quant_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    const struct fake_quant *op = node->user_data;
    const float *x = HL_IN(float, input);
    float *y = HL_OUT(float, hl_output(ctx, node, 0));
    int64_t count = hl_elements(input);
    float steps_per_unit = 1 / op->step;
    for (int64_t i = 0; i < count; i++) {
        float clamped = x[i] < op->low ? op->low : x[i] > op->high ? op->high : x[i];
        y[i] = roundf((clamped - op->low) * steps_per_unit) * op->step + op->low;
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_fake_quant = {
    .state_size = sizeof(struct fake_quant),
    .prepare = fake_quant_prepare,
    .invoke = fake_quant_invoke,
    .inplace = kTfLiteInplaceOpInput0Shared,
};
