// SPDX-License-Identifier: Apache-2.0
// The arithmetic of quant.h: real multipliers as fixed point, ranges of stored values, tables, rows
// of floats as int8, packed small integers. Every rule is that of the official reference kernels,
// in the float type in which they compute it; where the original is undefined (values that fit no
// int) the result here is the nearest one that fits.
#include "ops/common/quant.h"

#include <float.h>
#include <math.h>

static int32_t round_to_i32(double value)
{
    double rounded = round(value);
    if (!(rounded > INT32_MIN)) return INT32_MIN; // NaN as well
    return rounded >= INT32_MAX ? INT32_MAX : (int32_t)rounded;
}

static double clamp_f64(double value, double low, double high)
{
    if (!(value > low)) return low; // NaN as well
    return value > high ? high : value;
}

// ---- multipliers --------------------------------------------------------------------------------

// The multiplier is cut to 16 bits so that a sum of 48 bits fits; larger ones wrap.
int32_t hl_rescale_apply_i64(int64_t value, struct hl_rescale rescale)
{
    int32_t multiplier = rescale.multiplier < 0x7fff0000 ? (rescale.multiplier + (1 << 15)) >> 16 : 0x7fff;
    int right = 15 - rescale.shift;
    uint64_t product = (uint64_t)value * (uint64_t)multiplier;
    if (right <= 0) return (int32_t)(uint32_t)(product << -right);
    product += UINT64_C(1) << (right - 1);
    return (int32_t)(uint32_t)(uint64_t)((int64_t)product >> right);
}

// ---- ranges of stored values --------------------------------------------------------------------

bool hl_type_range(TfLiteType type, int32_t *low, int32_t *high)
{
    switch (type) {
    case kTfLiteInt8: *low = INT8_MIN, *high = INT8_MAX; return true;
    case kTfLiteUInt8: *low = 0, *high = UINT8_MAX; return true;
    case kTfLiteInt16: *low = INT16_MIN, *high = INT16_MAX; return true;
    default: return false;
    }
}

// The bounds that an activation puts on real values; infinite where it puts none.
static void activation_bounds(TfLiteFusedActivation activation, float *low, float *high)
{
    *low = -INFINITY, *high = INFINITY;
    if (activation == kTfLiteActRelu || activation == kTfLiteActRelu6) *low = 0;
    if (activation == kTfLiteActReluN1To1) *low = -1, *high = 1;
    if (activation == kTfLiteActRelu6) *high = 6;
}

static int32_t stored_bound(float bound, const TfLiteTensor *output, int32_t low, int32_t high)
{
    int64_t stored = (int64_t)round_to_i32(roundf(bound / output->params.scale)) + hl_zero(output);
    return stored < low ? low : stored > high ? high : (int32_t)stored;
}

void hl_activation_range(TfLiteFusedActivation activation, const TfLiteTensor *output, int32_t *low, int32_t *high)
{
    int32_t type_low = INT32_MIN, type_high = INT32_MAX;
    hl_type_range(output->type, &type_low, &type_high);
    float real_low, real_high;
    activation_bounds(activation, &real_low, &real_high);
    *low = isinf(real_low) ? type_low : stored_bound(real_low, output, type_low, type_high);
    *high = isinf(real_high) ? type_high : stored_bound(real_high, output, type_low, type_high);
}

void hl_activation_range_f32(TfLiteFusedActivation activation, float *low, float *high)
{
    activation_bounds(activation, low, high);
    if (isinf(*low)) *low = -FLT_MAX;
    if (isinf(*high)) *high = FLT_MAX;
}

void hl_activation_range_i64(TfLiteFusedActivation activation, TfLiteType type, int64_t *low, int64_t *high)
{
    int32_t narrow_low = INT32_MIN, narrow_high = INT32_MAX;
    hl_type_range(type, &narrow_low, &narrow_high);
    *low = type == kTfLiteInt64 ? INT64_MIN : narrow_low;
    *high = type == kTfLiteInt64 ? INT64_MAX : narrow_high;
    float real_low, real_high;
    activation_bounds(activation, &real_low, &real_high);
    if (!isinf(real_low) && (int64_t)real_low > *low) *low = (int64_t)real_low;
    if (!isinf(real_high) && (int64_t)real_high < *high) *high = (int64_t)real_high;
}

// ---- rescales of convolutions and matrix products -----------------------------------------------

static bool usable_scale(float scale)
{
    return scale > 0 && isfinite(scale);
}

