// SPDX-License-Identifier: Apache-2.0
// RELU: max(x, 0). RELU6, RELU_N1_TO_1, RELU_0_TO_1: x clamped to [0, 6], [-1, 1], [0, 1].
// LEAKY_RELU: x > 0 ? x : alpha * x.
// in 0: x of any shape, out 0: the same shape and type.
// float32 (all but LEAKY_RELU also float16, bfloat16); quantized int8 and uint8; RELU, RELU6 and
// LEAKY_RELU also int16 with zero points 0. Quantized values are rescaled to the output's scale;
// an 8-bit operator is one table.
#include <math.h>

#include "fast/fast.h"
#include "ops/common/map.h"

static TfLiteStatus rectifier_prepare(TfLiteContext *ctx, TfLiteNode *node, bool takes_int16)
{
    HL_TRY(hl_map_prepare(ctx, node));
    const TfLiteTensor *input = hl_input(ctx, node, 0), *output = hl_output(ctx, node, 0);
    if (hl_is_real(input->type)) return kTfLiteOk;
    if (input->type == kTfLiteInt16 && takes_int16) {
        HL_TRY(hl_require_symmetric(ctx, node, input));
        return hl_require_symmetric(ctx, node, output);
    }
    if (input->type != kTfLiteInt8 && input->type != kTfLiteUInt8) return hl_unsupported_type(ctx, node, input);
    HL_TRY(hl_require_quantized(ctx, node, input));
    return hl_require_quantized(ctx, node, output);
}

// ---- RELU and the clamps ------------------------------------------------------------------------

struct clamp {
    uint8_t table[256]; // of 8-bit types
    struct hl_rescale rescale;
    int32_t low, high; // stored output values
};
HL_TABLE_FIRST(struct clamp, table);

static int32_t clamp_stored(const struct clamp *op, int32_t x, int32_t input_zero, int32_t output_zero)
{
    int64_t y = (int64_t)hl_rescale_apply(x - input_zero, op->rescale) + output_zero;
    return hl_clamp_stored(y, op->low, op->high);
}

static int32_t stored_bound(double bound, const TfLiteTensor *output, int32_t low, int32_t high)
{
    float steps = roundf((float)bound / output->params.scale);
    if (steps > 65536) return high;
    if (steps < -65536) return low;
    return hl_clamp_stored((int64_t)steps + hl_zero(output), low, high);
}

static TfLiteStatus clamp_prepare(TfLiteContext *ctx, TfLiteNode *node, bool takes_int16, double low, double high)
{
    HL_TRY(rectifier_prepare(ctx, node, takes_int16));
    const TfLiteTensor *input = hl_input(ctx, node, 0), *output = hl_output(ctx, node, 0);
    struct clamp *op = node->user_data;
    int32_t type_low, type_high;
    if (!hl_type_range(input->type, &type_low, &type_high)) return kTfLiteOk;

    op->rescale = hl_rescale_from((double)(input->params.scale / output->params.scale));
    op->low = stored_bound(low, output, type_low, type_high);
    op->high = stored_bound(high, output, type_low, type_high);
    if (input->type != kTfLiteInt16)
        for (int32_t x = type_low; x <= type_high; x++)
            op->table[(uint8_t)x] = (uint8_t)clamp_stored(op, x, hl_zero(input), hl_zero(output));
    return kTfLiteOk;
}

static TfLiteStatus clamp_invoke(TfLiteContext *ctx, TfLiteNode *node, hl_real_map *map)
{
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    TfLiteTensor *output = hl_output(ctx, node, 0);
    const struct clamp *op = node->user_data;
    if (hl_is_real(input->type)) {
        hl_map_real(input, output, map);
    } else if (input->type == kTfLiteInt16) {
        const int16_t *x = HL_IN(int16_t, input);
        int16_t *y = HL_OUT(int16_t, output);
        int64_t count = hl_elements(input);
        for (int64_t i = 0; i < count; i++) y[i] = (int16_t)clamp_stored(op, x[i], 0, 0);
    } else {
        hl_map_bytes(input, output, op->table);
    }
    return kTfLiteOk;
}

