// SPDX-License-Identifier: Apache-2.0
// RESHAPE, SQUEEZE, EXPAND_DIMS: the same elements under another shape.
//     RESHAPE: in 0: x, in 1 (may be absent): the new shape, used when it is int32 and 1-D; else
//         the options' shape, in which [0] is an old spelling of a scalar. One -1 is inferred.
//     SQUEEZE: in 0: x; drops the options' dimensions of 1; without any, all dimensions of 1.
//     EXPAND_DIMS: in 0: x, in 1: where a dimension of 1 goes, int32 or int64, one value.
// Any type. The output shares the input's memory where the planner can do that.
#include "ops/common/copy.h"
#include "ops/common/strings.h"

#include <string.h>

// ---- common -------------------------------------------------------------------------------------

enum { SAME_ELEMENTS = kTfLiteInplaceOpInput0Shared | kTfLiteInplaceOpDataUnmodified };

// After the output has its shape. Strings take as many bytes as they took before.
static TfLiteStatus copy_all(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *x, TfLiteTensor *y)
{
    if (hl_data(x) == hl_data(y)) return kTfLiteOk;
    if (y->type == kTfLiteString) HL_TRY(hl_resize_bytes(ctx, y, x->bytes));
    HL_REQUIRE(ctx, node, x->bytes >= y->bytes, "the input has %zu bytes, the output %zu", x->bytes, y->bytes);
    if (y->bytes > 0) memcpy(y->data.data, hl_data(x), y->bytes);
    return kTfLiteOk;
}

typedef TfLiteStatus find_shape(TfLiteContext *ctx, const TfLiteNode *node, int *rank, int *dims);

static TfLiteStatus resize(TfLiteContext *ctx, const TfLiteNode *node, find_shape *find)
{
    int rank, dims[HL_MAX_RANK];
    HL_TRY(find(ctx, node, &rank, dims));
    return hl_strings_resize(ctx, node, hl_output(ctx, node, 0), rank, dims);
}

static TfLiteStatus prepare(TfLiteContext *ctx, const TfLiteNode *node, find_shape *find, bool shape_is_known)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);

    HL_TRY(hl_require_same_type(ctx, node, x, y));
    if (!shape_is_known || y->type == kTfLiteString) {
        hl_make_dynamic(y);
        return kTfLiteOk;
    }
    const bool folds = hl_fold(ctx, node, y);
    HL_TRY(resize(ctx, node, find));
    return folds ? copy_all(ctx, node, x, y) : kTfLiteOk;
}

static TfLiteStatus invoke(TfLiteContext *ctx, const TfLiteNode *node, find_shape *find)
{
    TfLiteTensor *y = hl_output(ctx, node, 0);

    if (hl_is_constant(y)) return kTfLiteOk;
    if (hl_is_dynamic(y)) HL_TRY(resize(ctx, node, find));
    return copy_all(ctx, node, hl_input(ctx, node, 0), y);
}

// An operator whose output's shape symbol##_shape finds.
#define RESHAPING(symbol)                                                     \
    static TfLiteStatus symbol##_invoke(TfLiteContext *ctx, TfLiteNode *node) \
    {                                                                         \
        return invoke(ctx, node, symbol##_shape);                             \
    }                                                                         \
    const struct hl_op hl_op_##symbol = {                                     \
        .prepare = symbol##_prepare,                                          \
        .invoke = symbol##_invoke,                                            \
        .inplace = SAME_ELEMENTS,                                             \
    };

// ---- RESHAPE ------------------------------------------------------------------------------------

static const TfLiteTensor *shape_input(const TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *shape = hl_input_count(node) > 1 ? hl_input(ctx, node, 1) : NULL;
    return shape && shape->type == kTfLiteInt32 && hl_rank(shape) == 1 ? shape : NULL;
}

// The shape as asked for, -1 still in it.
static TfLiteStatus asked_shape(TfLiteContext *ctx, const TfLiteNode *node, int *rank, int *dims)
{
    const TfLiteReshapeParams *params = node->builtin_data;
    const TfLiteTensor *shape = shape_input(ctx, node);

    if (shape) return hl_read_shape(ctx, node, shape, -1, rank, dims);
    const int most = (int)(sizeof params->shape / sizeof *params->shape);
    HL_REQUIRE(ctx, node, params->num_dimensions >= 0 && params->num_dimensions <= most,
               "the options have a shape of %d dimensions", params->num_dimensions);
    *rank = params->num_dimensions;
    for (int axis = 0; axis < *rank; axis++) dims[axis] = params->shape[axis];
    if (*rank == 1 && dims[0] == 0) *rank = 0;
    return kTfLiteOk;
}

// Product of the dimensions that are above 0.
static bool multiply(int rank, const int *dims, int64_t *product)
{
    *product = 1;
    for (int axis = 0; axis < rank; axis++)
        if (dims[axis] > 0 && !hl_mul_i64(*product, dims[axis], product)) return false;
    return true;
}

