// SPDX-License-Identifier: Apache-2.0
// FULLY_CONNECTED: y[m, n] = act(bias[n] + sum over k of x[m, k] * w[n, k]).
// in 0: x of any shape, read as rows of as many columns as w has (a rest that fills no row is left
// out); in 1: w [units, columns], dense or with compressed rows; in 2: bias [units], may be absent;
// out 0: y [rows, units], or x's shape with the last dimension replaced (keep_num_dims).
// float32; uint8, int8 and int16 activations with integer weights, requantized in double (int16
// weights: in fixed point); float32 activations with integer weights (hybrid: each row of x is
// quantized, scales of w may belong to blocks of columns); uint8 to int16 with weights shuffled
// into tiles of 4x16, which has the shuffled input as out 1.
#include <math.h>
#include <stdlib.h>

#include "fast/fast.h"
#include "ops/common/blockwise.h"
#include "ops/common/dot.h"
#include "ops/common/quant.h"
#include "ops/common/sparse_rows.h"
#include "ops/common/work.h"
#include "ops/fully_connected.h"

enum { X_WIDE, W_WIDE, W_DENSE, X_STORED, X_SCALES, TEMPORARIES };

// ---- prepare ------------------------------------------------------------------------------------

static bool is_packed(TfLiteType type)
{
    return type == kTfLiteInt4 || type == kTfLiteInt2;
}

// The mode for the types of input, weights and output; false where they do not go together.
static bool find_mode(const TfLiteFullyConnectedParams *params, TfLiteType x, TfLiteType w, TfLiteType y,
                      enum hl_fc_mode *mode)
{
    bool signed_weights = w == kTfLiteInt8 || is_packed(w);
    if (params->weights_format == kTfLiteFullyConnectedWeightsFormatShuffled4x16Int8) {
        *mode = HL_FC_SHUFFLED;
        return x == kTfLiteUInt8 && w == kTfLiteUInt8 && y == kTfLiteInt16;
    }
    switch (x) {
    case kTfLiteFloat32:
        *mode = w == kTfLiteFloat32 ? HL_FC_FLOAT : HL_FC_HYBRID;
        return (w == kTfLiteFloat32 || w == kTfLiteUInt8 || signed_weights) && y == kTfLiteFloat32;
    case kTfLiteUInt8: *mode = HL_FC_INTEGER; return w == kTfLiteUInt8 && (y == kTfLiteUInt8 || y == kTfLiteInt16);
    case kTfLiteInt8: *mode = HL_FC_INTEGER; return signed_weights && y == kTfLiteInt8;
    case kTfLiteInt16:
        *mode = w == kTfLiteInt16 ? HL_FC_FIXED_POINT : HL_FC_INTEGER;
        return (w == kTfLiteInt16 || signed_weights) && y == kTfLiteInt16;
    default: return false;
    }
}

static TfLiteStatus check_bias(TfLiteContext *ctx, TfLiteNode *node, const struct hl_fully_connected *op)
{
    const TfLiteTensor *bias = hl_input(ctx, node, 2);
    if (!bias) return kTfLiteOk;
    bool floats = op->mode == HL_FC_FLOAT || op->mode == HL_FC_HYBRID;
    bool fits = floats ? bias->type == kTfLiteFloat32 : bias->type == kTfLiteInt32 || bias->type == kTfLiteInt64;
    HL_REQUIRE(ctx, node, fits, "the bias is %s, it must be %s", hl_type_name(bias->type),
               floats ? "float32" : "int32 or int64");
    HL_REQUIRE(ctx, node, hl_elements(bias) == op->units, "a bias of %lld elements does not fit %d units",
               (long long)hl_elements(bias), op->units);
    return kTfLiteOk;
}

