// SPDX-License-Identifier: Apache-2.0
// ELU: x < 0 ? exp(x) - 1 : x. GELU: x * Phi(x), Phi the normal distribution, or approximately
// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))). HARD_SWISH: x * clamp(x + 3, 0, 6) / 6.
// in 0: x of any shape, out 0: the same shape and type.
// All: float32, float16, bfloat16. Quantized: ELU int8; GELU int8, uint8, int16 (tables of the real
// function); HARD_SWISH int8, uint8 in 16-bit fixed point.
#include <math.h>

#include "fast/fast.h"
#include "ops/common/fixed_point_i16.h"
#include "ops/common/map.h"

// ---- ELU ----------------------------------------------------------------------------------------

static double elu_value(double x)
{
    return x < 0 ? (double)(expf((float)x) - 1) : x;
}

static TfLiteStatus elu_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_map_prepare(ctx, node));
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    if (hl_is_real(input->type)) return kTfLiteOk;
    if (input->type != kTfLiteInt8) return hl_unsupported_type(ctx, node, input);
    return hl_map_prepare_table(ctx, node, elu_value, node->user_data);
}

HL_REAL_MAP(elu_real, x < 0 ? expm1f(x) : x)

static TfLiteStatus elu_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    return hl_map_invoke(ctx, node, elu_real);
}

const struct hl_op hl_op_elu = {
    .state_size = sizeof(struct hl_table),
    .prepare = elu_prepare,
    .invoke = elu_invoke,
    .inplace = kTfLiteInplaceOpInput0Shared,
    .fast = &hl_fast_elu,
};

// ---- GELU ---------------------------------------------------------------------------------------

// Every step is rounded to the tensor's type, as in the official kernels.
#define GELU(type, rounded)                                                       \
    static float gelu_exact_of_##type(float x)                                    \
    {                                                                             \
        const float minus_sqrt_half = rounded(-0.70710678118654752440f);          \
        return rounded(x * 0.5f) * rounded(erfcf(rounded(x * minus_sqrt_half)));  \
    }                                                                             \
    static float gelu_tanh_of_##type(float x)                                     \
    {                                                                             \
        const float sqrt_2_over_pi = rounded(0.79788456080286535588f);            \
        float cube = rounded(rounded(x * x) * x);                                 \
        float bent = rounded(x + rounded(rounded(0.044715f) * cube));             \
        float gate = rounded(1 + rounded(tanhf(rounded(sqrt_2_over_pi * bent)))); \
        return rounded(x * 0.5f) * gate;                                          \
    }                                                                             \
    HL_REAL_MAP(gelu_exact_map_##type, gelu_exact_of_##type(x))                   \
    HL_REAL_MAP(gelu_tanh_map_##type, gelu_tanh_of_##type(x))

static float to_f32(float x)
{
    return x;
}
static float to_f16(float x)
{
    return hl_half_to_float(hl_half_from_float(x));
}
static float to_bf16(float x)
{
    return hl_bfloat16_to_float(hl_bfloat16_from_float(x));
}
GELU(f32, to_f32)
GELU(f16, to_f16)
GELU(bf16, to_bf16)

static double gelu_exact_value(double x)
{
    return (double)gelu_exact_of_f32((float)x);
}

static double gelu_tanh_value(double x)
{
    return (double)gelu_tanh_of_f32((float)x);
}

static TfLiteStatus gelu_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_map_prepare(ctx, node));
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    const TfLiteGeluParams *params = node->builtin_data;
    if (hl_is_real(input->type)) return kTfLiteOk;
    if (input->type != kTfLiteInt8 && input->type != kTfLiteUInt8 && input->type != kTfLiteInt16)
        return hl_unsupported_type(ctx, node, input);
    return hl_map_prepare_table(ctx, node, params->approximate ? gelu_tanh_value : gelu_exact_value, node->user_data);
}

