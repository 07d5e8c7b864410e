// SPDX-License-Identifier: Apache-2.0
// Types, operands and results of conv.h.
// Integer results: sum + bias, rescaled by input scale * weight scale / output scale, + zero point,
// clamped. Hybrid results: sum * (weight scale * input scale) + bias, clamped, or sums of scaled products.
#include "ops/common/conv.h"

#include <math.h>
#include <stdlib.h>

enum { X_WIDE, W_WIDE, X_STORED, X_SCALES, TEMPORARIES };

static bool is_hybrid(const TfLiteTensor *input, const TfLiteTensor *filter)
{
    return input->type == kTfLiteFloat32 && filter->type != kTfLiteFloat32;
}

TfLiteStatus hl_conv_make_temporaries(TfLiteContext *ctx, TfLiteNode *node, const struct hl_conv_node *desc)
{
    if (hl_input(ctx, node, desc->filter)->type == kTfLiteFloat32) return kTfLiteOk;
    return hl_make_temporaries(ctx, node, TEMPORARIES);
}

// ---- shapes -------------------------------------------------------------------------------------

TfLiteStatus hl_conv_read_shape(TfLiteContext *ctx, const TfLiteNode *node, const struct hl_conv_node *desc,
                                struct hl_conv_shape *shape)
{
    const TfLiteTensor *input = hl_input(ctx, node, desc->input), *filter = hl_input(ctx, node, desc->filter);
    HL_REQUIRE(ctx, node, hl_rank(input) == 4, "the input has %d dimensions, it must have 4", hl_rank(input));
    HL_REQUIRE(ctx, node, hl_rank(filter) == 4, "the filter has %d dimensions, it must have 4", hl_rank(filter));
    bool depthwise = desc->channel_axis == 3;
    *shape = (struct hl_conv_shape){
        .batches = hl_dim(input, 0),
        .height = hl_dim(input, 1),
        .width = hl_dim(input, 2),
        .channels = hl_dim(input, 3),
        .outputs = hl_dim(filter, desc->channel_axis),
        .kh = hl_dim(filter, 1),
        .kw = hl_dim(filter, 2),
        .filter_channels = depthwise ? 1 : hl_dim(filter, 3),
        .stride_h = desc->stride_h,
        .stride_w = desc->stride_w,
        .dilation_h = desc->dilation_h,
        .dilation_w = desc->dilation_w,
    };
    return kTfLiteOk;
}

TfLiteStatus hl_conv_2d_begin(TfLiteContext *ctx, TfLiteNode *node, const struct hl_conv_node *desc,
                              struct hl_conv_shape *shape)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 3, 1));
    HL_TRY(hl_conv_make_temporaries(ctx, node, desc));
    HL_TRY(hl_conv_read_shape(ctx, node, desc, shape));
    HL_REQUIRE(ctx, node, shape->height > 0 && shape->width > 0 && shape->channels > 0,
               "input height %d, width %d and channels %d must be positive", shape->height, shape->width,
               shape->channels);
    return kTfLiteOk;
}

TfLiteStatus hl_conv_shape_output(TfLiteContext *ctx, TfLiteNode *node, const struct hl_conv_node *desc,
                                  struct hl_conv_shape *shape)
{
    struct hl_window y, x;
    HL_TRY(hl_window_size(ctx, node, "height", desc->padding, shape->height, shape->kh, shape->stride_h,
                          shape->dilation_h, &y));
    HL_TRY(hl_window_size(ctx, node, "width", desc->padding, shape->width, shape->kw, shape->stride_w,
                          shape->dilation_w, &x));
    shape->out_height = y.out;
    shape->out_width = x.out;
    shape->pad_top = y.before;
    shape->pad_left = x.before;
    int dims[4] = {shape->batches, y.out, x.out, shape->outputs};
    return hl_resize(ctx, hl_output(ctx, node, 0), 4, dims);
}

// ---- prepare ------------------------------------------------------------------------------------

static bool filter_fits(const TfLiteTensor *input, const TfLiteTensor *filter, unsigned accepts)
{
    bool hybrid = input->type == kTfLiteFloat32;
    if (filter->type == kTfLiteInt4 && !(accepts & (hybrid ? HL_CONV_HYBRID_INT4 : HL_CONV_INT4))) return false;
    bool signed_weights = filter->type == kTfLiteInt8 || filter->type == kTfLiteInt4;
    switch (input->type) {
    case kTfLiteFloat32:
        return filter->type == kTfLiteFloat32 || signed_weights ||
               (filter->type == kTfLiteUInt8 && (accepts & HL_CONV_HYBRID_UINT8));
    case kTfLiteUInt8: return filter->type == kTfLiteUInt8;
    default: return signed_weights;
    }
}

