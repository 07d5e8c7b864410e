// SPDX-License-Identifier: Apache-2.0
// NumericVerify (custom): the error of a quantized tensor, y = S * (x - Z) - reference.
// in 0: x, uint8, int8 (one scale), int16 (zero point 0) or float16 (y = x - reference),
// in 1: reference, float32, out 0: float32. All of one shape.
// Options, a flexbuffer map: log_if_failed, tolerance. With log_if_failed and a tolerance of 0.1
// steps or more, an error of more than so many steps fails the invoke; otherwise the output is all.
#include <math.h>

#include "abi/custom_options.h"
#include "ops/common/map.h"

struct numeric_verify {
    bool fails;
    float tolerance; // in quantization steps
};

static TfLiteStatus numeric_verify_parse(TfLiteContext *ctx, void *state, const void *options, size_t size)
{
    (void)ctx;
    struct numeric_verify *op = state;
    struct hl_flex map = hl_options_map(options, size);
    op->tolerance = hl_option_float(&map, "tolerance", 0);
    op->fails = hl_option_bool(&map, "log_if_failed", false) && op->tolerance >= 0.1f;
    return kTfLiteOk;
}

static TfLiteStatus numeric_verify_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *reference = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    switch (x->type) {
    case kTfLiteFloat16: break;
    case kTfLiteUInt8:
    case kTfLiteInt8: HL_TRY(hl_require_quantized(ctx, node, x)); break;
    case kTfLiteInt16: HL_TRY(hl_require_symmetric(ctx, node, x)); break;
    default: return hl_unsupported_type(ctx, node, x);
    }
    HL_REQUIRE(ctx, node, reference->type == kTfLiteFloat32, "the reference is %s, must be float32",
               hl_type_name(reference->type));
    HL_REQUIRE(ctx, node, y->type == kTfLiteFloat32, "the output is %s, must be float32", hl_type_name(y->type));
    HL_REQUIRE(ctx, node, hl_same_shape(x, reference), "the reference's shape differs from the input's");
    return hl_resize_like(ctx, y, x);
}

static float value_at(const TfLiteTensor *x, int64_t i)
{
    if (x->type == kTfLiteFloat16) return hl_half_to_float(HL_IN(uint16_t, x)[i]);
    return x->params.scale * (float)(hl_integer_at(x, i) - hl_zero(x));
}

static TfLiteStatus numeric_verify_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    const float *reference = HL_IN(float, hl_input(ctx, node, 1));
    float *y = HL_OUT(float, hl_output(ctx, node, 0));
    const struct numeric_verify *op = node->user_data;
    int64_t count = hl_elements(x);
    float allowed = op->tolerance * x->params.scale;
    for (int64_t i = 0; i < count; i++) {
        float value = value_at(x, i);
        y[i] = value - reference[i];
        HL_REQUIRE(ctx, node, !op->fails || !(fabsf(y[i]) > allowed),
                   "element %lld is %g instead of %g, which is more than the tolerance %g off", (long long)i,
                   (double)value, (double)reference[i], (double)allowed);
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_numeric_verify = {
    .state_size = sizeof(struct numeric_verify),
    .parse = numeric_verify_parse,
    .prepare = numeric_verify_prepare,
    .invoke = numeric_verify_invoke,
};
