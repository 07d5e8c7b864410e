// SPDX-License-Identifier: Apache-2.0
// ADD_N: y = x0 + x1 + … + xn, added in this order.
// in 0 to n, n >= 1: all of one type and shape; out 0: y of the same. float32, clamped to the
// largest finite number after each addition (NaN stays); int32, wraps around.
#include <float.h>
#include <limits.h>
#include <string.h>

#include "ops/op.h"

static TfLiteStatus add_n_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 2, INT_MAX, 1));
    const TfLiteTensor *first = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (first->type != kTfLiteFloat32 && first->type != kTfLiteInt32) return hl_unsupported_type(ctx, node, first);
    HL_REQUIRE(ctx, node, hl_same_type(first, y), "the output is %s, the inputs are %s", hl_type_name(y->type),
               hl_type_name(first->type));
    for (int i = 1; i < hl_input_count(node); i++) HL_TRY(hl_require_like_input_0(ctx, node, i));
    return hl_resize_like(ctx, y, first);
}

static void accumulate_f32(const float *x, float *y, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        float sum = y[i] + x[i];
        if (sum < -FLT_MAX) sum = -FLT_MAX;
        y[i] = FLT_MAX < sum ? FLT_MAX : sum;
    }
}

static void accumulate_i32(const int32_t *x, int32_t *y, int64_t count)
{
    for (int64_t i = 0; i < count; i++) y[i] = (int32_t)((uint32_t)y[i] + (uint32_t)x[i]);
}

static TfLiteStatus add_n_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *first = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    int64_t count = hl_elements(y);
    if (count == 0) return kTfLiteOk;
    memcpy(HL_OUT(char, y), HL_IN(char, first), hl_dense_bytes(y));
    for (int i = 1; i < hl_input_count(node); i++) {
        const TfLiteTensor *x = hl_input(ctx, node, i);
        if (y->type == kTfLiteFloat32)
            accumulate_f32(HL_IN(float, x), HL_OUT(float, y), count);
        else
            accumulate_i32(HL_IN(int32_t, x), HL_OUT(int32_t, y), count);
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_add_n = {
    .prepare = add_n_prepare,
    .invoke = add_n_invoke,
};