static TfLiteStatus check_bias(TfLiteContext *ctx, TfLiteNode *node, const struct hl_conv_node *desc,
                               enum hl_conv_mode mode, int channels)
{
    const TfLiteTensor *bias = hl_input(ctx, node, desc->bias);
    if (!bias) {
        HL_REQUIRE(ctx, node, desc->accepts & HL_CONV_NO_BIAS, "the bias is missing");
        return kTfLiteOk;
    }
    bool floats = mode == HL_CONV_F32 || mode == HL_CONV_HYBRID;
    TfLiteType type = floats ? kTfLiteFloat32 : mode == HL_CONV_8BIT ? kTfLiteInt32 : kTfLiteInt64;
    bool short_bias = mode == HL_CONV_INT16 && bias->type == kTfLiteInt32 && (desc->accepts & HL_CONV_INT16_BIAS_I32);
    HL_REQUIRE(ctx, node, bias->type == type || short_bias, "the bias is %s, it must be %s", hl_type_name(bias->type),
               hl_type_name(type));
    HL_REQUIRE(ctx, node, hl_elements(bias) == channels, "a bias of %lld elements does not fit %d output channels",
               (long long)hl_elements(bias), channels);
    HL_REQUIRE(ctx, node, floats || hl_zero(bias) == 0, "the bias's zero point %d must be 0", hl_zero(bias));
    return kTfLiteOk;
}

static TfLiteStatus check_hybrid(TfLiteContext *ctx, TfLiteNode *node, const TfLiteTensor *filter, int channels)
{
    const TfLiteAffineQuantization *weights = hl_affine(filter);
    HL_REQUIRE(ctx, node, weights && weights->scale && weights->scale->size >= 1, "the weights have no scale");
    int scales = weights->scale->size;
    HL_REQUIRE(ctx, node, scales == 1 || scales == channels, "%d weight scales do not fit %d output channels", scales,
               channels);
    for (int i = 0; i < scales; i++)
        HL_REQUIRE(ctx, node, isfinite(weights->scale->data[i]), "weight scale %d is not finite", i);
    return kTfLiteOk;
}

static TfLiteStatus check_integer(TfLiteContext *ctx, TfLiteNode *node, const struct hl_conv_node *desc,
                                  struct hl_conv *conv, int channels)
{
    const TfLiteTensor *input = hl_input(ctx, node, desc->input);
    const TfLiteTensor *filter = hl_input(ctx, node, desc->filter);
    TfLiteTensor *output = hl_output(ctx, node, 0);
    bool wide = conv->mode == HL_CONV_INT16;
    HL_TRY(wide ? hl_require_symmetric(ctx, node, input) : hl_require_quantized(ctx, node, input));
    HL_TRY(wide ? hl_require_symmetric(ctx, node, output) : hl_require_quantized(ctx, node, output));
    if (filter->type == kTfLiteUInt8) HL_TRY(hl_require_quantized(ctx, node, filter));

    free(conv->rescales);
    conv->rescales = hl_make_table(ctx, (size_t)channels, sizeof *conv->rescales);
    HL_REQUIRE(ctx, node, conv->rescales, "no memory for %d multipliers", channels);
    HL_TRY(hl_channel_rescales(ctx, node, input, filter, hl_input(ctx, node, desc->bias), output, channels,
                               conv->rescales));
    hl_activation_range(desc->activation, output, &conv->low, &conv->high);
    const TfLiteTensor *bias = hl_input(ctx, node, desc->bias);
    conv->wide_sums = wide && (bias ? bias->type != kTfLiteInt32 : !desc->short_sums);
    return kTfLiteOk;
}

