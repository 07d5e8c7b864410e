// SPDX-License-Identifier: Apache-2.0
// SLICE: y[i] = x[begin + i].
//     in 0: x, in 1: begin, in 2: size: both int32 or both int64 [rank], size -1: to the end
//     out 0: y [size..]. Any type up to 8 bytes, string, int4
// DYNAMIC_UPDATE_SLICE: a copy of the operand in which a block is replaced.
//     in 0: operand, in 1: update, nowhere longer than the operand, in 2: start int32 or int64
//     [rank], moved so that the update lies inside; out 0: y, as the operand, and in its memory
//     where the planner can do that. Any type but string
#include "ops/common/copy.h"
#include "ops/common/strings.h"

#include <string.h>

static const uint32_t common_types = HL_PLAIN_TYPES | HL_TYPE(Int4);

// One int32 or int64 value for each dimension of x.
static TfLiteStatus check_positions(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *x,
                                    const TfLiteTensor *positions, const char *name)
{
    HL_TRY(hl_require_int32_or_int64(ctx, node, positions, name));
    HL_REQUIRE(ctx, node, hl_rank(positions) == 1 && hl_dim(positions, 0) == hl_rank(x),
               "%s must have one value for each of %d dimensions", name, hl_rank(x));
    return kTfLiteOk;
}

// ---- SLICE --------------------------------------------------------------------------------------

// The output's shape, and where in x it begins.
static TfLiteStatus find_slice(TfLiteContext *ctx, const TfLiteNode *node, int *dims, struct hl_layout *from)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    const TfLiteTensor *begins = hl_input(ctx, node, 1), *sizes = hl_input(ctx, node, 2);

    *from = hl_row_major(hl_rank(x), x->dims->data);
    for (int axis = 0; axis < hl_rank(x); axis++) {
        const int64_t begin = hl_integer_at(begins, axis), asked = hl_integer_at(sizes, axis);
        const int length = hl_dim(x, axis);
        HL_REQUIRE(ctx, node, begin >= 0 && begin <= length, "begin %lld is outside 0 to %d of axis %d",
                   (long long)begin, length, axis);
        HL_REQUIRE(ctx, node, asked >= -1 && asked <= length - begin,
                   "size %lld from %lld does not fit into %d along axis %d", (long long)asked, (long long)begin, length,
                   axis);
        dims[axis] = (int)(asked == -1 ? length - begin : asked);
        from->offset += begin * from->stride[axis];
    }
    return kTfLiteOk;
}

static TfLiteStatus copy_slice(TfLiteContext *ctx, const TfLiteNode *node, const int *dims,
                               const struct hl_layout *from)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    const struct hl_layout to = hl_row_major(hl_rank(x), dims);

    if (x->type == kTfLiteString) return hl_strings_copy(ctx, node, hl_rank(x), dims, y, x, from);
    hl_clear_packed(y);
    hl_copy_shared(ctx, hl_type_bits(x->type), hl_rank(x), dims, y->data.data, &to, hl_data(x), from);
    return kTfLiteOk;
}

static TfLiteStatus slice_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 3, 3, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    const TfLiteTensor *begin = hl_input(ctx, node, 1), *size = hl_input(ctx, node, 2);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    struct hl_layout from;
    int dims[HL_MAX_RANK];

    HL_TRY(hl_require_type_of_both(ctx, node, x, y, common_types | HL_TYPE(String)));
    HL_TRY(check_positions(ctx, node, x, begin, "begin"));
    HL_TRY(check_positions(ctx, node, x, size, "size"));
    HL_REQUIRE(ctx, node, hl_same_type(begin, size), "begin is %s, size %s", hl_type_name(begin->type),
               hl_type_name(size->type));
    if (!hl_is_constant(begin) || !hl_is_constant(size) || y->type == kTfLiteString) {
        hl_make_dynamic(y);
        return kTfLiteOk;
    }
    HL_TRY(find_slice(ctx, node, dims, &from));
    const bool folds = hl_fold(ctx, node, y);
    HL_TRY(hl_resize(ctx, y, hl_rank(x), dims));
    return folds ? copy_slice(ctx, node, dims, &from) : kTfLiteOk;
}

static TfLiteStatus slice_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    TfLiteTensor *y = hl_output(ctx, node, 0);
    struct hl_layout from;
    int dims[HL_MAX_RANK];

    if (hl_is_constant(y)) return kTfLiteOk;
    HL_TRY(find_slice(ctx, node, dims, &from));
    if (hl_is_dynamic(y)) HL_TRY(hl_strings_resize(ctx, node, y, hl_rank(hl_input(ctx, node, 0)), dims));
    return copy_slice(ctx, node, dims, &from);
}

const struct hl_op hl_op_slice = {
    .prepare = slice_prepare,
    .invoke = slice_invoke,
};

// ---- DYNAMIC_UPDATE_SLICE -----------------------------------------------------------------------

static TfLiteStatus update_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 3, 3, 1));
    const TfLiteTensor *operand = hl_input(ctx, node, 0), *update = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);

    if (!hl_type_in(operand->type, common_types | HL_TYPE(Complex128))) return hl_unsupported_type(ctx, node, operand);
    HL_REQUIRE(ctx, node, hl_same_type(operand, update) && hl_same_type(operand, y),
               "operand, update and output are %s, %s and %s", hl_type_name(operand->type), hl_type_name(update->type),
               hl_type_name(y->type));
    HL_REQUIRE(ctx, node, hl_rank(operand) <= 8, "the operand has %d dimensions, more than 8", hl_rank(operand));
    HL_TRY(check_positions(ctx, node, operand, hl_input(ctx, node, 2), "start"));
    HL_REQUIRE(ctx, node, hl_rank(update) == hl_rank(operand), "operand and update have %d and %d dimensions",
               hl_rank(operand), hl_rank(update));
    for (int axis = 0; axis < hl_rank(operand); axis++)
        HL_REQUIRE(ctx, node, hl_dim(update, axis) <= hl_dim(operand, axis),
                   "the update's %d along axis %d does not fit into %d", hl_dim(update, axis), axis,
                   hl_dim(operand, axis));
    return hl_resize_like(ctx, y, operand);
}

static TfLiteStatus update_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *operand = hl_input(ctx, node, 0), *update = hl_input(ctx, node, 1);
    const TfLiteTensor *starts = hl_input(ctx, node, 2);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    const int rank = hl_rank(operand);
    struct hl_layout to = hl_row_major(rank, y->dims->data);
    const struct hl_layout from = hl_row_major(rank, update->dims->data);

    if (hl_data(operand) != hl_data(y) && y->bytes > 0) memcpy(y->data.data, hl_data(operand), y->bytes);
    // The operand itself, written over itself.
    if (hl_data(update) == hl_data(y)) return kTfLiteOk;
    for (int axis = 0; axis < rank; axis++) {
        const int64_t start = hl_integer_at(starts, axis);
        const int64_t last = hl_dim(operand, axis) - hl_dim(update, axis);
        to.offset += (start < 0 ? 0 : start > last ? last : start) * to.stride[axis];
    }
    hl_copy_shared(ctx, hl_type_bits(y->type), rank, update->dims->data, y->data.data, &to, hl_data(update), &from);
    return kTfLiteOk;
}

const struct hl_op hl_op_dynamic_update_slice = {
    .prepare = update_prepare,
    .invoke = update_invoke,
    .inplace = kTfLiteInplaceOpInput0Shared,
};