static TfLiteStatus check_activation(TfLiteContext *ctx, TfLiteNode *node, enum hl_fc_mode mode)
{
    const TfLiteFullyConnectedParams *params = node->builtin_data;
    bool clamps = params->activation == kTfLiteActNone || params->activation == kTfLiteActRelu ||
                  params->activation == kTfLiteActReluN1To1 || params->activation == kTfLiteActRelu6;
    bool function = params->activation == kTfLiteActTanh || params->activation == kTfLiteActSignBit ||
                    params->activation == kTfLiteActSigmoid;
    HL_REQUIRE(ctx, node, clamps || (mode == HL_FC_HYBRID && function),
               "fused activation %d is not supported for these types", (int)params->activation);
    return kTfLiteOk;
}

// Packed weights are symmetric, whatever they are multiplied with.
static TfLiteStatus check_packed_zero_points(TfLiteContext *ctx, TfLiteNode *node, const TfLiteTensor *filter)
{
    const TfLiteAffineQuantization *affine = hl_affine(filter);
    if (!is_packed(filter->type) || !affine || !affine->zero_point) return kTfLiteOk;
    for (int i = 0; i < affine->zero_point->size; i++)
        HL_REQUIRE(ctx, node, affine->zero_point->data[i] == 0, "zero point %d of %s weights, number %d, must be 0",
                   affine->zero_point->data[i], hl_type_name(filter->type), i);
    return kTfLiteOk;
}

static TfLiteStatus make_scales(TfLiteContext *ctx, TfLiteNode *node, struct hl_fully_connected *op, size_t count,
                                size_t size)
{
    free(op->scales);
    op->scales = hl_make_table(ctx, count, size);
    HL_REQUIRE(ctx, node, op->scales, "no memory for %zu scales", count);
    return kTfLiteOk;
}

// The scales of the weights: one in all or one per unit.
static TfLiteStatus find_filter_scales(TfLiteContext *ctx, TfLiteNode *node, const struct hl_fully_connected *op,
                                       const TfLiteFloatArray **scales)
{
    const TfLiteTensor *filter = hl_input(ctx, node, 1);
    const TfLiteAffineQuantization *affine = hl_affine(filter);
    HL_REQUIRE(ctx, node, affine && affine->scale && affine->scale->size >= 1, "the weights have no scale");
    *scales = affine->scale;
    int count = affine->scale->size;
    HL_REQUIRE(ctx, node, count == 1 || (count == op->units && affine->quantized_dimension == 0),
               "%d weight scales along dimension %d do not fit %d units", count, affine->quantized_dimension,
               op->units);
    for (int i = 0; i < count; i++)
        HL_REQUIRE(ctx, node, affine->scale->data[i] > 0 && isfinite(affine->scale->data[i]),
                   "weight scale %g must be positive and finite", (double)affine->scale->data[i]);
    return kTfLiteOk;
}

static TfLiteStatus check_quantized(TfLiteContext *ctx, TfLiteNode *node, const TfLiteTensor *tensor)
{
    bool wide = tensor->type == kTfLiteInt16;
    return wide ? hl_require_symmetric(ctx, node, tensor) : hl_require_quantized(ctx, node, tensor);
}

// With one scale for all weights the bias's scale must be the product of the input's and theirs.
static TfLiteStatus check_bias_scale(TfLiteContext *ctx, TfLiteNode *node, float product)
{
    const TfLiteTensor *bias = hl_input(ctx, node, 2);
    if (!bias) return kTfLiteOk;
    double difference = fabs((double)product - hl_scale(bias)) / hl_scale(hl_output(ctx, node, 0));
    HL_REQUIRE(ctx, node, difference <= 0.02, "bias scale %g differs from input scale times weight scale, %g",
               hl_scale(bias), (double)product);
    return kTfLiteOk;
}

