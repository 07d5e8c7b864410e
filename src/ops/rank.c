// SPDX-License-Identifier: Apache-2.0
// SHAPE: the dimensions of x. RANK: how many they are.
//     in 0: x, any shape and type; out 0: SHAPE: int32 or int64 [rank], RANK: an int32 scalar
// Both are known as soon as the input's shape is: the output becomes constant in prepare, and so do
// shapes that are computed from it.
#include "ops/common/copy.h"

static TfLiteStatus shape_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 1, 1, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);

    HL_TRY(hl_require_int32_or_int64(ctx, node, y, "output"));
    hl_make_constant(y);
    HL_TRY(hl_resize(ctx, y, 1, &(int){hl_rank(x)}));
    for (int axis = 0; axis < hl_rank(x); axis++) {
        if (y->type == kTfLiteInt32)
            HL_OUT(int32_t, y)[axis] = hl_dim(x, axis);
        else
            HL_OUT(int64_t, y)[axis] = hl_dim(x, axis);
    }
    return kTfLiteOk;
}

static TfLiteStatus rank_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 1, 1, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);

    HL_REQUIRE(ctx, node, y->type == kTfLiteInt32, "the output must be int32, not %s", hl_type_name(y->type));
    hl_make_constant(y);
    HL_TRY(hl_resize(ctx, y, 0, NULL));
    HL_OUT(int32_t, y)[0] = hl_rank(x);
    return kTfLiteOk;
}

const struct hl_op hl_op_shape = {
    .prepare = shape_prepare,
    .invoke = hl_invoke_nothing,
};

const struct hl_op hl_op_rank = {
    .prepare = rank_prepare,
    .invoke = hl_invoke_nothing,
};
