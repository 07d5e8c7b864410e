// SPDX-License-Identifier: Apache-2.0
// SEGMENT_SUM: y[s] = the sum of the rows x[i] with ids[i] = s.
//     in 0: x [n, any..], in 1: ids int32 [n], from 0 rising by 0 or 1
//     out 0: y [last id + 1, any..]
// UNSORTED_SEGMENT_SUM, _PROD, _MAX, _MIN: the same with ids in any order.
//     in 0: x [rows.., any..], in 1: ids int32 [rows..], negative ones are left out
//     in 2: number of segments, int32, above every id; out 0: y [number, any..]
//     An empty segment holds what changes nothing: 0, 1, the lowest or highest finite value.
// float32 int32 (sums and products wrap).
#include "ops/common/copy.h"

#include <float.h>

// ---- rows ---------------------------------------------------------------------------------------

enum combination { SUM, PROD, MAX, MIN };

#define DEFINE_COMBINE(name, type, expression)                          \
    static void name(type *to, const type *from, int64_t count)         \
    {                                                                   \
        for (int64_t i = 0; i < count; i++) to[i] = (type)(expression); \
    }
DEFINE_COMBINE(sum_f32, float, to[i] + from[i])
DEFINE_COMBINE(prod_f32, float, to[i] * from[i])
DEFINE_COMBINE(max_f32, float, to[i] < from[i] ? from[i] : to[i])
DEFINE_COMBINE(min_f32, float, from[i] < to[i] ? from[i] : to[i])
DEFINE_COMBINE(sum_i32, int32_t, (uint32_t)to[i] + (uint32_t)from[i])
DEFINE_COMBINE(prod_i32, int32_t, (uint32_t)to[i] * (uint32_t)from[i])
DEFINE_COMBINE(max_i32, int32_t, to[i] < from[i] ? from[i] : to[i])
DEFINE_COMBINE(min_i32, int32_t, from[i] < to[i] ? from[i] : to[i])

static void (*const combine_f32[])(float *, const float *, int64_t) = {sum_f32, prod_f32, max_f32, min_f32};
static void (*const combine_i32[])(int32_t *, const int32_t *, int64_t) = {sum_i32, prod_i32, max_i32, min_i32};
static const float nothing_f32[] = {0.0f, 1.0f, -FLT_MAX, FLT_MAX};
static const int32_t nothing_i32[] = {0, 1, INT32_MIN, INT32_MAX};

// All rows of x, one for each id, into the output's. The ids lie below the output's first
// dimension.
static void combine_rows(TfLiteContext *ctx, const TfLiteNode *node, enum combination how)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *ids = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    const int64_t rows = hl_elements(ids), length = hl_product(y->dims, 1, hl_rank(y));
    const bool is_float = y->type == kTfLiteFloat32;

    hl_fill(32, hl_elements(y), y->data.data,
            is_float ? (const void *)&nothing_f32[how] : (const void *)&nothing_i32[how]);
    if (length == 0) return;
    for (int64_t row = 0; row < rows; row++) {
        const int32_t id = HL_IN(int32_t, ids)[row];
        if (id < 0) continue;
        if (is_float)
            combine_f32[how](HL_OUT(float, y) + id * length, HL_IN(float, x) + row * length, length);
        else
            combine_i32[how](HL_OUT(int32_t, y) + id * length, HL_IN(int32_t, x) + row * length, length);
    }
}

static TfLiteStatus check_types(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *ids = hl_input(ctx, node, 1);
    const TfLiteTensor *y = hl_output(ctx, node, 0);

    HL_TRY(hl_require_type_of_both(ctx, node, x, y, HL_TYPE(Float32) | HL_TYPE(Int32)));
    HL_REQUIRE(ctx, node, ids->type == kTfLiteInt32, "the ids must be int32, not %s", hl_type_name(ids->type));
    return kTfLiteOk;
}

// ---- SEGMENT_SUM --------------------------------------------------------------------------------

static TfLiteStatus sorted_resize(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *ids = hl_input(ctx, node, 1);
    const int32_t *data = HL_IN(int32_t, ids);
    int dims[HL_MAX_RANK], segments = 0;

    for (int i = 0; i < hl_dim(ids, 0); i++) {
        HL_REQUIRE(ctx, node, data[i] == segments || (i > 0 && data[i] == segments - 1),
                   "id %d is %d, not %d or one less", i, (int)data[i], segments);
        segments = data[i] + 1;
    }
    dims[0] = segments;
    for (int axis = 1; axis < hl_rank(x); axis++) dims[axis] = hl_dim(x, axis);
    return hl_resize(ctx, hl_output(ctx, node, 0), hl_rank(x), dims);
}