static TfLiteStatus prepare_integer(TfLiteContext *ctx, TfLiteNode *node, struct hl_fully_connected *op)
{
    const TfLiteFullyConnectedParams *params = node->builtin_data;
    const TfLiteTensor *input = hl_input(ctx, node, 0), *filter = hl_input(ctx, node, 1);
    const TfLiteTensor *output = hl_output(ctx, node, 0);
    const TfLiteFloatArray *scales = NULL;
    HL_TRY(check_quantized(ctx, node, input));
    HL_TRY(check_quantized(ctx, node, output));
    HL_TRY(find_filter_scales(ctx, node, op, &scales));
    bool per_unit = scales->size > 1;
    op->filter_zero = 0;
    if (!per_unit) {
        HL_TRY(check_quantized(ctx, node, filter));
        HL_TRY(check_bias_scale(ctx, node, input->params.scale * scales->data[0]));
        op->filter_zero = hl_zero(filter);
    }
    hl_activation_range(params->activation, output, &op->low, &op->high);

    bool fixed = op->mode != HL_FC_INTEGER;
    HL_TRY(make_scales(ctx, node, op, (size_t)op->units, fixed ? sizeof(struct hl_rescale) : sizeof(double)));
    for (int n = 0; n < op->units; n++) {
        float scale = scales->data[per_unit ? n : 0];
        double product = hl_scale(input) * (double)scale;
        // The fixed-point form of one scale in all starts from a product in float.
        if (fixed && !per_unit) product = (double)(input->params.scale * scale);
        double real = product / hl_scale(output);
        if (fixed)
            ((struct hl_rescale *)op->scales)[n] = hl_rescale_from(real);
        else
            ((double *)op->scales)[n] = real;
    }
    return kTfLiteOk;
}

static TfLiteStatus prepare_blockwise(TfLiteContext *ctx, TfLiteNode *node, struct hl_fully_connected *op)
{
    struct hl_blocks blocks = {0};
    HL_TRY(hl_find_blocks(ctx, node, hl_input(ctx, node, 1), op->units, op->columns, &blocks));
    op->block = blocks.size;
    size_t count = (size_t)op->units * (size_t)(op->columns / op->block);
    HL_TRY(make_scales(ctx, node, op, count, sizeof(float)));
    for (size_t i = 0; i < count; i++) ((float *)op->scales)[i] = hl_half_to_float(blocks.scales[i]);
    return kTfLiteOk;
}

static TfLiteStatus prepare_hybrid(TfLiteContext *ctx, TfLiteNode *node, struct hl_fully_connected *op)
{
    if (hl_is_blockwise(hl_input(ctx, node, 1))) return prepare_blockwise(ctx, node, op);
    const TfLiteFloatArray *scales = NULL;
    HL_TRY(find_filter_scales(ctx, node, op, &scales));
    HL_TRY(make_scales(ctx, node, op, (size_t)op->units, sizeof(float)));
    for (int n = 0; n < op->units; n++) ((float *)op->scales)[n] = scales->data[scales->size > 1 ? n : 0];
    return kTfLiteOk;
}

static TfLiteStatus prepare_shuffled(TfLiteContext *ctx, TfLiteNode *node, struct hl_fully_connected *op)
{
    const TfLiteTensor *workspace = hl_output(ctx, node, 1);
    HL_REQUIRE(ctx, node, op->rows == 1 || op->rows == 4, "shuffled weights want 1 or 4 rows of input, there are %d",
               op->rows);
    HL_REQUIRE(ctx, node, op->units % 4 == 0 && op->columns % 16 == 0,
               "shuffled weights of %dx%d are not whole tiles of 4x16", op->units, op->columns);
    HL_REQUIRE(ctx, node, workspace->type == kTfLiteUInt8, "the shuffled input must be uint8");
    HL_REQUIRE(ctx, node, !hl_input(ctx, node, 1)->sparsity, "shuffled weights cannot be sparse");
    HL_TRY(prepare_integer(ctx, node, op));
    return hl_resize_like(ctx, hl_output(ctx, node, 1), hl_input(ctx, node, 0));
}

