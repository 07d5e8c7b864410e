// SPDX-License-Identifier: Apache-2.0
// QUANTIZE: y = clamp(round(x / S) + Z), half away from zero; or from one quantization to another.
// in 0: x of any shape, out 0: the same shape, with quantization parameters.
// float32 to int8, uint8, int16, int4, uint4, with one scale or one for each index along a
// dimension; int8 and uint8 to int8, uint8, int16; int16 to int8, int16 (zero points 0), int32;
// int32 to int8, int16.
#include <math.h>
#include <string.h>

#include "fast/fast.h"
#include "ops/common/map.h"

struct quantize {
    uint8_t table[256];        // 8 bits to 8 bits
    struct hl_rescale rescale; // integer to integer
    int32_t low, high;         // of the output's type
    // Slices that share a scale: outer * channels * inner elements, one scale if channels is 1.
    int64_t outer, inner;
    int channels;
};
HL_TABLE_FIRST(struct quantize, table);

static int32_t requantized(const struct quantize *op, int64_t x, int32_t input_zero, int32_t output_zero)
{
    int32_t centered = hl_saturate_i32(x - input_zero);
    int64_t value = hl_rescale_apply(centered, op->rescale);
    return hl_clamp_stored(value + output_zero, op->low, op->high);
}

static bool is_8bit(TfLiteType type)
{
    return type == kTfLiteInt8 || type == kTfLiteUInt8;
}

static bool output_range(TfLiteType type, int32_t *low, int32_t *high)
{
    if (type == kTfLiteInt4)
        *low = -8, *high = 7;
    else if (type == kTfLiteUInt4)
        *low = 0, *high = 15;
    else if (type == kTfLiteInt32)
        *low = INT32_MIN, *high = INT32_MAX;
    else
        return hl_type_range(type, low, high);
    return true;
}

static bool converts(TfLiteType from, TfLiteType to)
{
    switch (from) {
    case kTfLiteFloat32: return to != kTfLiteInt32;
    case kTfLiteInt8:
    case kTfLiteUInt8: return to == kTfLiteInt8 || to == kTfLiteUInt8 || to == kTfLiteInt16;
    case kTfLiteInt16: return to == kTfLiteInt8 || to == kTfLiteInt16 || to == kTfLiteInt32;
    case kTfLiteInt32: return to == kTfLiteInt8 || to == kTfLiteInt16;
    default: return false;
    }
}

// Several scales: one for each index along the quantized dimension, and as many zero points or one.
static TfLiteStatus prepare_channels(TfLiteContext *ctx, TfLiteNode *node, const TfLiteAffineQuantization *affine)
{
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    struct quantize *op = node->user_data;
    int axis = affine->quantized_dimension;
    HL_REQUIRE(ctx, node, axis >= 0 && axis < hl_rank(input),
               "the output's quantized dimension %d is not one of its %d", axis, hl_rank(input));
    op->channels = affine->scale->size;
    HL_REQUIRE(ctx, node, op->channels == hl_dim(input, axis), "%d scales along a dimension of %d", op->channels,
               hl_dim(input, axis));
    HL_REQUIRE(ctx, node,
               affine->zero_point && (affine->zero_point->size == 1 || affine->zero_point->size == op->channels),
               "%d zero points for %d scales", affine->zero_point ? affine->zero_point->size : 0, op->channels);
    for (int c = 0; c < op->channels; c++)
        HL_REQUIRE(ctx, node, affine->scale->data[c] > 0 && isfinite(affine->scale->data[c]),
                   "scale %g of channel %d must be positive and finite", (double)affine->scale->data[c], c);
    op->outer = hl_product(input->dims, 0, axis);
    op->inner = hl_product(input->dims, axis + 1, hl_rank(input));
    return kTfLiteOk;
}

static TfLiteStatus quantize_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 1, 1, 1));
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    TfLiteTensor *output = hl_output(ctx, node, 0);
    struct quantize *op = node->user_data;
    HL_REQUIRE(ctx, node, output_range(output->type, &op->low, &op->high) && converts(input->type, output->type),
               "%s to %s is not supported", hl_type_name(input->type), hl_type_name(output->type));

    op->outer = 1, op->channels = 1, op->inner = hl_elements(input);
    const TfLiteAffineQuantization *affine = hl_affine(output);
    HL_REQUIRE(ctx, node, affine && affine->scale, "the output has no quantization parameters");
    if (input->type == kTfLiteFloat32 && affine->scale->size > 1) {
        HL_TRY(prepare_channels(ctx, node, affine));
    } else {
        bool symmetric = input->type == kTfLiteInt16 && output->type == kTfLiteInt16;
        HL_TRY(symmetric ? hl_require_symmetric(ctx, node, output) : hl_require_quantized(ctx, node, output));
        if (input->type != kTfLiteFloat32)
            HL_TRY(symmetric ? hl_require_symmetric(ctx, node, input) : hl_require_quantized(ctx, node, input));
        op->rescale = hl_rescale_from(hl_scale(input) / hl_scale(output));
        int32_t low, high;
        hl_type_range(input->type, &low, &high);
        if (is_8bit(input->type) && is_8bit(output->type))
            for (int32_t x = low; x <= high; x++)
                op->table[(uint8_t)x] = (uint8_t)requantized(op, x, hl_zero(input), hl_zero(output));
    }
    return hl_resize_like(ctx, output, input);
}

