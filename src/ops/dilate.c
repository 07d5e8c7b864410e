// SPDX-License-Identifier: Apache-2.0
// DILATE: y[i0 d0, i1 d1, ..] = x[i0, i1, ..], between them the padding value.
// in 0: x, rank 1 or more, in 1: d, int32 [rank], at least 1, in 2: padding value, one element of x's type;
// out 0: y [(n0 - 1) d0 + 1, ..]. Any type of whole bytes.
#include "ops/common/copy.h"

static TfLiteStatus shape_output(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    const int32_t *dilations = HL_IN(int32_t, hl_input(ctx, node, 1));
    int dims[HL_MAX_RANK];
    for (int axis = 0; axis < hl_rank(x); axis++) {
        HL_REQUIRE(ctx, node, dilations[axis] >= 1, "dilation %d of dimension %d must be positive",
                   (int)dilations[axis], axis);
        int64_t length = hl_dim(x, axis) ? ((int64_t)hl_dim(x, axis) - 1) * dilations[axis] + 1 : 0;
        HL_REQUIRE(ctx, node, length <= INT32_MAX, "dimension %d becomes too long: %lld", axis, (long long)length);
        dims[axis] = (int)length;
    }
    return hl_resize(ctx, hl_output(ctx, node, 0), hl_rank(x), dims);
}

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 3, 3, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *dilations = hl_input(ctx, node, 1),
                       *padding = hl_input(ctx, node, 2);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (hl_type_bits(x->type) < 8) return hl_unsupported_type(ctx, node, x);
    HL_REQUIRE(ctx, node, hl_same_type(x, y) && hl_same_type(x, padding),
               "input, padding value and output differ in type");
    HL_REQUIRE(ctx, node, hl_rank(x) >= 1, "the input must have a dimension");
    HL_REQUIRE(ctx, node, dilations->type == kTfLiteInt32, "the dilations are %s, they must be int32",
               hl_type_name(dilations->type));
    HL_REQUIRE(ctx, node, hl_rank(dilations) == 1 && hl_dim(dilations, 0) == hl_rank(x),
               "there must be a dilation for each of %d dimensions", hl_rank(x));
    HL_REQUIRE(ctx, node, hl_elements(padding) == 1, "the padding value has %lld elements instead of one",
               (long long)hl_elements(padding));
    return hl_resize_when_known(ctx, node, y, hl_is_constant(dilations), shape_output);
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (hl_is_dynamic(y)) HL_TRY(shape_output(ctx, node));
    if (hl_elements(y) == 0) return kTfLiteOk;
    int bits = hl_type_bits(x->type), rank = hl_rank(x);
    const int32_t *dilations = HL_IN(int32_t, hl_input(ctx, node, 1));
    struct hl_layout from = hl_row_major(rank, x->dims->data), to = hl_row_major(rank, y->dims->data);
    for (int axis = 0; axis < rank; axis++) to.stride[axis] *= dilations[axis];
    hl_fill(bits, hl_elements(y), y->data.raw, hl_data(hl_input(ctx, node, 2)));
    hl_copy_shared(ctx, bits, rank, x->dims->data, y->data.raw, &to, hl_data(x), &from);
    return kTfLiteOk;
}

const struct hl_op hl_op_dilate = {
    .prepare = prepare,
    .invoke = invoke,
};
