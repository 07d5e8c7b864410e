// SPDX-License-Identifier: Apache-2.0
// FILL: a tensor of one value.
//     in 0: its shape, int32 or int64 [rank], in 1: the value, a scalar; out 0: y
//     any type up to 8 bytes, string
// RANGE: start, start + step, start + 2 * step and so on, before limit.
//     in 0: start, in 1: limit, in 2: step, scalars; out 0: y [how many]
//     float32 (added up step by step) int32 int64
#include "ops/common/copy.h"
#include "ops/common/strings.h"

#include <math.h>

// ---- FILL ---------------------------------------------------------------------------------------

static const uint32_t fill_types = HL_PLAIN_TYPES | HL_TYPE(String);

static TfLiteStatus fill_resize(TfLiteContext *ctx, const TfLiteNode *node)
{
    int rank, dims[HL_MAX_RANK];
    HL_TRY(hl_read_shape(ctx, node, hl_input(ctx, node, 0), 0, &rank, dims));
    return hl_strings_resize(ctx, node, hl_output(ctx, node, 0), rank, dims);
}

static TfLiteStatus fill(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *value = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    const struct hl_layout standing = {0};

    if (y->type == kTfLiteString) return hl_strings_copy(ctx, node, hl_rank(y), y->dims->data, y, value, &standing);
    hl_fill(hl_type_bits(y->type), hl_elements(y), y->data.data, hl_data(value));
    return kTfLiteOk;
}

static TfLiteStatus fill_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    const TfLiteTensor *shape = hl_input(ctx, node, 0), *value = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);

    HL_TRY(hl_require_type_of_both(ctx, node, value, y, fill_types));
    HL_TRY(hl_require_int32_or_int64(ctx, node, shape, "shape"));
    HL_REQUIRE(ctx, node, hl_rank(shape) == 1, "the shape must have one dimension, not %d", hl_rank(shape));
    HL_REQUIRE(ctx, node, hl_same_quantization(value, y), "value and output are quantized differently");
    HL_REQUIRE(ctx, node, hl_rank(value) == 0, "the value must be a scalar, it has %d dimensions", hl_rank(value));
    if (!hl_is_constant(shape) || y->type == kTfLiteString) {
        hl_make_dynamic(y);
        return kTfLiteOk;
    }
    const bool folds = hl_fold(ctx, node, y);
    HL_TRY(fill_resize(ctx, node));
    return folds ? fill(ctx, node) : kTfLiteOk;
}

static TfLiteStatus fill_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    if (hl_is_constant(y)) return kTfLiteOk;
    if (hl_is_dynamic(y)) HL_TRY(fill_resize(ctx, node));
    return fill(ctx, node);
}

const struct hl_op hl_op_fill = {
    .prepare = fill_prepare,
    .invoke = fill_invoke,
};

// ---- RANGE --------------------------------------------------------------------------------------

static TfLiteStatus range_length_integer(TfLiteContext *ctx, const TfLiteNode *node, int *length)
{
    const int64_t start = hl_integer_at(hl_input(ctx, node, 0), 0);
    const int64_t limit = hl_integer_at(hl_input(ctx, node, 1), 0);
    const int64_t step = hl_integer_at(hl_input(ctx, node, 2), 0);

    HL_REQUIRE(ctx, node, step != 0, "the step must not be 0");
    HL_REQUIRE(ctx, node, step > 0 ? start <= limit : start >= limit, "%lld is not reached from %lld by steps of %lld",
               (long long)limit, (long long)start, (long long)step);
    const uint64_t distance = step > 0 ? (uint64_t)limit - (uint64_t)start : (uint64_t)start - (uint64_t)limit;
    const uint64_t stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    const uint64_t count = distance / stride + (distance % stride != 0);
    HL_REQUIRE(ctx, node, count <= INT32_MAX, "%llu values are too many", (unsigned long long)count);
    *length = (int)count;
    return kTfLiteOk;
}

static TfLiteStatus range_length_float(TfLiteContext *ctx, const TfLiteNode *node, int *length)
{
    const float start = *HL_IN(float, hl_input(ctx, node, 0));
    const float limit = *HL_IN(float, hl_input(ctx, node, 1));
    const float step = *HL_IN(float, hl_input(ctx, node, 2));

    HL_REQUIRE(ctx, node, (step > 0 && start <= limit) || (step < 0 && start >= limit),
               "%g is not reached from %g by steps of %g", (double)limit, (double)start, (double)step);
    const float count = ceilf(fabsf((limit - start) / step));
    HL_REQUIRE(ctx, node, count >= 0 && count < 2147483648.0f, "%g values are too many", (double)count);
    *length = (int)count;
    return kTfLiteOk;
}

static TfLiteStatus range_resize(TfLiteContext *ctx, const TfLiteNode *node)
{
    TfLiteTensor *y = hl_output(ctx, node, 0);
    int length = 0;
    if (y->type == kTfLiteFloat32)
        HL_TRY(range_length_float(ctx, node, &length));
    else
        HL_TRY(range_length_integer(ctx, node, &length));
    return hl_resize(ctx, y, 1, &length);
}

static TfLiteStatus range(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *first = hl_input(ctx, node, 0), *step = hl_input(ctx, node, 2);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    const int length = hl_dim(y, 0);

    if (y->type == kTfLiteFloat32) {
        float value = *HL_IN(float, first);
        for (int i = 0; i < length; i++, value += *HL_IN(float, step)) HL_OUT(float, y)[i] = value;
        return kTfLiteOk;
    }
    // Unsigned: the value after the last may not exist.
    uint64_t value = (uint64_t)hl_integer_at(first, 0);
    const uint64_t stride = (uint64_t)hl_integer_at(step, 0);
    for (int i = 0; i < length; i++, value += stride) {
        if (y->type == kTfLiteInt32)
            HL_OUT(int32_t, y)[i] = (int32_t)value;
        else
            HL_OUT(int64_t, y)[i] = (int64_t)value;
    }
    return kTfLiteOk;
}

static TfLiteStatus range_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 3, 3, 1));
    TfLiteTensor *y = hl_output(ctx, node, 0);
    bool known = true;

    if (!hl_type_in(y->type, HL_TYPE(Float32) | HL_TYPE(Int32) | HL_TYPE(Int64)))
        return hl_unsupported_type(ctx, node, y);
    for (int i = 0; i < 3; i++) {
        const TfLiteTensor *x = hl_input(ctx, node, i);
        HL_REQUIRE(ctx, node, hl_same_type(x, y), "input %d is %s, the output %s", i, hl_type_name(x->type),
                   hl_type_name(y->type));
        HL_REQUIRE(ctx, node, hl_rank(x) == 0, "input %d must be a scalar, it has %d dimensions", i, hl_rank(x));
        known = known && hl_is_constant(x);
    }
    if (!known) {
        hl_make_dynamic(y);
        return kTfLiteOk;
    }
    hl_make_constant(y);
    HL_TRY(range_resize(ctx, node));
    return range(ctx, node);
}

static TfLiteStatus range_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    if (hl_is_constant(hl_output(ctx, node, 0))) return kTfLiteOk;
    HL_TRY(range_resize(ctx, node));
    return range(ctx, node);
}

const struct hl_op hl_op_range = {
    .prepare = range_prepare,
    .invoke = range_invoke,
};
