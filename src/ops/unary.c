// SPDX-License-Identifier: Apache-2.0
// ABS, NEG, SQUARE, SIN, COS, CEIL, FLOOR, ROUND (half to even), SIGN (-1, 0, 1).
// in 0: x of any shape, out 0: the same shape and type.
// All: float32, float16, bfloat16. ABS also int32, int16 and quantized int8, int16, which are
// rescaled when the scales differ. NEG also int8, int16, int32, int64: the stored integer changes
// its sign whatever its quantization. SIGN also int32 and float64. The smallest integer has no
// opposite and stays what it is.
#include <math.h>

#include "fast/fast.h"
#include "ops/common/map.h"

static TfLiteStatus real_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_map_prepare(ctx, node));
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    return hl_is_real(input->type) ? kTfLiteOk : hl_unsupported_type(ctx, node, input);
}

#define REAL_OPERATOR(symbol, expression, fast_kernel)                               \
    HL_REAL_MAP(symbol##_real, expression)                                           \
    static TfLiteStatus symbol##_invoke(TfLiteContext *ctx, TfLiteNode *node)        \
    {                                                                                \
        hl_map_real(hl_input(ctx, node, 0), hl_output(ctx, node, 0), symbol##_real); \
        return kTfLiteOk;                                                            \
    }                                                                                \
    const struct hl_op hl_op_##symbol = {                                            \
        .prepare = real_prepare,                                                     \
        .invoke = symbol##_invoke,                                                   \
        .inplace = kTfLiteInplaceOpInput0Shared,                                     \
        .fast = fast_kernel,                                                         \
    };

REAL_OPERATOR(square, x *x, &hl_fast_square)
REAL_OPERATOR(sin, sinf(x), &hl_fast_sin)
REAL_OPERATOR(cos, cosf(x), &hl_fast_cos)
REAL_OPERATOR(ceil, ceilf(x), &hl_fast_ceil)
REAL_OPERATOR(floor, floorf(x), &hl_fast_floor)
REAL_OPERATOR(round, rintf(x), &hl_fast_round)

// The same for another element type.
#define MAP(name, type, expression)                                   \
    static void name(const TfLiteTensor *input, TfLiteTensor *output) \
    {                                                                 \
        const type *xs = HL_IN(type, input);                          \
        type *ys = HL_OUT(type, output);                              \
        int64_t count = hl_elements(input);                           \
        for (int64_t i = 0; i < count; i++) {                         \
            type x = xs[i];                                           \
            ys[i] = (type)(expression);                               \
        }                                                             \
    }

// ---- ABS ----------------------------------------------------------------------------------------

struct abs {
    uint8_t table[256]; // int8
    bool quantized, rescales;
    struct hl_rescale rescale;
};
HL_TABLE_FIRST(struct abs, table);

static int32_t abs_stored(const struct abs *op, int32_t x, int32_t input_zero, int32_t output_zero, int32_t low,
                          int32_t high)
{
    int32_t magnitude = x < input_zero ? input_zero - x : x - input_zero;
    if (op->rescales) magnitude = hl_rescale_apply(magnitude, op->rescale);
    return hl_clamp_stored((int64_t)magnitude + output_zero, low, high);
}

static TfLiteStatus abs_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_map_prepare(ctx, node));
    const TfLiteTensor *input = hl_input(ctx, node, 0), *output = hl_output(ctx, node, 0);
    struct abs *op = node->user_data;
    if (hl_is_real(input->type) || input->type == kTfLiteInt32) return kTfLiteOk;
    if (input->type != kTfLiteInt8 && input->type != kTfLiteInt16) return hl_unsupported_type(ctx, node, input);

    op->quantized = input->type == kTfLiteInt8 || hl_is_quantized(input);
    if (!op->quantized) return kTfLiteOk;
    bool wide = input->type == kTfLiteInt16;
    HL_TRY(wide ? hl_require_symmetric(ctx, node, input) : hl_require_quantized(ctx, node, input));
    HL_TRY(wide ? hl_require_symmetric(ctx, node, output) : hl_require_quantized(ctx, node, output));
    op->rescales = input->params.scale != output->params.scale;
    op->rescale = hl_rescale_from((double)(input->params.scale / output->params.scale));
    if (!wide)
        for (int32_t x = INT8_MIN; x <= INT8_MAX; x++)
            op->table[(uint8_t)x] = (uint8_t)abs_stored(op, x, hl_zero(input), hl_zero(output), INT8_MIN, INT8_MAX);
    return kTfLiteOk;
}