static TfLiteStatus set_scratch(TfLiteContext *ctx, TfLiteNode *node, const struct hl_fully_connected *op)
{
    const TfLiteTensor *input = hl_input(ctx, node, 0), *filter = hl_input(ctx, node, 1);
    bool hybrid = op->mode == HL_FC_HYBRID, integer = op->mode == HL_FC_INTEGER || op->mode == HL_FC_FIXED_POINT;
    bool widen_x = hybrid || (integer && input->type != kTfLiteInt16);
    int x[2] = {widen_x ? op->rows : 0, op->columns};
    int w[2] = {hybrid || integer ? HL_ADD_DOTS_ROWS : 0, op->columns};
    int dense[2] = {filter->sparsity ? HL_ADD_DOTS_ROWS : 0, op->columns};
    int stored[1] = {hybrid ? op->columns : 0}, scales[1] = {hybrid ? op->rows : 0};
    TfLiteType dense_type = filter->type == kTfLiteFloat32 ? kTfLiteFloat32 : kTfLiteInt8;
    HL_TRY(hl_set_temporary(ctx, node, X_WIDE, kTfLiteInt16, false, 2, x));
    HL_TRY(hl_set_temporary(ctx, node, W_WIDE, kTfLiteInt16, false, 2, w));
    HL_TRY(hl_set_temporary(ctx, node, W_DENSE, dense_type, false, 2, dense));
    HL_TRY(hl_set_temporary(ctx, node, X_STORED, kTfLiteInt8, false, 1, stored));
    return hl_set_temporary(ctx, node, X_SCALES, kTfLiteFloat32, false, 1, scales);
}

static TfLiteStatus set_output_shape(TfLiteContext *ctx, TfLiteNode *node, const struct hl_fully_connected *op)
{
    const TfLiteFullyConnectedParams *params = node->builtin_data;
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    TfLiteTensor *output = hl_output(ctx, node, 0);
    if (!params->keep_num_dims) return hl_resize(ctx, output, 2, (int[]){op->rows, op->units});
    int rank = hl_rank(input), dims[HL_MAX_RANK];
    HL_REQUIRE(ctx, node, rank > 0 && hl_dim(input, rank - 1) == op->columns,
               "the input's last dimension differs from the weights' %d columns", op->columns);
    for (int axis = 0; axis < rank; axis++) dims[axis] = hl_dim(input, axis);
    dims[rank - 1] = op->units;
    return hl_resize(ctx, output, rank, dims);
}

static TfLiteStatus fully_connected_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteFullyConnectedParams *params = node->builtin_data;
    struct hl_fully_connected *op = node->user_data;
    bool shuffled = params->weights_format != kTfLiteFullyConnectedWeightsFormatDefault;
    HL_TRY(hl_require_counts(ctx, node, 2, 3, shuffled ? 2 : 1));
    HL_TRY(hl_make_temporaries(ctx, node, TEMPORARIES));
    const TfLiteTensor *input = hl_input(ctx, node, 0), *filter = hl_input(ctx, node, 1);
    const TfLiteTensor *output = hl_output(ctx, node, 0);
    HL_REQUIRE(ctx, node, find_mode(params, input->type, filter->type, output->type, &op->mode),
               "%s input, %s weights and %s output do not go together", hl_type_name(input->type),
               hl_type_name(filter->type), hl_type_name(output->type));
    HL_REQUIRE(ctx, node, hl_rank(filter) == 2, "the weights have %d dimensions, they must have 2", hl_rank(filter));
    op->units = hl_dim(filter, 0);
    op->columns = op->block = hl_dim(filter, 1);
    HL_REQUIRE(ctx, node, op->columns > 0, "the weights have no columns");
    int64_t rows = hl_elements(input) / op->columns;
    HL_REQUIRE(ctx, node, rows <= HL_MAX_DIMENSION, "the input has too many rows of %d", op->columns);
    op->rows = (int)rows;
    HL_TRY(check_activation(ctx, node, op->mode));
    HL_TRY(check_bias(ctx, node, op));
    HL_TRY(hl_require_sparse_rows(ctx, node, filter));
    HL_TRY(check_packed_zero_points(ctx, node, filter));
    hl_activation_range_f32(params->activation, &op->low_f32, &op->high_f32);
    if (op->mode == HL_FC_INTEGER || op->mode == HL_FC_FIXED_POINT) HL_TRY(prepare_integer(ctx, node, op));
    if (op->mode == HL_FC_HYBRID) HL_TRY(prepare_hybrid(ctx, node, op));
    if (op->mode == HL_FC_SHUFFLED) HL_TRY(prepare_shuffled(ctx, node, op));
    HL_TRY(set_scratch(ctx, node, op));
    return set_output_shape(ctx, node, op);
}

