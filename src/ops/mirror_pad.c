// SPDX-License-Identifier: Apache-2.0
// MIRROR_PAD: x continued beyond its edges by its mirror image. The option's mode says whether the
// edge element is repeated: b a | a b c is SYMMETRIC, c b | a b c is REFLECT.
//     in 0: x, in 1: paddings [rank, 2] int32 or int64: positions before and after along each
//     dimension, at most its length (REFLECT: less than that); out 0: y
//     any type of 1, 2, 4 or 8 bytes
#include "ops/common/copy.h"

// How many elements at the edge are not repeated.
static int edge(const TfLiteNode *node)
{
    const TfLiteMirrorPaddingParams *params = node->builtin_data;
    return params->mode == kTfLiteMirrorPaddingReflect;
}

static TfLiteStatus find_borders(TfLiteContext *ctx, const TfLiteNode *node, int *before, int *dims)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *paddings = hl_input(ctx, node, 1);

    for (int axis = 0; axis < hl_rank(x); axis++) {
        const int64_t left = hl_integer_at(paddings, 2 * axis);
        const int64_t right = hl_integer_at(paddings, 2 * axis + 1);
        const int length = hl_dim(x, axis), most = length > 0 ? length - edge(node) : 0;
        HL_REQUIRE(ctx, node, left >= 0 && right >= 0, "paddings %lld and %lld of axis %d are negative",
                   (long long)left, (long long)right, axis);
        HL_REQUIRE(ctx, node, left <= most && right <= most,
                   "paddings %lld and %lld of axis %d are above %d, what can be mirrored of %d", (long long)left,
                   (long long)right, axis, most, length);
        HL_REQUIRE(ctx, node, hl_to_int(left + length + right, &dims[axis]), "axis %d becomes too long", axis);
        before[axis] = (int)left;
    }
    return kTfLiteOk;
}

static TfLiteStatus resize(TfLiteContext *ctx, const TfLiteNode *node)
{
    int before[HL_MAX_RANK], dims[HL_MAX_RANK];
    HL_TRY(find_borders(ctx, node, before, dims));
    return hl_resize(ctx, hl_output(ctx, node, 0), hl_rank(hl_input(ctx, node, 0)), dims);
}

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    const TfLiteMirrorPaddingParams *params = node->builtin_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0), *paddings = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);

    HL_TRY(hl_require_type_of_both(ctx, node, x, y, HL_PLAIN_TYPES));
    HL_REQUIRE(ctx, node, params->mode == kTfLiteMirrorPaddingReflect || params->mode == kTfLiteMirrorPaddingSymmetric,
               "there is no mode %d", (int)params->mode);
    HL_TRY(hl_require_int32_or_int64(ctx, node, paddings, "paddings"));
    HL_REQUIRE(ctx, node, hl_rank(paddings) == 2 && hl_dim(paddings, 0) == hl_rank(x) && hl_dim(paddings, 1) == 2,
               "the paddings must have shape [%d, 2]", hl_rank(x));
    return hl_resize_when_known(ctx, node, y, hl_is_constant(paddings), resize);
}

// Fills what lies before and after x along one axis, from y itself: the axes behind it are complete
// already. `start` is x's first row along the axis.
static void mirror_axis(const TfLiteTensor *x, TfLiteTensor *y, const struct hl_layout *layout, int axis, int64_t start,
                        int before, int skipped)
{
    const int bits = hl_type_bits(y->type), length = hl_dim(x, axis);
    const int after = hl_dim(y, axis) - before - length;
    const int64_t row = layout->stride[axis];
    void *data = y->data.data;
    struct hl_walk walk;

    if (row == 0 || (before == 0 && after == 0)) return;
    hl_walk_start_strided(&walk, axis, x->dims->data, 1, &layout->stride);
    for (int64_t i = 0; i < walk.count; i++, hl_walk_next(&walk)) {
        const int64_t first = start + walk.at[0], last = first + (length - 1) * row;
        for (int step = 1; step <= before; step++)
            hl_copy_run(bits, row, data, first - step * row, data, first + (step - 1 + skipped) * row);
        for (int step = 1; step <= after; step++)
            hl_copy_run(bits, row, data, last + step * row, data, last - (step - 1 + skipped) * row);
    }
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    const int rank = hl_rank(x);
    int before[HL_MAX_RANK], dims[HL_MAX_RANK];

    HL_TRY(find_borders(ctx, node, before, dims));
    if (hl_is_dynamic(y)) HL_TRY(hl_resize(ctx, y, rank, dims));
    const struct hl_layout from = hl_row_major(rank, x->dims->data);
    struct hl_layout to = hl_row_major(rank, dims);
    for (int axis = 0; axis < rank; axis++) to.offset += before[axis] * to.stride[axis];
    hl_copy_shared(ctx, hl_type_bits(x->type), rank, x->dims->data, y->data.data, &to, hl_data(x), &from);

    // Where x begins, with the axes behind the one at work at their own beginning.
    int64_t start = to.offset;
    for (int axis = rank - 1; axis >= 0; axis--) {
        mirror_axis(x, y, &to, axis, start, before[axis], edge(node));
        start -= before[axis] * to.stride[axis];
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_mirror_pad = {
    .prepare = prepare,
    .invoke = invoke,
};