static TfLiteStatus sorted_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    HL_TRY(check_types(ctx, node));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *ids = hl_input(ctx, node, 1);

    HL_REQUIRE(ctx, node, hl_rank(x) > 0 && hl_rank(ids) == 1 && hl_dim(ids, 0) == hl_dim(x, 0),
               "there must be one id for each row of the input");
    if (hl_is_constant(ids)) return sorted_resize(ctx, node);
    hl_make_dynamic(hl_output(ctx, node, 0));
    return kTfLiteOk;
}

static TfLiteStatus sorted_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    if (hl_is_dynamic(hl_output(ctx, node, 0))) HL_TRY(sorted_resize(ctx, node));
    combine_rows(ctx, node, SUM);
    return kTfLiteOk;
}

const struct hl_op hl_op_segment_sum = {
    .prepare = sorted_prepare,
    .invoke = sorted_invoke,
};

// ---- UNSORTED_SEGMENT_… -------------------------------------------------------------------------

static TfLiteStatus unsorted_resize(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *ids = hl_input(ctx, node, 1);
    const int segments = HL_IN(int32_t, hl_input(ctx, node, 2))[0];
    int rank = 0, dims[HL_MAX_RANK];

    HL_REQUIRE(ctx, node, segments >= 0, "%d segments are not possible", segments);
    dims[rank++] = segments;
    for (int axis = hl_rank(ids); axis < hl_rank(x); axis++) dims[rank++] = hl_dim(x, axis);
    return hl_resize(ctx, hl_output(ctx, node, 0), rank, dims);
}

static TfLiteStatus unsorted_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 3, 3, 1));
    HL_TRY(check_types(ctx, node));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *ids = hl_input(ctx, node, 1);
    const TfLiteTensor *segments = hl_input(ctx, node, 2);

    HL_REQUIRE(ctx, node, segments->type == kTfLiteInt32 && hl_elements(segments) == 1,
               "the number of segments must be one int32 value");
    HL_REQUIRE(ctx, node, hl_rank(ids) <= hl_rank(x) && hl_rank(x) - hl_rank(ids) < HL_MAX_RANK,
               "ids of %d dimensions do not fit an input of %d", hl_rank(ids), hl_rank(x));
    for (int axis = 0; axis < hl_rank(ids); axis++)
        HL_REQUIRE(ctx, node, hl_dim(ids, axis) == hl_dim(x, axis), "dimension %d is %d in the ids and %d in the input",
                   axis, hl_dim(ids, axis), hl_dim(x, axis));
    if (hl_is_constant(segments)) return unsorted_resize(ctx, node);
    hl_make_dynamic(hl_output(ctx, node, 0));
    return kTfLiteOk;
}

static TfLiteStatus unsorted_invoke(TfLiteContext *ctx, const TfLiteNode *node, enum combination how)
{
    const TfLiteTensor *ids = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);

    if (hl_is_dynamic(y)) HL_TRY(unsorted_resize(ctx, node));
    const int64_t rows = hl_elements(ids);
    for (int64_t row = 0; row < rows; row++)
        HL_REQUIRE(ctx, node, HL_IN(int32_t, ids)[row] < hl_dim(y, 0), "id %lld is %d, of %d segments", (long long)row,
                   (int)HL_IN(int32_t, ids)[row], hl_dim(y, 0));
    combine_rows(ctx, node, how);
    return kTfLiteOk;
}

#define DEFINE_UNSORTED(name, how)                                                     \
    static TfLiteStatus unsorted_##name##_invoke(TfLiteContext *ctx, TfLiteNode *node) \
    {                                                                                  \
        return unsorted_invoke(ctx, node, how);                                        \
    }                                                                                  \
    const struct hl_op hl_op_unsorted_segment_##name = {                               \
        .prepare = unsorted_prepare,                                                   \
        .invoke = unsorted_##name##_invoke,                                            \
    };
DEFINE_UNSORTED(sum, SUM)
DEFINE_UNSORTED(prod, PROD)
DEFINE_UNSORTED(max, MAX)
DEFINE_UNSORTED(min, MIN)