static void fully_connected_release(void *state)
{
    free(((struct hl_fully_connected *)state)->scales);
}

// ---- weights ------------------------------------------------------------------------------------

static const float *rows_f32(TfLiteContext *ctx, TfLiteNode *node, const struct hl_fully_connected *op, int first,
                             int rows)
{
    const TfLiteTensor *filter = hl_input(ctx, node, 1);
    if (!filter->sparsity) return HL_IN(float, filter) + (int64_t)first * op->columns;
    float *dense = HL_OUT(float, hl_temporary(ctx, node, W_DENSE));
    hl_expand_sparse_rows(filter, op->columns, first, rows, dense);
    return dense;
}

static const int16_t *rows_wide(TfLiteContext *ctx, TfLiteNode *node, const struct hl_fully_connected *op, int first,
                                int rows)
{
    const TfLiteTensor *filter = hl_input(ctx, node, 1);
    int16_t *wide = HL_OUT(int16_t, hl_temporary(ctx, node, W_WIDE));
    int64_t count = (int64_t)rows * op->columns, at = (int64_t)first * op->columns;
    const void *data = hl_data(filter);
    TfLiteType type = filter->type;
    if (op->mode == HL_FC_HYBRID && type == kTfLiteUInt8) type = kTfLiteInt8; // as the original reads them
    if (filter->sparsity) {
        char *dense = HL_OUT(char, hl_temporary(ctx, node, W_DENSE));
        hl_expand_sparse_rows(filter, op->columns, first, rows, dense);
        data = dense;
        at = 0;
    }
    hl_widen(type, data, at, count, op->mode == HL_FC_HYBRID ? 0 : op->filter_zero, wide);
    return wide;
}

// ---- invoke -------------------------------------------------------------------------------------

static void run_f32(TfLiteContext *ctx, TfLiteNode *node, const struct hl_fully_connected *op)
{
    const float *x = HL_IN(float, hl_input(ctx, node, 0));
    const TfLiteTensor *bias = hl_input(ctx, node, 2);
    float *y = HL_OUT(float, hl_output(ctx, node, 0));
    if (op->columns == 0) x = (const float[]){0}; // rows of no elements still have an address
    for (int n = 0; n < op->units; n += HL_ADD_DOTS_ROWS) {
        int rows = op->units - n < HL_ADD_DOTS_ROWS ? op->units - n : HL_ADD_DOTS_ROWS;
        const float *w = rows_f32(ctx, node, op, n, rows);
        for (int64_t m = 0; m < op->rows; m++) {
            float sums[HL_ADD_DOTS_ROWS] = {0};
            hl_add_dots_f32(w, op->columns, rows, x + m * op->columns, op->columns, sums);
            for (int r = 0; r < rows; r++) {
                float value = bias ? sums[r] + HL_IN(float, bias)[n + r] : sums[r];
                y[m * op->units + n + r] = value < op->low_f32    ? op->low_f32
                                           : value > op->high_f32 ? op->high_f32
                                                                  : value;
            }
        }
    }
}

static int64_t add_bias(const TfLiteTensor *bias, int unit, int64_t sum)
{
    if (!bias) return sum;
    int64_t value = bias->type == kTfLiteInt32 ? HL_IN(int32_t, bias)[unit] : HL_IN(int64_t, bias)[unit];
    return (int64_t)((uint64_t)sum + (uint64_t)value);
}

