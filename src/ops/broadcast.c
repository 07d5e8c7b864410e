// SPDX-License-Identifier: Apache-2.0
// BROADCAST_TO: x stretched to a shape, numpy's way.
//     in 0: x, in 1: the shape, int32 or int64 [rank]; out 0: y of that shape
//     any type but string and the packed ones
// BROADCAST_ARGS: the shape that two shapes broadcast to.
//     in 0, in 1: shapes, both int32 or both int64, 1-D; out 0: the same, as long as the longer one
#include "ops/common/copy.h"

static TfLiteStatus check_shape(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *shape)
{
    HL_TRY(hl_require_int32_or_int64(ctx, node, shape, "shape"));
    HL_REQUIRE(ctx, node, hl_rank(shape) == 1, "a shape must have one dimension, not %d", hl_rank(shape));
    return kTfLiteOk;
}

// ---- BROADCAST_TO -------------------------------------------------------------------------------

static const uint32_t types = HL_PLAIN_TYPES | HL_TYPE(Complex128);

static TfLiteStatus resize(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    int rank, dims[HL_MAX_RANK];

    HL_TRY(hl_read_shape(ctx, node, hl_input(ctx, node, 1), 0, &rank, dims));
    HL_REQUIRE(ctx, node, rank >= hl_rank(x), "the input has %d dimensions, the shape only %d", hl_rank(x), rank);
    for (int axis = 0; axis < hl_rank(x); axis++) {
        const int wanted = dims[rank - hl_rank(x) + axis];
        HL_REQUIRE(ctx, node, hl_dim(x, axis) == 1 || hl_dim(x, axis) == wanted,
                   "dimension %d of the input, %d, does not stretch to %d", axis, hl_dim(x, axis), wanted);
    }
    return hl_resize(ctx, hl_output(ctx, node, 0), rank, dims);
}

static TfLiteStatus broadcast_to_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *shape = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);

    HL_TRY(hl_require_type_of_both(ctx, node, x, y, types));
    HL_TRY(check_shape(ctx, node, shape));
    return hl_resize_when_known(ctx, node, y, hl_is_constant(shape), resize);
}

static TfLiteStatus broadcast_to_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);

    if (hl_is_dynamic(y)) HL_TRY(resize(ctx, node));
    const int rank = hl_rank(y), first = rank - hl_rank(x);
    const struct hl_layout to = hl_row_major(rank, y->dims->data);
    const struct hl_layout whole = hl_row_major(hl_rank(x), x->dims->data);
    struct hl_layout from = {0};
    for (int axis = first; axis < rank; axis++)
        from.stride[axis] = hl_dim(x, axis - first) == 1 ? 0 : whole.stride[axis - first];
    hl_copy_shared(ctx, hl_type_bits(x->type), rank, y->dims->data, y->data.data, &to, hl_data(x), &from);
    return kTfLiteOk;
}

const struct hl_op hl_op_broadcast_to = {
    .prepare = broadcast_to_prepare,
    .invoke = broadcast_to_invoke,
};

// ---- BROADCAST_ARGS -----------------------------------------------------------------------------

// Dimension `axis` counted from the end; 1 before the beginning.
static int64_t dim_from_end(const TfLiteTensor *shape, int axis)
{
    const int length = hl_dim(shape, 0);
    return axis < length ? hl_integer_at(shape, length - 1 - axis) : 1;
}

static TfLiteStatus broadcast_args(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *a = hl_input(ctx, node, 0), *b = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    const int length = hl_dim(y, 0);

    for (int axis = 0; axis < length; axis++) {
        const int64_t from_a = dim_from_end(a, axis), from_b = dim_from_end(b, axis);
        HL_REQUIRE(ctx, node, from_a == from_b || from_a == 1 || from_b == 1,
                   "dimensions %lld and %lld do not broadcast", (long long)from_a, (long long)from_b);
        const int64_t dim = from_a == 1 ? from_b : from_a;
        if (y->type == kTfLiteInt32)
            HL_OUT(int32_t, y)[length - 1 - axis] = (int32_t)dim;
        else
            HL_OUT(int64_t, y)[length - 1 - axis] = dim;
    }
    return kTfLiteOk;
}

static TfLiteStatus broadcast_args_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    const TfLiteTensor *a = hl_input(ctx, node, 0), *b = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);

    HL_TRY(check_shape(ctx, node, a));
    HL_TRY(check_shape(ctx, node, b));
    HL_REQUIRE(ctx, node, hl_same_type(a, b) && hl_same_type(a, y), "inputs and output are %s, %s and %s",
               hl_type_name(a->type), hl_type_name(b->type), hl_type_name(y->type));
    const int length = hl_dim(a, 0) > hl_dim(b, 0) ? hl_dim(a, 0) : hl_dim(b, 0);
    return hl_resize_and_fold(ctx, node, y, 1, &length, broadcast_args);
}

static TfLiteStatus broadcast_args_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    return hl_invoke_unless_folded(ctx, node, broadcast_args);
}

const struct hl_op hl_op_broadcast_args = {
    .prepare = broadcast_args_prepare,
    .invoke = broadcast_args_invoke,
};