TfLiteStatus hl_channel_rescales(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *input,
                                 const TfLiteTensor *filter, const TfLiteTensor *bias, const TfLiteTensor *output,
                                 int channels, struct hl_rescale *rescales)
{
    const TfLiteAffineQuantization *weights = hl_affine(filter);
    HL_REQUIRE(ctx, node, weights && weights->scale && weights->scale->size >= 1, "the weights have no scale");
    HL_REQUIRE(ctx, node, usable_scale(input->params.scale), "input scale %g must be positive and finite",
               hl_scale(input));
    HL_REQUIRE(ctx, node, usable_scale(output->params.scale), "output scale %g must be positive and finite",
               hl_scale(output));
    int scales = weights->scale->size;
    for (int i = 0; i < scales; i++)
        HL_REQUIRE(ctx, node, usable_scale(weights->scale->data[i]),
                   "scale %g of weight channel %d must be positive and finite", (double)weights->scale->data[i], i);

    if (input->type == kTfLiteUInt8) {
        HL_REQUIRE(ctx, node, scales == 1, "uint8 weights have %d scales, only 1 is supported", scales);
        double product = (double)(input->params.scale * filter->params.scale);
        if (bias)
            HL_REQUIRE(ctx, node, fabs(product - hl_scale(bias)) / hl_scale(output) <= 0.02,
                       "bias scale %g differs from input scale times weight scale, %g", hl_scale(bias), product);
        struct hl_rescale rescale = hl_rescale_from(product / hl_scale(output));
        for (int c = 0; c < channels; c++) rescales[c] = rescale;
        return kTfLiteOk;
    }

    if (scales > 1) {
        int axis = weights->quantized_dimension;
        HL_REQUIRE(ctx, node, axis >= 0 && axis < hl_rank(filter),
                   "the weights' quantized dimension %d is not one of their %d", axis, hl_rank(filter));
        HL_REQUIRE(ctx, node, scales == channels && hl_dim(filter, axis) == channels,
                   "%d weight scales along a dimension of %d do not fit %d output channels", scales,
                   hl_dim(filter, axis), channels);
    }
    for (int c = 0; c < channels; c++) {
        double scale = (double)weights->scale->data[scales > 1 ? c : 0];
        rescales[c] = hl_rescale_from(hl_scale(input) * scale / hl_scale(output));
    }
    return kTfLiteOk;
}

// ---- tables -------------------------------------------------------------------------------------

void hl_table_8bit(const TfLiteTensor *input, const TfLiteTensor *output, double (*function)(double), uint8_t *table)
{
    int32_t low = 0, high = UINT8_MAX;
    hl_type_range(input->type, &low, &high);
    int32_t out_low = 0, out_high = UINT8_MAX;
    hl_type_range(output->type, &out_low, &out_high);
    float inverse_scale = 1 / output->params.scale;
    for (int32_t stored = low; stored <= high; stored++) {
        float real = input->params.scale * (float)((int64_t)stored - hl_zero(input));
        float result = roundf((float)function((double)real) * inverse_scale);
        double moved = (double)result + hl_zero(output);
        table[(uint8_t)stored] = (uint8_t)(int32_t)clamp_f64(moved, out_low, out_high);
    }
}

// Each entry is moved by half the error that interpolating makes in the middle of its segment.
void hl_table_16bit(double input_scale, int input_zero, double output_scale, int output_zero,
                    double (*function)(double), int16_t *table)
{
    enum { SEGMENTS = 512 };
    double in_low = input_scale * ((double)INT16_MIN - input_zero);
    double in_high = input_scale * ((double)INT16_MAX - input_zero);
    double out_low = output_scale * ((double)INT16_MIN - output_zero);
    double out_high = output_scale * ((double)INT16_MAX - output_zero);
    double step = (in_high - in_low) / SEGMENTS;
    double to_stored = 65536.0 / (out_high - out_low);
    for (int i = 0; i < SEGMENTS; i++) {
        double here = function(in_low + i * step) * to_stored;
        double middle = function(in_low + i * step + step / 2) * to_stored;
        double next = function(in_low + (i + 1) * step) * to_stored;
        double error = round((next + round(here)) / 2) - round(middle);
        table[i] = (int16_t)clamp_f64(round(here) - round(error / 2), INT16_MIN, INT16_MAX);
    }
    table[SEGMENTS] = (int16_t)clamp_f64(round(function(in_high) * to_stored), INT16_MIN, INT16_MAX);
}

// ---- rows of floats as int8 ---------------------------------------------------------------------