// A sum of products as stored output value.
static int32_t requantize(const struct hl_fully_connected *op, const TfLiteTensor *bias, const TfLiteTensor *output,
                          int unit, int64_t sum)
{
    sum = add_bias(bias, unit, sum);
    if (op->mode == HL_FC_INTEGER) {
        double value = round((double)sum * ((const double *)op->scales)[unit]) + hl_zero(output);
        return value < op->low ? op->low : value > op->high ? op->high : (int32_t)value;
    }
    struct hl_rescale rescale = ((const struct hl_rescale *)op->scales)[unit];
    int32_t scaled = op->mode == HL_FC_FIXED_POINT ? hl_rescale_apply_i64(sum, rescale)
                                                   : hl_rescale_apply((int32_t)(uint32_t)(uint64_t)sum, rescale);
    int64_t value = (int64_t)scaled + hl_zero(output);
    return value < op->low ? op->low : value > op->high ? op->high : (int32_t)value;
}

static void store(TfLiteTensor *output, int64_t at, int32_t value)
{
    if (output->type == kTfLiteInt16)
        HL_OUT(int16_t, output)[at] = (int16_t)value;
    else
        HL_OUT(uint8_t, output)[at] = (uint8_t)value; // int8 and uint8 are both bytes
}

static void run_integer(TfLiteContext *ctx, TfLiteNode *node, const struct hl_fully_connected *op)
{
    const TfLiteTensor *input = hl_input(ctx, node, 0), *filter = hl_input(ctx, node, 1);
    const TfLiteTensor *bias = hl_input(ctx, node, 2);
    TfLiteTensor *output = hl_output(ctx, node, 0);
    const int16_t *x = HL_IN(int16_t, input);
    if (input->type != kTfLiteInt16) {
        int16_t *wide = HL_OUT(int16_t, hl_temporary(ctx, node, X_WIDE));
        hl_widen(input->type, hl_data(input), 0, (int64_t)op->rows * op->columns, hl_zero(input), wide);
        x = wide;
    }
    for (int n = 0; n < op->units; n += HL_ADD_DOTS_ROWS) {
        int rows = op->units - n < HL_ADD_DOTS_ROWS ? op->units - n : HL_ADD_DOTS_ROWS;
        const int16_t *w = rows_wide(ctx, node, op, n, rows);
        for (int64_t m = 0; m < op->rows; m++) {
            int64_t sums[HL_ADD_DOTS_ROWS] = {0};
            if (filter->type == kTfLiteInt16)
                hl_add_dots_i16_full(w, op->columns, rows, x + m * op->columns, op->columns, sums);
            else
                hl_add_dots_i16(w, op->columns, rows, x + m * op->columns, op->columns, sums);
            for (int r = 0; r < rows; r++)
                store(output, m * op->units + n + r, requantize(op, bias, output, n + r, sums[r]));
        }
    }
}

static float activate(TfLiteFusedActivation activation, float value)
{
    switch (activation) {
    case kTfLiteActRelu: return value < 0 ? 0 : value;
    case kTfLiteActReluN1To1: return value < -1 ? -1 : value > 1 ? 1 : value;
    case kTfLiteActRelu6: return value < 0 ? 0 : value > 6 ? 6 : value;
    case kTfLiteActTanh: return tanhf(value);
    case kTfLiteActSignBit: return signbit(value) ? 1 : 0;
    case kTfLiteActSigmoid: return 1 / (1 + expf(-value));
    default: return value;
    }
}

