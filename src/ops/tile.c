// SPDX-License-Identifier: Apache-2.0
// TILE: y[i] = x[i mod x's dimensions]: x repeated along each dimension.
//     in 0: x, in 1: how many times, int32 or int64 [rank], 0 empties the output; out 0: y
//     any type up to 8 bytes, string
#include "ops/common/copy.h"
#include "ops/common/strings.h"

static const uint32_t types = HL_PLAIN_TYPES | HL_TYPE(String);

static TfLiteStatus resize(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *multiples = hl_input(ctx, node, 1);
    int dims[HL_MAX_RANK];

    for (int axis = 0; axis < hl_rank(x); axis++) {
        const int64_t multiple = hl_integer_at(multiples, axis);
        int64_t length;
        HL_REQUIRE(ctx, node, multiple >= 0, "multiple %lld of axis %d is negative", (long long)multiple, axis);
        HL_REQUIRE(ctx, node, hl_mul_i64(multiple, hl_dim(x, axis), &length) && hl_to_int(length, &dims[axis]),
                   "%lld times %d along axis %d is too long", (long long)multiple, hl_dim(x, axis), axis);
    }
    return hl_strings_resize(ctx, node, hl_output(ctx, node, 0), hl_rank(x), dims);
}

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *multiples = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);

    HL_TRY(hl_require_type_of_both(ctx, node, x, y, types));
    HL_TRY(hl_require_int32_or_int64(ctx, node, multiples, "multiples"));
    HL_REQUIRE(ctx, node, hl_rank(multiples) == 1 && hl_dim(multiples, 0) == hl_rank(x),
               "there must be one multiple for each of %d dimensions", hl_rank(x));
    return hl_resize_when_known(ctx, node, y, hl_is_constant(multiples) && y->type != kTfLiteString, resize);
}

// Each dimension that is repeated becomes two: the repetitions, which do not move in x, and the
// dimension itself.
static TfLiteStatus find_tiles(TfLiteContext *ctx, const TfLiteNode *node, int *rank, int *dims, struct hl_layout *from)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *y = hl_output(ctx, node, 0);
    const struct hl_layout whole = hl_row_major(hl_rank(x), x->dims->data);

    *rank = 0;
    *from = (struct hl_layout){0};
    if (hl_elements(y) == 0) {
        dims[(*rank)++] = 0;
        return kTfLiteOk;
    }
    for (int axis = 0; axis < hl_rank(x); axis++) {
        const int length = hl_dim(x, axis), repetitions = hl_dim(y, axis) / length;
        HL_REQUIRE(ctx, node, *rank <= HL_MAX_RANK - 2, "too many dimensions are repeated");
        if (repetitions != 1) dims[(*rank)++] = repetitions;
        if (length == 1) continue;
        from->stride[*rank] = whole.stride[axis];
        dims[(*rank)++] = length;
    }
    return kTfLiteOk;
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    struct hl_layout from;
    int rank, dims[HL_MAX_RANK];

    if (hl_is_dynamic(y)) HL_TRY(resize(ctx, node));
    HL_TRY(find_tiles(ctx, node, &rank, dims, &from));
    if (y->type == kTfLiteString) return hl_strings_copy(ctx, node, rank, dims, y, x, &from);
    const struct hl_layout to = hl_row_major(rank, dims);
    hl_copy_shared(ctx, hl_type_bits(x->type), rank, dims, y->data.data, &to, hl_data(x), &from);
    return kTfLiteOk;
}

const struct hl_op hl_op_tile = {
    .prepare = prepare,
    .invoke = invoke,
};