struct hl_row_scale hl_row_scale_of(bool asymmetric, float low, float high)
{
    const float range = -low > high ? -low : high;
    if (asymmetric ? low == high : range == 0) return (struct hl_row_scale){.scale = 1};
    if (!asymmetric) return (struct hl_row_scale){.scale = range / 127, .inverse = 127 / range, .low = -127};
    const double nearly_half = 0.5 - 0x1p-54; // the largest number below 0.5
    // The range in float, as the original: a whole network's golden case shows the last bit (MobileNet v2 0.35, dynamic
    // range). The zero point from the step before it becomes a float: -1.5..1.5 has it half way.
    double step = (double)(high - low) / (INT8_MAX - INT8_MIN);
    double steps_below = (double)low / step, steps_above = (double)high / step;
    // The zero point follows from either end; the one nearer to zero rounds with less error.
    bool from_low = fabs(steps_below) - INT8_MIN < fabs(steps_above) + INT8_MAX;
    double zero = clamp_f64(from_low ? INT8_MIN - steps_below : INT8_MAX - steps_above, INT8_MIN, INT8_MAX);
    return (struct hl_row_scale){
        .scale = (float)step,
        .inverse = 1.0f / (float)step,
        .zero = (int32_t)(zero + copysign(nearly_half, zero)), // as round() does, which is a call
        .low = INT8_MIN,
    };
}

void hl_quantize_values(const struct hl_row_kernels *kernels, const struct hl_row_scale *to, const float *values,
                        int64_t count, uint8_t flip, int8_t *stored)
{
    if (to->low < 0)
        kernels->quantize(values, count, to->inverse, to->zero, to->low, flip, stored);
    else
        for (int64_t i = 0; i < count; i++) stored[i] = (int8_t)flip;
}

void hl_quantize_row(const struct hl_row_kernels *kernels, bool asymmetric, const float *values, int64_t count,
                     int8_t *stored, float *scale, int32_t *zero_point)
{
    float low, high;
    kernels->range(values, count, &low, &high);
    const struct hl_row_scale to = hl_row_scale_of(asymmetric, low, high);
    *scale = to.scale;
    *zero_point = to.zero;
    hl_quantize_values(kernels, &to, values, count, 0, stored);
}

// ---- packed small integers ----------------------------------------------------------------------

void hl_unpack_uint4(const void *packed, int64_t count, int8_t *values)
{
    const uint8_t *bytes = packed;
    for (int64_t i = 0; i < count; i++) values[i] = (int8_t)(bytes[i / 2] >> (i % 2 ? 4 : 0) & 15);
}

void hl_unpack_int4(const void *packed, int64_t count, int8_t *values)
{
    const uint8_t *bytes = packed;
    for (int64_t i = 0; i < count; i++) {
        int bits = bytes[i / 2] >> (i % 2 ? 4 : 0) & 15;
        values[i] = (int8_t)((bits ^ 8) - 8);
    }
}

void hl_unpack_int2(const void *packed, int64_t count, int8_t *values)
{
    const uint8_t *bytes = packed;
    for (int64_t i = 0; i < count; i++) {
        int bits = bytes[i / 4] >> i % 4 * 2 & 3;
        values[i] = (int8_t)((bits ^ 2) - 2);
    }
}

void hl_pack_int4(const int8_t *values, int64_t count, void *packed)
{
    uint8_t *bytes = packed;
    for (int64_t i = 0; i < count; i += 2) {
        int low = values[i] & 15, high = i + 1 < count ? values[i + 1] & 15 : 0;
        bytes[i / 2] = (uint8_t)(low | high << 4);
    }
}

// ---- checks of parameters -----------------------------------------------------------------------

TfLiteStatus hl_require_quantized(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *tensor)
{
    const char *name = tensor->name ? tensor->name : "";
    HL_REQUIRE(ctx, node, hl_is_quantized(tensor), "tensor '%s' has no quantization parameters", name);
    HL_REQUIRE(ctx, node, tensor->params.scale > 0 && isfinite(tensor->params.scale),
               "scale %g of tensor '%s' must be positive and finite", hl_scale(tensor), name);
    int32_t low = INT32_MIN, high = INT32_MAX;
    hl_type_range(tensor->type, &low, &high);
    HL_REQUIRE(ctx, node, hl_zero(tensor) >= low && hl_zero(tensor) <= high,
               "zero point %d of tensor '%s' does not fit its type %s", hl_zero(tensor), name,
               hl_type_name(tensor->type));
    return kTfLiteOk;
}

TfLiteStatus hl_require_symmetric(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *tensor)
{
    HL_TRY(hl_require_quantized(ctx, node, tensor));
    HL_REQUIRE(ctx, node, hl_zero(tensor) == 0, "zero point %d of the %s tensor '%s' must be 0", hl_zero(tensor),
               hl_type_name(tensor->type), tensor->name ? tensor->name : "");
    return kTfLiteOk;
}