static void run_hybrid(TfLiteContext *ctx, TfLiteNode *node, const struct hl_fully_connected *op)
{
    const TfLiteFullyConnectedParams *params = node->builtin_data;
    const float *x = HL_IN(float, hl_input(ctx, node, 0));
    const TfLiteTensor *bias = hl_input(ctx, node, 2);
    float *y = HL_OUT(float, hl_output(ctx, node, 0));
    int16_t *wide = HL_OUT(int16_t, hl_temporary(ctx, node, X_WIDE));
    int8_t *stored = HL_OUT(int8_t, hl_temporary(ctx, node, X_STORED));
    float *x_scales = HL_OUT(float, hl_temporary(ctx, node, X_SCALES));
    for (int64_t m = 0; m < op->rows; m++) {
        int32_t zero;
        hl_quantize_row(hl_row_kernels(ctx), params->asymmetric_quantize_inputs, x + m * op->columns, op->columns,
                        stored, &x_scales[m], &zero);
        hl_widen(kTfLiteInt8, stored, 0, op->columns, zero, wide + m * op->columns);
    }

    int blocks = op->columns / op->block;
    for (int n = 0; n < op->units; n += HL_ADD_DOTS_ROWS) {
        int rows = op->units - n < HL_ADD_DOTS_ROWS ? op->units - n : HL_ADD_DOTS_ROWS;
        const int16_t *w = rows_wide(ctx, node, op, n, rows);
        for (int64_t m = 0; m < op->rows; m++) {
            float values[HL_ADD_DOTS_ROWS] = {0};
            if (bias) memcpy(values, HL_IN(float, bias) + n, (size_t)rows * sizeof *values);
            for (int b = 0; b < blocks; b++) {
                int64_t sums[HL_ADD_DOTS_ROWS] = {0}, at = (int64_t)b * op->block;
                const float *scales = (const float *)op->scales + (int64_t)n * blocks + b;
                hl_add_dots_i16(w + at, op->columns, rows, wide + m * op->columns + at, op->block, sums);
                for (int r = 0; r < rows; r++)
                    values[r] +=
                        (float)(int32_t)(uint32_t)(uint64_t)sums[r] * (x_scales[m] * scales[(int64_t)r * blocks]);
            }
            for (int r = 0; r < rows; r++) y[m * op->units + n + r] = activate(params->activation, values[r]);
        }
    }
}

// Weights come in tiles of 4 units by 16 columns, 128 added to each; the zero point of the input is
// 128 too. The input is shuffled alike, in tiles of as many rows as it has.
static void run_shuffled(TfLiteContext *ctx, TfLiteNode *node, const struct hl_fully_connected *op)
{
    const TfLiteTensor *bias = hl_input(ctx, node, 2);
    const uint8_t *x = HL_IN(uint8_t, hl_input(ctx, node, 0));
    const int8_t *w = HL_IN(int8_t, hl_input(ctx, node, 1));
    TfLiteTensor *output = hl_output(ctx, node, 0);
    uint8_t *shuffled = HL_OUT(uint8_t, hl_output(ctx, node, 1));
    for (int64_t k = 0; k < op->columns; k += 16)
        for (int64_t m = 0; m < op->rows; m++)
            for (int i = 0; i < 16; i++) *shuffled++ = x[m * op->columns + k + i] ^ 0x80;
    for (int n = 0; n < op->units; n++) {
        const int8_t *tiles = w + (int64_t)(n - n % 4) * op->columns + n % 4 * 16;
        for (int64_t m = 0; m < op->rows; m++) {
            int64_t sum = 0;
            for (int64_t k = 0; k < op->columns; k++)
                sum += (x[m * op->columns + k] - 128) * tiles[k / 16 * 64 + k % 16];
            store(output, m * op->units + n, requantize(op, bias, output, n, sum));
        }
    }
}

static TfLiteStatus fully_connected_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct hl_fully_connected *op = node->user_data;
    if (op->rows == 0 || op->units == 0) return kTfLiteOk;
    switch (op->mode) {
    case HL_FC_FLOAT: run_f32(ctx, node, op); break;
    case HL_FC_HYBRID: run_hybrid(ctx, node, op); break;
    case HL_FC_SHUFFLED: run_shuffled(ctx, node, op); break;
    default: run_integer(ctx, node, op); break;
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_fully_connected = {
    .sparse_inputs = 1 << 1,
    .state_size = sizeof(struct hl_fully_connected),
    .prepare = fully_connected_prepare,
    .invoke = fully_connected_invoke,
    .work = hl_work_of_filter,
    .release = fully_connected_release,
    .fast = &hl_fast_fully_connected,
};