// ---- from float ---------------------------------------------------------------------------------

struct target {
    float scale;
    int32_t zero, low, high;
};

static int32_t quantize(float x, struct target to)
{
    float steps = roundf(x / to.scale);
    if (!(steps > -2147483648.0f)) return to.low; // NaN as well
    return steps < 2147483648.0f ? hl_clamp_stored((int64_t)steps + to.zero, to.low, to.high) : to.high;
}

#define QUANTIZE_RUN(name, type)                                               \
    static void name(const float *x, type *y, int64_t count, struct target to) \
    {                                                                          \
        for (int64_t i = 0; i < count; i++) y[i] = (type)quantize(x[i], to);   \
    }
QUANTIZE_RUN(quantize_i8, int8_t)
QUANTIZE_RUN(quantize_u8, uint8_t)
QUANTIZE_RUN(quantize_i16, int16_t)

static void quantize_4bit(const float *x, uint8_t *y, int64_t at, int64_t count, struct target to)
{
    for (int64_t i = at; i < at + count; i++) {
        int nibble = quantize(x[i], to) & 15;
        y[i / 2] = (uint8_t)(i % 2 ? y[i / 2] | nibble << 4 : nibble);
    }
}

static void quantize_floats(const struct quantize *op, const TfLiteTensor *input, TfLiteTensor *output)
{
    const TfLiteAffineQuantization *affine = hl_affine(output);
    const float *x = HL_IN(float, input);
    int64_t at = 0;
    for (int64_t slice = 0; slice < op->outer * op->channels; slice++, at += op->inner) {
        int channel = (int)(slice % op->channels);
        struct target to = {output->params.scale, hl_zero(output), op->low, op->high};
        if (op->channels > 1) {
            to.scale = affine->scale->data[channel];
            to.zero = affine->zero_point->data[affine->zero_point->size > 1 ? channel : 0];
        }
        switch (output->type) {
        case kTfLiteInt8: quantize_i8(x + at, HL_OUT(int8_t, output) + at, op->inner, to); break;
        case kTfLiteUInt8: quantize_u8(x + at, HL_OUT(uint8_t, output) + at, op->inner, to); break;
        case kTfLiteInt16: quantize_i16(x + at, HL_OUT(int16_t, output) + at, op->inner, to); break;
        default: quantize_4bit(x, HL_OUT(uint8_t, output), at, op->inner, to); break;
        }
    }
}

// ---- from integers ------------------------------------------------------------------------------

#define REQUANTIZE(name, from, to)                                                                     \
    static void name(const struct quantize *op, const TfLiteTensor *input, TfLiteTensor *output)       \
    {                                                                                                  \
        const from *x = HL_IN(from, input);                                                            \
        to *y = HL_OUT(to, output);                                                                    \
        int64_t count = hl_elements(input);                                                            \
        int32_t input_zero = hl_zero(input), output_zero = hl_zero(output);                            \
        for (int64_t i = 0; i < count; i++) y[i] = (to)requantized(op, x[i], input_zero, output_zero); \
    }
REQUANTIZE(requantize_i8_i16, int8_t, int16_t)
REQUANTIZE(requantize_u8_i16, uint8_t, int16_t)
REQUANTIZE(requantize_i16_i8, int16_t, int8_t)
REQUANTIZE(requantize_i16_i16, int16_t, int16_t)
REQUANTIZE(requantize_i16_i32, int16_t, int32_t)
REQUANTIZE(requantize_i32_i8, int32_t, int8_t)
REQUANTIZE(requantize_i32_i16, int32_t, int16_t)

static const struct {
    TfLiteType from, to;
    void (*run)(const struct quantize *op, const TfLiteTensor *input, TfLiteTensor *output);
} requantize[] = {
    {kTfLiteInt8, kTfLiteInt16, requantize_i8_i16},   {kTfLiteUInt8, kTfLiteInt16, requantize_u8_i16},
    {kTfLiteInt16, kTfLiteInt8, requantize_i16_i8},   {kTfLiteInt16, kTfLiteInt16, requantize_i16_i16},
    {kTfLiteInt16, kTfLiteInt32, requantize_i16_i32}, {kTfLiteInt32, kTfLiteInt8, requantize_i32_i8},
    {kTfLiteInt32, kTfLiteInt16, requantize_i32_i16},
};

static TfLiteStatus quantize_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    TfLiteTensor *output = hl_output(ctx, node, 0);
    if (hl_elements(input) == 0) return kTfLiteOk;
    if (input->type == kTfLiteFloat32) {
        quantize_floats(node->user_data, input, output);
        return kTfLiteOk;
    }
    if (is_8bit(input->type) && is_8bit(output->type)) {
        const struct quantize *op = node->user_data;
        hl_map_bytes(input, output, op->table);
        return kTfLiteOk;
    }
    for (size_t i = 0; i < sizeof requantize / sizeof *requantize; i++)
        if (requantize[i].from == input->type && requantize[i].to == output->type)
            requantize[i].run(node->user_data, input, output);
    return kTfLiteOk;
}

const struct hl_op hl_op_quantize = {
    .state_size = sizeof(struct quantize),
    .prepare = quantize_prepare,
    .invoke = quantize_invoke,
    .fast = &hl_fast_quantize,
};
