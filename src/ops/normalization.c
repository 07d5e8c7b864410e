// SPDX-License-Identifier: Apache-2.0
// L2_NORMALIZATION: y = x / max(|x|, 1e-6) for each vector along the last dimension.
// in 0: x of rank 1 or more, out 0: the same shape and type: float32; quantized uint8 and int8 with
// output scale 1/128 and zero point 128 or 0, in fixed point.
// LOCAL_RESPONSE_NORMALIZATION: y = x / (bias + s)^beta, s the sum of alpha * x^2 over the channels
// from c - radius to c + radius.
// in 0: x [n, h, w, c], out 0: the same shape; float32.
#include <math.h>

#include "ops/common/fixed_point.h"
#include "ops/common/map.h"

// ---- L2_NORMALIZATION ---------------------------------------------------------------------------

static TfLiteStatus l2_normalization_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_map_prepare(ctx, node));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *y = hl_output(ctx, node, 0);
    const TfLiteL2NormParams *params = node->builtin_data;
    HL_REQUIRE(ctx, node, hl_rank(x) >= 1, "the input has no dimension");
    HL_REQUIRE(ctx, node, params->activation == kTfLiteActNone, "fused activation %d is not supported",
               (int)params->activation);
    if (x->type == kTfLiteFloat32) return kTfLiteOk;
    if (x->type != kTfLiteUInt8 && x->type != kTfLiteInt8) return hl_unsupported_type(ctx, node, x);

    HL_TRY(hl_require_quantized(ctx, node, x));
    HL_TRY(hl_require_quantized(ctx, node, y));
    int zero = x->type == kTfLiteUInt8 ? 128 : 0;
    HL_REQUIRE(ctx, node, y->params.scale == 1.0f / 128, "output scale %g must be 1/128", hl_scale(y));
    HL_REQUIRE(ctx, node, hl_zero(y) == zero, "the output's zero point %d must be %d", hl_zero(y), zero);
    return kTfLiteOk;
}

// A few rows at a time, whose sums of squares do not wait for each other.
static void l2_normalize_f32(const struct hl_row_kernels *kernels, const float *x, float *y, int64_t count, int length)
{
    enum { FEW = 8 };
    float sums[FEW];
    for (int64_t at = 0; at < count;) {
        const int64_t left = (count - at) / length;
        const int rows = left < FEW ? (int)left : FEW;
        kernels->dots_f32(x + at, length, rows, x + at, length, length, sums);
        for (int r = 0; r < rows; r++, at += length) {
            const float norm = sqrtf(sums[r]), divisor = norm < 1e-6f ? 1e-6f : norm;
            for (int i = 0; i < length; i++) y[at + i] = x[at + i] / divisor;
        }
    }
}

// The 7 bits of the output's scale go to the value (uint8) or to the shift (int8): they round
// differently.
#define L2_NORMALIZE(name, type, value_bits, shift_bits, output_zero, low, high) \
    static void name(const type *x, type *y, int length, int32_t zero)           \
    {                                                                            \
        int64_t sum = 0;                                                         \
        for (int i = 0; i < length; i++) sum += (x[i] - zero) * (x[i] - zero);   \
        struct hl_rescale rescale = hl_fixed_inverse_sqrt(sum);                  \
        rescale.shift += (shift_bits);                                           \
        for (int i = 0; i < length; i++) {                                       \
            int32_t value = (x[i] - zero) * (1 << (value_bits));                 \
            int64_t result = hl_rescale_apply(value, rescale);                   \
            y[i] = (type)hl_clamp_stored(result + (output_zero), low, high);     \
        }                                                                        \
    }
L2_NORMALIZE(l2_normalize_u8, uint8_t, 7, 0, 128, 0, UINT8_MAX)
L2_NORMALIZE(l2_normalize_i8, int8_t, 0, 7, 0, INT8_MIN, INT8_MAX)

static TfLiteStatus l2_normalization_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    int length = hl_dim(x, hl_rank(x) - 1);
    int64_t count = hl_elements(x);
    if (x->type == kTfLiteFloat32) {
        l2_normalize_f32(hl_row_kernels(ctx), HL_IN(float, x), HL_OUT(float, y), count, length);
        return kTfLiteOk;
    }
    for (int64_t at = 0; at < count; at += length) {
        if (x->type == kTfLiteUInt8)
            l2_normalize_u8(HL_IN(uint8_t, x) + at, HL_OUT(uint8_t, y) + at, length, hl_zero(x));
        else
            l2_normalize_i8(HL_IN(int8_t, x) + at, HL_OUT(int8_t, y) + at, length, hl_zero(x));
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_l2_normalization = {
    .prepare = l2_normalization_prepare,
    .invoke = l2_normalization_invoke,
    .inplace = kTfLiteInplaceOpInput0Shared,
};

// ---- LOCAL_RESPONSE_NORMALIZATION ---------------------------------------------------------------

static TfLiteStatus local_response_normalization_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_map_prepare(ctx, node));
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    const TfLiteLocalResponseNormParams *params = node->builtin_data;
    if (x->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, x);
    HL_REQUIRE(ctx, node, hl_rank(x) == 4, "the input has %d dimensions, must have 4", hl_rank(x));
    HL_REQUIRE(ctx, node, params->radius >= 0, "radius %d must not be negative", params->radius);
    return kTfLiteOk;
}

static float scaled_square(float value, float scale)
{
    return value * value * scale;
}

static TfLiteStatus local_response_normalization_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    const TfLiteLocalResponseNormParams *params = node->builtin_data;
    int channels = hl_dim(input, 3);
    int64_t count = hl_elements(input);
    const float *x = HL_IN(float, input);
    float *y = HL_OUT(float, hl_output(ctx, node, 0));
    for (int64_t at = 0; at < count; at += channels, x += channels, y += channels) {
        // One sum that slides over the channels, as the original's optimized kernel has it: what a large value takes
        // from the precision of its neighbors is lost for the channels behind it, too.
        int reach = params->radius < channels ? params->radius : channels;
        float sum = 0;
        for (int i = 0; i < reach; i++) sum += scaled_square(x[i], params->alpha);
        for (int c = 0; c < channels; c++) {
            if (c < channels - reach) sum += scaled_square(x[c + reach], params->alpha);
            float base = params->bias + sum;
            if (c >= reach) sum -= scaled_square(x[c - reach], params->alpha);
            if (params->beta == 1)
                y[c] = x[c] * (1 / base);
            else if (params->beta == 0.5f)
                y[c] = x[c] * (1 / sqrtf(base));
            else
                y[c] = x[c] * powf(base, -params->beta);
        }
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_local_response_normalization = {
    .prepare = local_response_normalization_prepare,
    .invoke = local_response_normalization_invoke,
};
