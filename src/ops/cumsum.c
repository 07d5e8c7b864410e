// SPDX-License-Identifier: Apache-2.0
// CUMSUM: running sums along one dimension; exclusive: without the element itself; reverse: from
// the end.
// in 0: x of rank 1 or more, float32, int32 or int64; in 1: the dimension, one int32 in
// [-rank, rank); out 0: the shape and type of x. Integers wrap.
#include <string.h>

#include "ops/common/map.h"

static TfLiteStatus cumsum_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *axis = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (x->type != kTfLiteFloat32 && x->type != kTfLiteInt32 && x->type != kTfLiteInt64)
        return hl_unsupported_type(ctx, node, x);
    HL_TRY(hl_require_same_type(ctx, node, x, y));
    HL_REQUIRE(ctx, node, axis->type == kTfLiteInt32, "the axis is %s, must be int32", hl_type_name(axis->type));
    HL_REQUIRE(ctx, node, hl_elements(axis) == 1, "the axis has %lld elements, must have 1",
               (long long)hl_elements(axis));
    HL_REQUIRE(ctx, node, hl_rank(x) >= 1, "the input has no dimension");
    return hl_resize_like(ctx, y, x);
}

// One outer slice of rows * inner elements, added row by row from the first or the last row on. An
// exclusive sum lags a row behind.
#define CUMSUM_SLICE(name, type, sum_type)                                                                             \
    static void name(const type *x, type *y, int64_t rows, int64_t inner, const TfLiteCumsumParams *params)            \
    {                                                                                                                  \
        int64_t step = params->reverse ? -inner : inner;                                                               \
        int64_t at = params->reverse ? (rows - 1) * inner : 0;                                                         \
        int64_t lag = params->exclusive ? step : 0;                                                                    \
        for (int64_t row = 0; row < rows; row++, at += step) {                                                         \
            if (row == 0 && params->exclusive) {                                                                       \
                memset(y + at, 0, (size_t)inner * sizeof *y);                                                          \
            } else if (row == 0) {                                                                                     \
                memcpy(y + at, x + at, (size_t)inner * sizeof *y);                                                     \
            } else {                                                                                                   \
                for (int64_t i = at; i < at + inner; i++) y[i] = (type)((sum_type)y[i - step] + (sum_type)x[i - lag]); \
            }                                                                                                          \
        }                                                                                                              \
    }
CUMSUM_SLICE(cumsum_f32, float, float)
CUMSUM_SLICE(cumsum_i32, int32_t, uint32_t)
CUMSUM_SLICE(cumsum_i64, int64_t, uint64_t)

static TfLiteStatus cumsum_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    const TfLiteCumsumParams *params = node->builtin_data;
    int32_t given = HL_IN(int32_t, hl_input(ctx, node, 1))[0];
    int axis;
    HL_REQUIRE(ctx, node, hl_normalize_axis(given, hl_rank(x), &axis),
               "axis %d is not one of the input's %d dimensions", given, hl_rank(x));

    int64_t rows = hl_dim(x, axis), inner = hl_product(x->dims, axis + 1, hl_rank(x));
    int64_t count = hl_elements(x);
    for (int64_t at = 0; at < count; at += rows * inner) {
        if (x->type == kTfLiteFloat32)
            cumsum_f32(HL_IN(float, x) + at, HL_OUT(float, y) + at, rows, inner, params);
        else if (x->type == kTfLiteInt32)
            cumsum_i32(HL_IN(int32_t, x) + at, HL_OUT(int32_t, y) + at, rows, inner, params);
        else
            cumsum_i64(HL_IN(int64_t, x) + at, HL_OUT(int64_t, y) + at, rows, inner, params);
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_cumsum = {
    .prepare = cumsum_prepare,
    .invoke = cumsum_invoke,
};
