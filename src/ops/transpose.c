// SPDX-License-Identifier: Apache-2.0
// TRANSPOSE: dimension i of y is dimension perm[i] of x.
//     in 0: x [at most 8 dimensions], in 1: perm int32 [rank], negative entries count from the end
//     out 0: y. Any type of 1, 2, 4 or 8 bytes, int4, uint4
#include "ops/common/copy.h"

enum { MAX_DIMENSIONS = 8 };

static const uint32_t types = HL_PLAIN_TYPES | HL_TYPE(Int4) | HL_TYPE(UInt4);

// y's shape, and how its positions lie in x.
static TfLiteStatus permute(TfLiteContext *ctx, const TfLiteNode *node, int *dims, struct hl_layout *from)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *perm = hl_input(ctx, node, 1);
    const struct hl_layout whole = hl_row_major(hl_rank(x), x->dims->data);
    bool taken[MAX_DIMENSIONS] = {false};

    *from = (struct hl_layout){0};
    for (int i = 0; i < hl_rank(x); i++) {
        const int32_t entry = HL_IN(int32_t, perm)[i];
        int axis;
        HL_REQUIRE(ctx, node, hl_normalize_axis(entry, hl_rank(x), &axis),
                   "entry %d of the permutation, %d, is outside %d dimensions", i, (int)entry, hl_rank(x));
        HL_REQUIRE(ctx, node, !taken[axis], "the permutation has dimension %d twice", axis);
        taken[axis] = true;
        dims[i] = hl_dim(x, axis);
        from->stride[i] = whole.stride[axis];
    }
    return kTfLiteOk;
}

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *perm = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    struct hl_layout from;
    int dims[MAX_DIMENSIONS];

    HL_TRY(hl_require_type_of_both(ctx, node, x, y, types));
    HL_REQUIRE(ctx, node, hl_rank(x) <= MAX_DIMENSIONS, "the input has %d dimensions, more than %d", hl_rank(x),
               MAX_DIMENSIONS);
    HL_REQUIRE(ctx, node, perm->type == kTfLiteInt32, "the permutation must be int32, not %s",
               hl_type_name(perm->type));
    HL_REQUIRE(ctx, node, hl_rank(perm) == 1 && hl_dim(perm, 0) == hl_rank(x),
               "the permutation must have one entry for each of %d dimensions", hl_rank(x));
    if (!hl_is_constant(perm)) {
        hl_make_dynamic(y);
        return kTfLiteOk;
    }
    HL_TRY(permute(ctx, node, dims, &from));
    return hl_resize(ctx, y, hl_rank(x), dims);
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    const int rank = hl_rank(x);
    struct hl_layout from;
    int dims[MAX_DIMENSIONS];

    HL_TRY(permute(ctx, node, dims, &from));
    if (hl_is_dynamic(y)) HL_TRY(hl_resize(ctx, y, rank, dims));
    const struct hl_layout to = hl_row_major(rank, dims);
    hl_clear_packed(y);
    hl_copy_shared(ctx, hl_type_bits(x->type), rank, dims, y->data.data, &to, hl_data(x), &from);
    return kTfLiteOk;
}

const struct hl_op hl_op_transpose = {
    .prepare = prepare,
    .invoke = invoke,
    .order = HL_TRANSPOSES,
};
