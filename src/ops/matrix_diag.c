// SPDX-License-Identifier: Apache-2.0
// MATRIX_DIAG: square matrices of zeros with x on the diagonal.
//     in 0: x [any.., n]; out 0: y [any.., n, n]
// MATRIX_SET_DIAG: matrices with another diagonal.
//     in 0: x [any.., rows, columns], in 1: diagonals [any.., the smaller of both]; out 0: y, as x
// float32 int8 uint8 int16 int32 uint32 int64. A zero is a stored 0, whatever the zero point.
#include "ops/common/copy.h"

#include <string.h>

static const uint32_t types = HL_TYPE(Float32) | HL_TYPE(Int8) | HL_TYPE(UInt8) | HL_TYPE(Int16) | HL_TYPE(Int32) |
                              HL_TYPE(UInt32) | HL_TYPE(Int64);

// Writes the diagonals of y's matrices.
static void set_diagonals(TfLiteTensor *y, const TfLiteTensor *diagonals)
{
    const int rank = hl_rank(diagonals), length = hl_dim(diagonals, rank - 1);
    const int rows = hl_dim(y, rank - 1), columns = hl_dim(y, rank);
    const int64_t matrices = hl_product(diagonals->dims, 0, rank - 1);
    const struct hl_layout from = {.stride = {length, 1}};
    const struct hl_layout to = {.stride = {(int64_t)rows * columns, (int64_t)columns + 1}};

    if (hl_elements(y) == 0) return;
    for (int64_t done = 0; done < matrices; done += INT32_MAX) {
        const int part = matrices - done < INT32_MAX ? (int)(matrices - done) : INT32_MAX;
        struct hl_layout from_part = from, to_part = to;
        from_part.offset = done * from.stride[0];
        to_part.offset = done * to.stride[0];
        hl_copy(hl_type_bits(y->type), 2, (const int[]){part, length}, y->data.data, &to_part, hl_data(diagonals),
                &from_part);
    }
}

static TfLiteStatus check_types(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *y = hl_output(ctx, node, 0);
    HL_TRY(hl_require_type_of_both(ctx, node, x, y, types));
    return kTfLiteOk;
}

// ---- MATRIX_DIAG --------------------------------------------------------------------------------

static TfLiteStatus matrix_diag_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 1, 1, 1));
    HL_TRY(check_types(ctx, node));
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    const int rank = hl_rank(x);
    int dims[HL_MAX_RANK];

    HL_REQUIRE(ctx, node, rank > 0 && rank < HL_MAX_RANK, "an input of %d dimensions has no diagonals", rank);
    for (int axis = 0; axis < rank; axis++) dims[axis] = hl_dim(x, axis);
    dims[rank] = dims[rank - 1];
    return hl_resize(ctx, hl_output(ctx, node, 0), rank + 1, dims);
}

static TfLiteStatus matrix_diag_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (y->bytes > 0) memset(y->data.data, 0, y->bytes);
    set_diagonals(y, hl_input(ctx, node, 0));
    return kTfLiteOk;
}

const struct hl_op hl_op_matrix_diag = {
    .prepare = matrix_diag_prepare,
    .invoke = matrix_diag_invoke,
};

// ---- MATRIX_SET_DIAG ----------------------------------------------------------------------------

static TfLiteStatus matrix_set_diag_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    HL_TRY(check_types(ctx, node));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *diagonals = hl_input(ctx, node, 1);
    const int rank = hl_rank(x);

    HL_REQUIRE(ctx, node, hl_same_type(x, diagonals), "the diagonals are %s, the input %s",
               hl_type_name(diagonals->type), hl_type_name(x->type));
    HL_REQUIRE(ctx, node, rank >= 2 && hl_rank(diagonals) == rank - 1,
               "diagonals of %d dimensions do not fit an input of %d", hl_rank(diagonals), rank);
    for (int axis = 0; axis < rank - 2; axis++)
        HL_REQUIRE(ctx, node, hl_dim(diagonals, axis) == hl_dim(x, axis),
                   "dimension %d is %d in the diagonals and %d in the input", axis, hl_dim(diagonals, axis),
                   hl_dim(x, axis));
    const int rows = hl_dim(x, rank - 2), columns = hl_dim(x, rank - 1);
    HL_REQUIRE(ctx, node, hl_dim(diagonals, rank - 2) == (rows < columns ? rows : columns),
               "a diagonal of %d does not fit a matrix of %d x %d", hl_dim(diagonals, rank - 2), rows, columns);
    return hl_resize_like(ctx, hl_output(ctx, node, 0), x);
}

static TfLiteStatus matrix_set_diag_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (y->bytes > 0) memcpy(y->data.data, hl_data(x), y->bytes);
    set_diagonals(y, hl_input(ctx, node, 1));
    return kTfLiteOk;
}

const struct hl_op hl_op_matrix_set_diag = {
    .prepare = matrix_set_diag_prepare,
    .invoke = matrix_set_diag_invoke,
};
