// SPDX-License-Identifier: Apache-2.0
// DEQUANTIZE: y = S * (x - Z); of float16 the same value.
// in 0: x of any shape, out 0: the same shape, float32.
// float16; quantized int8, uint8, int4, uint4, int2, with one scale or one for each index along a
// dimension; int16 with one scale and zero point 0. A constant is converted once, in prepare, so
// that the operators behind it find a constant as well.
#include <math.h>

#include "fast/fast.h"
#include "ops/common/map.h"

struct dequantize {
    bool converted; // the constant, already
    // Slices that share a scale: outer * channels * inner elements, one scale if channels is 1.
    int64_t outer, inner;
    int channels;
};

static bool is_packed(TfLiteType type)
{
    return type == kTfLiteInt4 || type == kTfLiteUInt4 || type == kTfLiteInt2;
}

static TfLiteStatus prepare_channels(TfLiteContext *ctx, TfLiteNode *node, const TfLiteAffineQuantization *affine)
{
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    struct dequantize *op = node->user_data;
    int axis = affine->quantized_dimension, scales = affine->scale->size;
    HL_REQUIRE(ctx, node, input->type != kTfLiteInt16, "int16 takes one scale only, not %d", scales);
    HL_REQUIRE(ctx, node, axis >= 0 && axis < hl_rank(input), "the input's quantized dimension %d is not one of its %d",
               axis, hl_rank(input));
    op->channels = hl_dim(input, axis);
    // int4 and int2 weights may carry more scales than the dimension has indices.
    HL_REQUIRE(ctx, node, scales >= op->channels, "%d scales along a dimension of %d", scales, op->channels);
    HL_REQUIRE(ctx, node,
               affine->zero_point && (affine->zero_point->size == 1 || affine->zero_point->size >= op->channels),
               "%d zero points for %d scales", affine->zero_point ? affine->zero_point->size : 0, scales);
    op->outer = hl_product(input->dims, 0, axis);
    op->inner = hl_product(input->dims, axis + 1, hl_rank(input));
    return kTfLiteOk;
}

static void dequantize(const struct dequantize *op, const TfLiteTensor *input, TfLiteTensor *output);

static TfLiteStatus dequantize_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 1, 1, 1));
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    TfLiteTensor *output = hl_output(ctx, node, 0);
    struct dequantize *op = node->user_data;
    if (op->converted) return kTfLiteOk;
    HL_REQUIRE(ctx, node, output->type == kTfLiteFloat32, "the output is %s, must be float32",
               hl_type_name(output->type));

    op->outer = 1, op->channels = 1, op->inner = hl_elements(input);
    switch (input->type) {
    case kTfLiteFloat16: break;
    case kTfLiteInt8:
    case kTfLiteUInt8:
    case kTfLiteInt16:
    case kTfLiteInt4:
    case kTfLiteUInt4:
    case kTfLiteInt2: {
        const TfLiteAffineQuantization *affine = hl_affine(input);
        HL_REQUIRE(ctx, node, affine && affine->scale, "the input has no quantization parameters");
        if (affine->scale->size > 1)
            HL_TRY(prepare_channels(ctx, node, affine));
        else if (input->type == kTfLiteInt16)
            HL_TRY(hl_require_symmetric(ctx, node, input));
        break;
    }
    default: return hl_unsupported_type(ctx, node, input);
    }

    if (!hl_is_constant(input)) return hl_resize_like(ctx, output, input);
    bool known;
    HL_TRY(hl_make_shared_constant(ctx, node, input, &known));
    if (!known) {
        dequantize(op, input, output);
        hl_share_constant(ctx, node);
    }
    op->converted = true;
    return kTfLiteOk;
}

// Moves the bits into place and scales by 2^112, which also makes subnormal numbers normal.
static void dequantize_f16(const uint16_t *x, float *y, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        uint32_t sign = (uint32_t)(x[i] & 0x8000) << 16;
        uint32_t magnitude = (uint32_t)(x[i] & 0x7fff) << 13;
        uint32_t finite = hl_float_bits(hl_float_from_bits(magnitude) * 0x1p112f);
        uint32_t infinite = magnitude | 0x7f800000; // or NaN
        y[i] = hl_float_from_bits(sign | (magnitude < 0x0f800000 ? finite : infinite));
    }
}

struct source {
    float scale;
    int32_t zero;
};

// The difference is exact in double precision, whatever the zero point, and becomes a float in one
// rounding; vectors of 64-bit integers do not.
#define DEQUANTIZE_RUN(name, type)                                                                 \
    static void name(const type *restrict x, float *restrict y, int64_t count, struct source from) \
    {                                                                                              \
        const double zero = from.zero;                                                             \
        for (int64_t i = 0; i < count; i++) y[i] = from.scale * (float)(x[i] - zero);              \
    }
DEQUANTIZE_RUN(dequantize_i8, int8_t)
DEQUANTIZE_RUN(dequantize_u8, uint8_t)
DEQUANTIZE_RUN(dequantize_i16, int16_t)

static void dequantize_packed(TfLiteType type, const uint8_t *bytes, float *y, int64_t at, int64_t count,
                              struct source from)
{
    int bits = type == kTfLiteInt2 ? 2 : 4, per_byte = 8 / bits, mask = (1 << bits) - 1;
    int sign = type == kTfLiteUInt4 ? 0 : 1 << (bits - 1);
    for (int64_t i = at; i < at + count; i++) {
        int stored = bytes[i / per_byte] >> (i % per_byte * bits) & mask;
        y[i] = from.scale * (float)((int64_t)((stored ^ sign) - sign) - from.zero);
    }
}

static void dequantize(const struct dequantize *op, const TfLiteTensor *input, TfLiteTensor *output)
{
    const TfLiteAffineQuantization *affine = hl_affine(input);
    float *y = HL_OUT(float, output);
    if (hl_elements(input) == 0) return;
    if (input->type == kTfLiteFloat16) {
        dequantize_f16(HL_IN(uint16_t, input), y, op->inner);
        return;
    }
    int64_t at = 0;
    for (int64_t slice = 0; slice < op->outer * op->channels; slice++, at += op->inner) {
        int channel = (int)(slice % op->channels);
        struct source from = {input->params.scale, hl_zero(input)};
        if (affine->scale->size > 1) {
            from.scale = affine->scale->data[channel];
            from.zero = affine->zero_point->data[affine->zero_point->size > 1 ? channel : 0];
        }
        if (is_packed(input->type))
            dequantize_packed(input->type, HL_IN(uint8_t, input), y, at, op->inner, from);
        else if (input->type == kTfLiteInt8)
            dequantize_i8(HL_IN(int8_t, input) + at, y + at, op->inner, from);
        else if (input->type == kTfLiteUInt8)
            dequantize_u8(HL_IN(uint8_t, input) + at, y + at, op->inner, from);
        else
            dequantize_i16(HL_IN(int16_t, input) + at, y + at, op->inner, from);
    }
}

static TfLiteStatus dequantize_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct dequantize *op = node->user_data;
    if (!op->converted) dequantize(op, hl_input(ctx, node, 0), hl_output(ctx, node, 0));
    return kTfLiteOk;
}

const struct hl_op hl_op_dequantize = {
    .state_size = sizeof(struct dequantize),
    .prepare = dequantize_prepare,
    .invoke = dequantize_invoke,
    .fast = &hl_fast_dequantize,
};