#define CLAMP(symbol, takes_int16, low, high, expression)                      \
    HL_REAL_MAP(symbol##_real, expression)                                     \
    static TfLiteStatus symbol##_prepare(TfLiteContext *ctx, TfLiteNode *node) \
    {                                                                          \
        return clamp_prepare(ctx, node, takes_int16, low, high);               \
    }                                                                          \
    static TfLiteStatus symbol##_invoke(TfLiteContext *ctx, TfLiteNode *node)  \
    {                                                                          \
        return clamp_invoke(ctx, node, symbol##_real);                         \
    }                                                                          \
    HL_MAP_OPERATOR(symbol, struct clamp, &hl_fast_##symbol)

// Written so that NaN stays NaN.
CLAMP(relu, true, 0, INFINITY, x < 0 ? 0 : x)
CLAMP(relu6, true, 0, 6, x<0 ? 0 : x> 6 ? 6 : x)
CLAMP(relu_n1_to_1, false, -1, 1, x<-1 ? -1 : x> 1 ? 1 : x)
CLAMP(relu_0_to_1, false, 0, 1, x<0 ? 0 : x> 1 ? 1 : x)

// ---- LEAKY_RELU ---------------------------------------------------------------------------------

struct leaky_relu {
    uint8_t table[256]; // of 8-bit types
    struct hl_rescale positive, negative;
};
HL_TABLE_FIRST(struct leaky_relu, table);

static int32_t leaky_relu_stored(const struct leaky_relu *op, int32_t x, int32_t input_zero, int32_t output_zero,
                                 int32_t low, int32_t high)
{
    int32_t value = x - input_zero;
    int64_t y = hl_rescale_apply(value, value >= 0 ? op->positive : op->negative);
    return hl_clamp_stored(y + output_zero, low, high);
}

static TfLiteStatus leaky_relu_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(rectifier_prepare(ctx, node, true));
    const TfLiteTensor *input = hl_input(ctx, node, 0), *output = hl_output(ctx, node, 0);
    if (input->type == kTfLiteFloat16 || input->type == kTfLiteBFloat16) return hl_unsupported_type(ctx, node, input);
    const TfLiteLeakyReluParams *params = node->builtin_data;
    struct leaky_relu *op = node->user_data;
    int32_t low, high;
    if (!hl_type_range(input->type, &low, &high)) return kTfLiteOk;

    HL_REQUIRE(ctx, node, isfinite(params->alpha), "alpha %g must be finite", (double)params->alpha);
    float slope = input->params.scale * params->alpha / output->params.scale;
    op->positive = hl_rescale_from((double)(input->params.scale / output->params.scale));
    op->negative = hl_rescale_from((double)fabsf(slope));
    if (slope < 0) op->negative.multiplier = -op->negative.multiplier;
    if (input->type != kTfLiteInt16)
        for (int32_t x = low; x <= high; x++)
            op->table[(uint8_t)x] = (uint8_t)leaky_relu_stored(op, x, hl_zero(input), hl_zero(output), low, high);
    return kTfLiteOk;
}

static void leaky_relu_f32(const float *x, float *y, int64_t count, float alpha)
{
    for (int64_t i = 0; i < count; i++) y[i] = x[i] > 0 ? x[i] : x[i] * alpha;
}

static TfLiteStatus leaky_relu_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    TfLiteTensor *output = hl_output(ctx, node, 0);
    const TfLiteLeakyReluParams *params = node->builtin_data;
    const struct leaky_relu *op = node->user_data;
    int64_t count = hl_elements(input);
    if (input->type == kTfLiteFloat32) {
        leaky_relu_f32(HL_IN(float, input), HL_OUT(float, output), count, params->alpha);
    } else if (input->type == kTfLiteInt16) {
        const int16_t *x = HL_IN(int16_t, input);
        int16_t *y = HL_OUT(int16_t, output);
        for (int64_t i = 0; i < count; i++) y[i] = (int16_t)leaky_relu_stored(op, x[i], 0, 0, INT16_MIN, INT16_MAX);
    } else {
        hl_map_bytes(input, output, op->table);
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_leaky_relu = {
    .state_size = sizeof(struct leaky_relu),
    .prepare = leaky_relu_prepare,
    .invoke = leaky_relu_invoke,
    .inplace = kTfLiteInplaceOpInput0Shared,
    .fast = &hl_fast_leaky_relu,
};