TfLiteStatus hl_conv_check(TfLiteContext *ctx, TfLiteNode *node, const struct hl_conv_node *desc, struct hl_conv *conv)
{
    const TfLiteTensor *input = hl_input(ctx, node, desc->input);
    const TfLiteTensor *filter = hl_input(ctx, node, desc->filter);
    TfLiteTensor *output = hl_output(ctx, node, 0);
    switch (input->type) {
    case kTfLiteFloat32: conv->mode = is_hybrid(input, filter) ? HL_CONV_HYBRID : HL_CONV_F32; break;
    case kTfLiteUInt8:
    case kTfLiteInt8: conv->mode = HL_CONV_8BIT; break;
    case kTfLiteInt16: conv->mode = HL_CONV_INT16; break;
    default: return hl_unsupported_type(ctx, node, input);
    }
    HL_TRY(hl_require_same_type(ctx, node, input, output));
    HL_REQUIRE(ctx, node, filter_fits(input, filter, desc->accepts), "%s weights are not supported for %s input",
               hl_type_name(filter->type), hl_type_name(input->type));
    HL_REQUIRE(ctx, node, !filter->sparsity, "sparse weights are not supported");

    int channels = hl_dim(filter, desc->channel_axis);
    HL_TRY(check_bias(ctx, node, desc, conv->mode, channels));
    hl_activation_range_f32(desc->activation, &conv->low_f32, &conv->high_f32);
    if (hl_conv_is_f32(conv)) return kTfLiteOk;
    if (conv->mode == HL_CONV_HYBRID) return check_hybrid(ctx, node, filter, channels);
    return check_integer(ctx, node, desc, conv, channels);
}

TfLiteStatus hl_conv_scratch(TfLiteContext *ctx, TfLiteNode *node, const struct hl_conv_node *desc,
                             const struct hl_conv *conv, int rows)
{
    if (hl_conv_is_f32(conv)) return kTfLiteOk;
    const TfLiteTensor *input = hl_input(ctx, node, desc->input);
    int x[4], w[4], none[1] = {0}, batches[1] = {hl_dim(input, 0)};
    for (int axis = 0; axis < 4; axis++) {
        x[axis] = hl_dim(input, axis);
        w[axis] = hl_dim(hl_input(ctx, node, desc->filter), axis);
    }
    if (w[0] > rows) w[0] = rows;
    bool hybrid = conv->mode == HL_CONV_HYBRID, widened = conv->mode != HL_CONV_INT16;
    int one_batch[3] = {x[1], x[2], x[3]};
    HL_TRY(hl_set_temporary(ctx, node, X_WIDE, kTfLiteInt16, false, widened ? 4 : 1, widened ? x : none));
    HL_TRY(hl_set_temporary(ctx, node, W_WIDE, kTfLiteInt16, false, 4, w));
    HL_TRY(hl_set_temporary(ctx, node, X_STORED, kTfLiteInt8, false, hybrid ? 3 : 1, hybrid ? one_batch : none));
    return hl_set_temporary(ctx, node, X_SCALES, kTfLiteFloat32, false, 1, hybrid ? batches : none);
}

void hl_conv_release(void *state)
{
    free(((struct hl_conv *)state)->rescales);
}

// ---- invoke -------------------------------------------------------------------------------------

static void quantize_input(TfLiteContext *ctx, TfLiteNode *node, const struct hl_conv *conv, const TfLiteTensor *input)
{
    int batches = hl_dim(input, 0);
    int64_t size = hl_product(input->dims, 1, hl_rank(input));
    int8_t *stored = HL_OUT(int8_t, hl_temporary(ctx, node, X_STORED));
    int16_t *wide = HL_OUT(int16_t, hl_temporary(ctx, node, X_WIDE));
    float *scales = HL_OUT(float, hl_temporary(ctx, node, X_SCALES));
    for (int b = 0; b < batches; b++) {
        const float *values = HL_IN(float, input) + b * size;
        int32_t zero;
        hl_quantize_row(hl_row_kernels(ctx), conv->asymmetric, values, size, stored, &scales[b], &zero);
        hl_widen(kTfLiteInt8, stored, 0, size, zero, wide + b * size);
    }
}

void hl_conv_start(TfLiteContext *ctx, TfLiteNode *node, const struct hl_conv_node *desc, const struct hl_conv *conv,
                   struct hl_conv_work *work)
{
    const TfLiteTensor *input = hl_input(ctx, node, desc->input);
    const TfLiteTensor *filter = hl_input(ctx, node, desc->filter);
    *work = (struct hl_conv_work){
        .conv = conv,
        .filter = filter,
        .bias = hl_input(ctx, node, desc->bias),
        .output = hl_output(ctx, node, 0),
    };
    if (hl_conv_is_f32(conv)) {
        work->x_f32 = HL_IN(float, input);
        return;
    }
    work->w_wide = HL_OUT(int16_t, hl_temporary(ctx, node, W_WIDE));
    if (conv->mode == HL_CONV_INT16) {
        work->x_wide = HL_IN(int16_t, input);
        return;
    }
    int16_t *wide = HL_OUT(int16_t, hl_temporary(ctx, node, X_WIDE));
    work->x_wide = wide;
    if (conv->mode == HL_CONV_HYBRID) {
        const TfLiteFloatArray *scales = hl_affine(filter)->scale;
        work->filter_scales = scales->data;
        work->filter_scale_step = scales->size > 1;
        work->input_scales = HL_IN(float, hl_temporary(ctx, node, X_SCALES));
        quantize_input(ctx, node, conv, input);
        return;
    }
    if (filter->type == kTfLiteUInt8) work->filter_zero = hl_zero(filter);
    hl_widen(input->type, hl_data(input), 0, hl_elements(input), hl_zero(input), wide);
}