static TfLiteStatus gelu_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    TfLiteTensor *output = hl_output(ctx, node, 0);
    const TfLiteGeluParams *params = node->builtin_data;
    bool approximate = params->approximate;
    switch (input->type) {
    case kTfLiteFloat32: hl_map_real(input, output, approximate ? gelu_tanh_map_f32 : gelu_exact_map_f32); break;
    case kTfLiteFloat16: hl_map_real(input, output, approximate ? gelu_tanh_map_f16 : gelu_exact_map_f16); break;
    case kTfLiteBFloat16: hl_map_real(input, output, approximate ? gelu_tanh_map_bf16 : gelu_exact_map_bf16); break;
    default: hl_map_table(input, output, node->user_data); break;
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_gelu = {
    .state_size = sizeof(struct hl_table),
    .prepare = gelu_prepare,
    .invoke = gelu_invoke,
    .inplace = kTfLiteInplaceOpInput0Shared,
    .fast = &hl_fast_gelu,
};

// ---- HARD_SWISH ---------------------------------------------------------------------------------

// Values are 16 bits wide: x - zero point times 2^7, and clamp(x + 3, 0, 6) / 6 in 1 / 2^15.
enum { FINE_BITS = 7 };

struct word_rescale {
    int16_t multiplier; // times 2^(shift - 15)
    int shift;
};

struct hard_swish {
    uint8_t table[256];
    struct word_rescale to_output; // of the fine input
    struct word_rescale to_gate;   // of the fine input, to units of 3 / 2^15
};
HL_TABLE_FIRST(struct hard_swish, table);

static struct word_rescale word_rescale_from(double real)
{
    struct hl_rescale wide = hl_rescale_from(real);
    int32_t multiplier = wide.multiplier >= INT32_MAX - (1 << 15) ? INT16_MAX : (wide.multiplier + (1 << 15)) >> 16;
    return (struct word_rescale){(int16_t)multiplier, wide.shift};
}

static int32_t hard_swish_stored(const struct hard_swish *op, int32_t value, int32_t output_zero, int32_t low,
                                 int32_t high)
{
    int32_t fine = value * (1 << FINE_BITS); // below 2^15
    int32_t scaled = hl_fixed16_multiply((int16_t)fine, op->to_output.multiplier);

    // A gate that grows saturates before the multiplication by all bits but one, so that this stays
    // exact, and after it by the last.
    int32_t gate = fine;
    int shift = op->to_gate.shift;
    if (shift > 0) gate = hl_saturate_i16((int64_t)gate * (INT64_C(1) << (shift - 1)));
    gate = hl_fixed16_multiply((int16_t)gate, op->to_gate.multiplier);
    if (shift > 0) gate = hl_saturate_i16((int64_t)gate * 2);
    if (shift < 0) gate = hl_shift_right_round(gate, -shift);
    gate = (gate + (1 << 15)) >> 1; // from [-3, 3] to [0, 1]

    int32_t product = hl_saturate_i16((int64_t)scaled * gate / (1 << 15));
    int32_t result = hl_shift_right_round(product, -op->to_output.shift);
    return hl_clamp_stored((int64_t)result + output_zero, low, high);
}

static TfLiteStatus hard_swish_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_map_prepare(ctx, node));
    const TfLiteTensor *input = hl_input(ctx, node, 0), *output = hl_output(ctx, node, 0);
    struct hard_swish *op = node->user_data;
    if (hl_is_real(input->type)) return kTfLiteOk;
    if (input->type != kTfLiteInt8 && input->type != kTfLiteUInt8) return hl_unsupported_type(ctx, node, input);
    HL_TRY(hl_require_quantized(ctx, node, input));
    HL_TRY(hl_require_quantized(ctx, node, output));

    float fine_scale = 1.0f / (1 << FINE_BITS) * input->params.scale, gate_scale = 3.0f / 32768;
    op->to_output = word_rescale_from((double)(fine_scale / output->params.scale));
    op->to_gate = word_rescale_from((double)(fine_scale / gate_scale));
    HL_REQUIRE(ctx, node, op->to_output.shift <= 0, "output scale %g must be above 1/128 of the input scale %g",
               hl_scale(output), hl_scale(input));
    int32_t low, high;
    hl_type_range(input->type, &low, &high);
    for (int32_t x = low; x <= high; x++)
        op->table[(uint8_t)x] = (uint8_t)hard_swish_stored(op, x - hl_zero(input), hl_zero(output), low, high);
    return kTfLiteOk;
}

HL_REAL_MAP(hard_swish_real, x *fminf(6, fmaxf(0, x + 3)) / 6)

static TfLiteStatus hard_swish_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    TfLiteTensor *output = hl_output(ctx, node, 0);
    const struct hard_swish *op = node->user_data;
    if (hl_is_real(input->type))
        hl_map_real(input, output, hard_swish_real);
    else
        hl_map_bytes(input, output, op->table);
    return kTfLiteOk;
}

const struct hl_op hl_op_hard_swish = {
    .state_size = sizeof(struct hard_swish),
    .prepare = hard_swish_prepare,
    .invoke = hard_swish_invoke,
    .inplace = kTfLiteInplaceOpInput0Shared,
    .fast = &hl_fast_hard_swish,
};