static TfLiteStatus reshape_shape(TfLiteContext *ctx, const TfLiteNode *node, int *rank, int *dims)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    const int64_t elements = hl_elements(x);
    int64_t have = elements, known;
    int unknown = -1;
    bool empty = false;

    HL_TRY(asked_shape(ctx, node, rank, dims));
    for (int axis = 0; axis < *rank; axis++) {
        HL_REQUIRE(ctx, node, dims[axis] >= -1, "dimension %d of the shape is %d", axis, dims[axis]);
        HL_REQUIRE(ctx, node, dims[axis] >= 0 || unknown < 0, "dimensions %d and %d of the shape are both -1", unknown,
                   axis);
        if (dims[axis] == -1) unknown = axis;
        if (dims[axis] == 0) empty = true;
    }
    HL_REQUIRE(ctx, node, multiply(*rank, dims, &known), "the shape is too large");
    HL_REQUIRE(ctx, node, !empty || elements == 0, "%lld elements do not fill a shape with a 0", (long long)elements);
    if (unknown >= 0) {
        // Beside a 0, the unknown dimension makes the other dimensions agree.
        if (empty) multiply(hl_rank(x), x->dims->data, &have);
        HL_REQUIRE(ctx, node, have / known <= INT32_MAX, "dimension %d of the shape is too large", unknown);
        dims[unknown] = (int)(have / known);
        known *= have / known;
    }
    HL_REQUIRE(ctx, node, empty || known == elements, "%lld elements do not fill a shape of %lld", (long long)elements,
               (long long)known);
    return kTfLiteOk;
}

static TfLiteStatus reshape_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 1, 2, 1));
    const TfLiteTensor *shape = shape_input(ctx, node);
    return prepare(ctx, node, reshape_shape, !shape || hl_is_constant(shape));
}

RESHAPING(reshape)

// ---- SQUEEZE ------------------------------------------------------------------------------------

static TfLiteStatus squeeze_shape(TfLiteContext *ctx, const TfLiteNode *node, int *rank, int *dims)
{
    const TfLiteSqueezeParams *params = node->builtin_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    const int most = (int)(sizeof params->squeeze_dims / sizeof *params->squeeze_dims);
    bool drop[HL_MAX_RANK] = {false};

    HL_REQUIRE(ctx, node, params->num_squeeze_dims >= 0 && params->num_squeeze_dims <= most,
               "the options name %d dimensions", params->num_squeeze_dims);
    for (int i = 0; i < params->num_squeeze_dims; i++) {
        int axis;
        HL_REQUIRE(ctx, node, hl_normalize_axis(params->squeeze_dims[i], hl_rank(x), &axis), "there is no dimension %d",
                   params->squeeze_dims[i]);
        HL_REQUIRE(ctx, node, hl_dim(x, axis) == 1, "dimension %d is %d, not 1", axis, hl_dim(x, axis));
        drop[axis] = true;
    }
    *rank = 0;
    for (int axis = 0; axis < hl_rank(x); axis++) {
        bool dropped = params->num_squeeze_dims == 0 ? hl_dim(x, axis) == 1 : drop[axis];
        if (!dropped) dims[(*rank)++] = hl_dim(x, axis);
    }
    return kTfLiteOk;
}

static TfLiteStatus squeeze_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 1, 1, 1));
    const int rank = hl_rank(hl_input(ctx, node, 0));
    HL_REQUIRE(ctx, node, rank <= 8, "the input has %d dimensions, more than 8", rank);
    return prepare(ctx, node, squeeze_shape, true);
}

RESHAPING(squeeze)

// ---- EXPAND_DIMS --------------------------------------------------------------------------------

static TfLiteStatus expand_dims_shape(TfLiteContext *ctx, const TfLiteNode *node, int *rank, int *dims)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    const int64_t axis_value = hl_integer_at(hl_input(ctx, node, 1), 0);
    int axis;

    HL_REQUIRE(ctx, node, hl_rank(x) < HL_MAX_RANK, "the input has %d dimensions already", hl_rank(x));
    *rank = hl_rank(x) + 1;
    HL_REQUIRE(ctx, node, hl_normalize_axis(axis_value, *rank, &axis),
               "axis %lld is outside the %d dimensions of the output", (long long)axis_value, *rank);
    for (int i = 0; i < *rank; i++) dims[i] = i < axis ? hl_dim(x, i) : i == axis ? 1 : hl_dim(x, i - 1);
    return kTfLiteOk;
}

static TfLiteStatus expand_dims_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *axis = hl_input(ctx, node, 1);
    const TfLiteTensor *y = hl_output(ctx, node, 0);

    HL_TRY(hl_require_scalar(ctx, node, axis, "axis"));
    HL_REQUIRE(ctx, node, hl_same_quantization(x, y), "input and output are quantized differently");
    return prepare(ctx, node, expand_dims_shape, hl_is_constant(axis));
}

RESHAPING(expand_dims)