union hl_conv_weights hl_conv_rows(const struct hl_conv_work *work, int64_t first, int64_t count)
{
    if (hl_conv_is_f32(work->conv)) return (union hl_conv_weights){.f32 = HL_IN(float, work->filter) + first};
    TfLiteType type = work->filter->type;
    if (work->conv->mode == HL_CONV_HYBRID && type == kTfLiteUInt8) type = kTfLiteInt8;
    hl_widen(type, hl_data(work->filter), first, count, work->filter_zero, work->w_wide);
    return (union hl_conv_weights){.wide = work->w_wide};
}

static void store_f32(const struct hl_conv_work *work, int channel, int count, const float *sums, float *out)
{
    const float *bias = work->bias ? HL_IN(float, work->bias) + channel : NULL;
    float low = work->conv->low_f32, high = work->conv->high_f32;
    for (int c = 0; c < count; c++) {
        float value = bias ? sums[c] + bias[c] : sums[c];
        out[c] = value < low ? low : value > high ? high : value;
    }
}

static void store_hybrid(const struct hl_conv_work *work, int batch, int channel, int count, const int64_t *sums,
                         float *out)
{
    const float *scales = work->filter_scales + channel * work->filter_scale_step;
    const float *bias = work->bias ? HL_IN(float, work->bias) + channel : NULL;
    float low = work->conv->low_f32, high = work->conv->high_f32;
    float input_scale = work->input_scales[batch];
    for (int c = 0; c < count; c++) {
        float value = (float)(int32_t)(uint32_t)sums[c];
        float scale = scales[c * work->filter_scale_step];
        value = work->conv->two_steps ? value * scale * input_scale : value * (scale * input_scale);
        if (bias) value += bias[c];
        out[c] = value < low ? low : value > high ? high : value;
    }
}

// The stored value of one output channel. Sums of 8-bit nodes wrap at 32 bits.
static int32_t stored_value(const struct hl_conv_work *work, int channel, int64_t sum)
{
    const struct hl_conv *conv = work->conv;
    struct hl_rescale rescale = conv->rescales[channel];
    int32_t scaled;
    if (work->bias && work->bias->type == kTfLiteInt32)
        sum = (int64_t)((uint64_t)sum + (uint64_t)HL_IN(int32_t, work->bias)[channel]);
    else if (work->bias)
        sum = (int64_t)((uint64_t)sum + (uint64_t)HL_IN(int64_t, work->bias)[channel]);
    if (conv->wide_sums)
        scaled = hl_rescale_apply_i64(sum, rescale);
    else
        scaled = hl_rescale_apply((int32_t)(uint32_t)(uint64_t)sum, rescale);
    int64_t value = (int64_t)scaled + hl_zero(work->output);
    return value < conv->low ? conv->low : value > conv->high ? conv->high : (int32_t)value;
}

void hl_conv_store(const struct hl_conv_work *work, int batch, int channel, int count, const void *sums, int64_t at)
{
    TfLiteTensor *output = work->output;
    const bool scaled = work->conv->mode == HL_CONV_HYBRID && work->conv->scaled_products;
    if (hl_conv_is_f32(work->conv) || scaled) {
        store_f32(work, channel, count, sums, HL_OUT(float, output) + at);
        return;
    }
    switch (work->conv->mode) {
    case HL_CONV_F32: return;
    case HL_CONV_HYBRID: store_hybrid(work, batch, channel, count, sums, HL_OUT(float, output) + at); return;
    case HL_CONV_8BIT: {
        // int8 and uint8 are both bytes.
        uint8_t *out = HL_OUT(uint8_t, output) + at;
        for (int c = 0; c < count; c++) out[c] = (uint8_t)stored_value(work, channel + c, ((const int64_t *)sums)[c]);
        return;
    }
    case HL_CONV_INT16: {
        int16_t *out = HL_OUT(int16_t, output) + at;
        for (int c = 0; c < count; c++) out[c] = (int16_t)stored_value(work, channel + c, ((const int64_t *)sums)[c]);
        return;
    }
    }
}
