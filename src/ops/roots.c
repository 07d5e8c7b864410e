// SPDX-License-Identifier: Apache-2.0
// SQRT: x^(1/2). RSQRT: x^(-1/2).
// in 0: x of any shape, out 0: the same shape and type.
// float32, float16, bfloat16; quantized int8 and int16, which refuse negative values. SQRT drops
// the fraction of the quotient by the output's scale. RSQRT: fixed point for int8, a table for
// int16; 0 gives the largest value.
#include <math.h>

#include "fast/fast.h"
#include "ops/common/fixed_point.h"
#include "ops/common/map.h"

static TfLiteStatus root_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_map_prepare(ctx, node));
    const TfLiteTensor *input = hl_input(ctx, node, 0), *output = hl_output(ctx, node, 0);
    if (hl_is_real(input->type)) return kTfLiteOk;
    if (input->type == kTfLiteInt8) {
        HL_TRY(hl_require_quantized(ctx, node, input));
        return hl_require_quantized(ctx, node, output);
    }
    if (input->type != kTfLiteInt16) return hl_unsupported_type(ctx, node, input);
    HL_TRY(hl_require_symmetric(ctx, node, input));
    return hl_require_symmetric(ctx, node, output);
}

static TfLiteStatus require_not_negative(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *input)
{
    int64_t count = hl_elements(input);
    int32_t zero = hl_zero(input);
    for (int64_t i = 0; i < count; i++) {
        int32_t x = input->type == kTfLiteInt8 ? HL_IN(int8_t, input)[i] : HL_IN(int16_t, input)[i];
        HL_REQUIRE(ctx, node, x >= zero, "stored value %d is below the zero point %d: negative", x, zero);
    }
    return kTfLiteOk;
}

#define ROOT(symbol)                                                          \
    static TfLiteStatus symbol##_invoke(TfLiteContext *ctx, TfLiteNode *node) \
    {                                                                         \
        const TfLiteTensor *input = hl_input(ctx, node, 0);                   \
        TfLiteTensor *output = hl_output(ctx, node, 0);                       \
        if (hl_is_real(input->type)) {                                        \
            hl_map_real(input, output, symbol##_real);                        \
            return kTfLiteOk;                                                 \
        }                                                                     \
        HL_TRY(require_not_negative(ctx, node, input));                       \
        symbol##_table(input, output, node->user_data);                       \
        return kTfLiteOk;                                                     \
    }                                                                         \
    HL_MAP_OPERATOR(symbol, struct hl_table, &hl_fast_##symbol)

// ---- SQRT ---------------------------------------------------------------------------------------

static int32_t sqrt_stored(int32_t value, const TfLiteTensor *input, const TfLiteTensor *output, int32_t low,
                           int32_t high)
{
    float root = sqrtf((float)value * input->params.scale);
    float steps = root / output->params.scale;
    return steps < 65536 ? hl_clamp_stored((int64_t)steps + hl_zero(output), low, high) : high;
}

static TfLiteStatus sqrt_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(root_prepare(ctx, node));
    const TfLiteTensor *input = hl_input(ctx, node, 0), *output = hl_output(ctx, node, 0);
    struct hl_table *table = node->user_data;
    if (input->type == kTfLiteInt8)
        for (int32_t x = hl_zero(input); x <= INT8_MAX; x++)
            table->bytes[(uint8_t)x] = (uint8_t)sqrt_stored(x - hl_zero(input), input, output, INT8_MIN, INT8_MAX);
    return kTfLiteOk;
}

HL_REAL_MAP(sqrt_real, sqrtf(x))

// There is no table of words.
static void sqrt_table(const TfLiteTensor *input, TfLiteTensor *output, const struct hl_table *table)
{
    if (input->type == kTfLiteInt8) {
        hl_map_bytes(input, output, table->bytes);
        return;
    }
    const int16_t *x = HL_IN(int16_t, input);
    int16_t *y = HL_OUT(int16_t, output);
    int64_t count = hl_elements(input);
    for (int64_t i = 0; i < count; i++) y[i] = (int16_t)sqrt_stored(x[i], input, output, INT16_MIN, INT16_MAX);
}

ROOT(sqrt)

// ---- RSQRT --------------------------------------------------------------------------------------

// The table's position for 0 may lie a little below 0.
static double rsqrt_value(double x)
{
    return x > 0 ? (double)(1 / sqrtf((float)x)) : (double)INFINITY;
}

// 1 / sqrt(value) is taken with 20 more bits, then rescaled by 1 / (sqrt(S_in) * S_out).
static int32_t rsqrt_stored(int32_t value, struct hl_rescale rescale, int32_t output_zero)
{
    enum { MORE_BITS = 20 };
    if (value == 0) return INT8_MAX;
    struct hl_rescale root = hl_fixed_inverse_sqrt(value);
    root.shift += MORE_BITS;
    rescale.shift -= MORE_BITS;
    if (rescale.shift < -31) rescale = (struct hl_rescale){0, 0};
    int64_t result = hl_rescale_apply(hl_rescale_apply(1, root), rescale);
    return hl_clamp_stored(result + output_zero, INT8_MIN, INT8_MAX);
}

static TfLiteStatus rsqrt_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(root_prepare(ctx, node));
    const TfLiteTensor *input = hl_input(ctx, node, 0), *output = hl_output(ctx, node, 0);
    struct hl_table *table = node->user_data;
    if (input->type == kTfLiteInt16) return hl_map_prepare_table(ctx, node, rsqrt_value, table);
    if (input->type != kTfLiteInt8) return kTfLiteOk;
    float divisor = sqrtf(input->params.scale) * output->params.scale;
    struct hl_rescale rescale = hl_rescale_from(1 / (double)divisor);
    for (int32_t x = hl_zero(input); x <= INT8_MAX; x++)
        table->bytes[(uint8_t)x] = (uint8_t)rsqrt_stored(x - hl_zero(input), rescale, hl_zero(output));
    return kTfLiteOk;
}

HL_REAL_MAP(rsqrt_real, 1 / sqrtf(x))

static void rsqrt_table(const TfLiteTensor *input, TfLiteTensor *output, const struct hl_table *table)
{
    hl_map_table(input, output, table);
}

ROOT(rsqrt)
