// SPDX-License-Identifier: Apache-2.0
// WHERE: the coordinates of the elements of x that are not 0 (NaN is not), in memory order.
// in 0: x, any rank but 0; bool, float32, int8, uint8, int32, uint32, int64.
// out 0: int64 [count, rank of x], whose shape is known before the node runs only if x is constant.
#include "ops/op.h"

static bool is_set(const TfLiteTensor *x, int64_t i)
{
    switch (x->type) {
    case kTfLiteFloat32: return HL_IN(float, x)[i] != 0;
    case kTfLiteInt32:
    case kTfLiteUInt32: return HL_IN(uint32_t, x)[i] != 0;
    case kTfLiteInt64: return HL_IN(uint64_t, x)[i] != 0;
    default: return HL_IN(uint8_t, x)[i] != 0;
    }
}

static TfLiteStatus resize_output(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    int64_t elements = hl_elements(x), found = 0;
    for (int64_t i = 0; i < elements; i++) found += is_set(x, i);
    int count;
    HL_REQUIRE(ctx, node, hl_to_int(found, &count), "%lld elements are too many to list", (long long)found);
    return hl_resize(ctx, hl_output(ctx, node, 0), 2, (const int[]){count, hl_rank(x)});
}

static TfLiteStatus where_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 1, 1, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    switch (x->type) {
    case kTfLiteBool:
    case kTfLiteFloat32:
    case kTfLiteInt8:
    case kTfLiteUInt8:
    case kTfLiteInt32:
    case kTfLiteUInt32:
    case kTfLiteInt64: break;
    default: return hl_unsupported_type(ctx, node, x);
    }
    HL_REQUIRE(ctx, node, y->type == kTfLiteInt64, "the output is %s, it must be int64", hl_type_name(y->type));
    HL_REQUIRE(ctx, node, hl_rank(x) > 0, "the input is a scalar, it has no coordinates");
    return hl_resize_when_known(ctx, node, y, hl_is_constant(x), resize_output);
}

static TfLiteStatus where_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (hl_is_dynamic(y)) HL_TRY(resize_output(ctx, node));

    int rank = hl_rank(x);
    int index[HL_MAX_RANK] = {0};
    int64_t *to = HL_OUT(int64_t, y);
    int64_t elements = hl_elements(x);
    for (int64_t i = 0; i < elements; i++) {
        if (is_set(x, i))
            for (int axis = 0; axis < rank; axis++) *to++ = index[axis];
        for (int axis = rank - 1; axis >= 0 && ++index[axis] == hl_dim(x, axis); axis--) index[axis] = 0;
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_where = {
    .prepare = where_prepare,
    .invoke = where_invoke,
};