HL_REAL_MAP(abs_real, fabsf(x))
MAP(abs_i16, int16_t, x < 0 ? -x : x)
MAP(abs_i32, int32_t, x < 0 ? 0 - (uint32_t)x : (uint32_t)x)

static void abs_i16_quantized(const struct abs *op, const TfLiteTensor *input, TfLiteTensor *output)
{
    const int16_t *x = HL_IN(int16_t, input);
    int16_t *y = HL_OUT(int16_t, output);
    int64_t count = hl_elements(input);
    for (int64_t i = 0; i < count; i++) y[i] = (int16_t)abs_stored(op, x[i], 0, 0, INT16_MIN, INT16_MAX);
}

static TfLiteStatus abs_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    TfLiteTensor *output = hl_output(ctx, node, 0);
    const struct abs *op = node->user_data;
    if (hl_is_real(input->type))
        hl_map_real(input, output, abs_real);
    else if (input->type == kTfLiteInt32)
        abs_i32(input, output);
    else if (input->type == kTfLiteInt8)
        hl_map_bytes(input, output, op->table);
    else if (op->quantized)
        abs_i16_quantized(op, input, output);
    else
        abs_i16(input, output);
    return kTfLiteOk;
}

const struct hl_op hl_op_abs = {
    .state_size = sizeof(struct abs),
    .prepare = abs_prepare,
    .invoke = abs_invoke,
    .inplace = kTfLiteInplaceOpInput0Shared,
    .fast = &hl_fast_abs,
};

// ---- NEG ----------------------------------------------------------------------------------------

static TfLiteStatus neg_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_map_prepare(ctx, node));
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    bool integer = hl_is_integer(input->type) && input->type != kTfLiteUInt8;
    return integer || hl_is_real(input->type) ? kTfLiteOk : hl_unsupported_type(ctx, node, input);
}

HL_REAL_MAP(neg_real, -x)
MAP(neg_i8, int8_t, -x)
MAP(neg_i16, int16_t, -x)
MAP(neg_i32, int32_t, 0 - (uint32_t)x)
MAP(neg_i64, int64_t, 0 - (uint64_t)x)

static TfLiteStatus neg_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    TfLiteTensor *output = hl_output(ctx, node, 0);
    switch (input->type) {
    case kTfLiteInt8: neg_i8(input, output); break;
    case kTfLiteInt16: neg_i16(input, output); break;
    case kTfLiteInt32: neg_i32(input, output); break;
    case kTfLiteInt64: neg_i64(input, output); break;
    default: hl_map_real(input, output, neg_real); break;
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_neg = {
    .prepare = neg_prepare,
    .invoke = neg_invoke,
    .inplace = kTfLiteInplaceOpInput0Shared,
    .fast = &hl_fast_neg,
};

// ---- SIGN ---------------------------------------------------------------------------------------

static TfLiteStatus sign_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_map_prepare(ctx, node));
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    bool known = hl_is_real(input->type) || input->type == kTfLiteFloat64 || input->type == kTfLiteInt32;
    return known ? kTfLiteOk : hl_unsupported_type(ctx, node, input);
}

HL_REAL_MAP(sign_real, x > 0 ? 1 : x < 0 ? -1 : x) // NaN stays NaN
MAP(sign_f64, double, x > 0 ? 1 : x < 0 ? -1 : x)
MAP(sign_i32, int32_t, (x > 0) - (x < 0))

static TfLiteStatus sign_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    TfLiteTensor *output = hl_output(ctx, node, 0);
    switch (input->type) {
    case kTfLiteFloat64: sign_f64(input, output); break;
    case kTfLiteInt32: sign_i32(input, output); break;
    default: hl_map_real(input, output, sign_real); break;
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_sign = {
    .prepare = sign_prepare,
    .invoke = sign_invoke,
    .inplace = kTfLiteInplaceOpInput0Shared,
};
