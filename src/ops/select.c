// SPDX-License-Identifier: Apache-2.0
// SELECT, SELECT_V2: y = condition ? a : b.
// in 0: condition, bool, in 1: a, in 2: b of the same type; out 0: y of the same type. Any type of
// 1, 2, 4 or 8 bytes.
// SELECT: a and b have one shape; the condition has it too, or is a scalar, or has rank 1 and takes
// whole slices along the first axis. SELECT_V2: the three shapes broadcast.
// When all of them have one element, the output keeps the shape of the model.
#include "ops/select.h"

#include "fast/fast.h"

// ---- prepare ------------------------------------------------------------------------------------

static TfLiteStatus check(TfLiteContext *ctx, const TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 3, 3, 1));
    const TfLiteTensor *condition = hl_input(ctx, node, 0);
    const TfLiteTensor *a = hl_input(ctx, node, 1), *b = hl_input(ctx, node, 2);
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    HL_REQUIRE(ctx, node, condition->type == kTfLiteBool, "the condition is %s, it must be bool",
               hl_type_name(condition->type));
    HL_REQUIRE(ctx, node, hl_same_type(a, b), "the values to select from are %s and %s", hl_type_name(a->type),
               hl_type_name(b->type));
    HL_REQUIRE(ctx, node, hl_same_type(a, y), "the output is %s, the values are %s", hl_type_name(y->type),
               hl_type_name(a->type));
    size_t size = hl_type_size(a->type);
    bool supported = size == 1 || size == 2 || size == 4 || size == 8;
    return supported ? kTfLiteOk : hl_unsupported_type(ctx, node, a);
}

static bool has_one_element_each(TfLiteContext *ctx, const TfLiteNode *node)
{
    return hl_elements(hl_input(ctx, node, 0)) == 1 && hl_elements(hl_input(ctx, node, 1)) == 1 &&
           hl_elements(hl_input(ctx, node, 2)) == 1 && hl_elements(hl_output(ctx, node, 0)) == 1;
}

static TfLiteStatus keep_shape(TfLiteContext *ctx, TfLiteTensor *y)
{
    int rank = hl_rank(y), dims[HL_MAX_RANK];
    for (int axis = 0; axis < rank; axis++) dims[axis] = hl_dim(y, axis);
    return hl_resize(ctx, y, rank, dims);
}

static TfLiteStatus select_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(check(ctx, node));
    const TfLiteTensor *condition = hl_input(ctx, node, 0);
    const TfLiteTensor *a = hl_input(ctx, node, 1), *b = hl_input(ctx, node, 2);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (has_one_element_each(ctx, node)) return keep_shape(ctx, y);

    HL_REQUIRE(ctx, node, hl_same_shape(a, b), "the values to select from have different shapes");
    bool by_slice = hl_rank(condition) == 1 && hl_rank(a) >= 1 && hl_dim(condition, 0) == hl_dim(a, 0);
    HL_REQUIRE(ctx, node, hl_rank(condition) == 0 || by_slice || hl_same_shape(condition, a),
               "the condition must have the shape of the values, be a scalar, or have one value "
               "for each slice along the first axis");
    return hl_resize_like(ctx, y, a);
}

static TfLiteStatus select_v2_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(check(ctx, node));
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (has_one_element_each(ctx, node)) return keep_shape(ctx, y);

    int rank, dims[HL_MAX_RANK];
    HL_REQUIRE(ctx, node,
               hl_broadcast(hl_input(ctx, node, 0)->dims, hl_input(ctx, node, 1)->dims, hl_input(ctx, node, 2)->dims,
                            &rank, dims),
               "the inputs' shapes do not broadcast");
    return hl_resize(ctx, y, rank, dims);
}

// ---- invoke -------------------------------------------------------------------------------------

// Both values are read, so that compilers make vectors of the loops; those are for steps that they know. Beside one
// value it does not matter which of both that is, if the condition is turned.
#define SELECT_RUN(name, Type)                                                                                 \
    static inline void name##_by(const uint8_t *condition, bool turned, const Type *a, const Type *b, Type *y, \
                                 struct hl_select_steps s)                                                     \
    {                                                                                                          \
        HL_INDEPENDENT for (int i = 0; i < s.count; i++)                                                       \
        {                                                                                                      \
            const Type from_a = a[i * s.a], from_b = b[i * s.b];                                               \
            y[i] = (condition[i * s.condition] != 0) != turned ? from_a : from_b;                              \
        }                                                                                                      \
    }                                                                                                          \
    static void name(const uint8_t *condition, const void *a, const void *b, void *y,                          \
                     const struct hl_select_steps *steps)                                                      \
    {                                                                                                          \
        const struct hl_select_steps s = *steps;                                                               \
        const bool turned = s.a == 0;                                                                          \
        if (s.condition == 1 && s.a == 1 && s.b == 1)                                                          \
            name##_by(condition, false, a, b, y, (struct hl_select_steps){1, 1, 1, s.count});                  \
        else if (s.condition == 1 && s.a + s.b == 1)                                                           \
            name##_by(condition, turned, turned ? b : a, turned ? a : b, y,                                    \
                      (struct hl_select_steps){1, 1, 0, s.count});                                             \
        else                                                                                                   \
            name##_by(condition, false, a, b, y, s);                                                           \
    }
SELECT_RUN(select_8, uint8_t)
SELECT_RUN(select_16, uint16_t)
SELECT_RUN(select_32, uint32_t)
SELECT_RUN(select_64, uint64_t)

hl_select_run *hl_select_run_of(int64_t size)
{
    return size == 1 ? select_8 : size == 2 ? select_16 : size == 4 ? select_32 : select_64;
}

static void select_along(TfLiteContext *ctx, const TfLiteNode *node, struct hl_walk *walk)
{
    const TfLiteTensor *condition = hl_input(ctx, node, 0);
    const TfLiteTensor *a = hl_input(ctx, node, 1), *b = hl_input(ctx, node, 2);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    int64_t size = (int64_t)hl_type_size(y->type);
    struct hl_select_steps steps = {.count = hl_walk_run(walk)};
    if (walk->rank > 0) {
        steps.condition = walk->stride[0][walk->rank - 1];
        steps.a = walk->stride[1][walk->rank - 1];
        steps.b = walk->stride[2][walk->rank - 1];
    }
    hl_select_run *const run = hl_select_run_of(size);
    for (int64_t done = 0; done < walk->count; done += steps.count, hl_walk_skip_run(walk))
        run(HL_IN(uint8_t, condition) + walk->at[0], HL_IN(char, a) + walk->at[1] * size,
            HL_IN(char, b) + walk->at[2] * size, HL_OUT(char, y) + done * size, &steps);
}

static TfLiteStatus select_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *condition = hl_input(ctx, node, 0), *a = hl_input(ctx, node, 1);
    bool same_shape = hl_same_shape(condition, a), by_slice = hl_rank(condition) == 1;
    int64_t strides[3][HL_MAX_RANK];
    int64_t step = 1;
    for (int axis = hl_rank(a) - 1; axis >= 0; axis--) {
        strides[0][axis] = same_shape ? step : by_slice && axis == 0 ? 1 : 0;
        strides[1][axis] = step;
        strides[2][axis] = step;
        step *= hl_dim(a, axis);
    }
    struct hl_walk walk;
    hl_walk_start_strided(&walk, hl_rank(a), a->dims->data, 3, (const int64_t(*)[HL_MAX_RANK])strides);
    select_along(ctx, node, &walk);
    return kTfLiteOk;
}

static TfLiteStatus select_v2_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    struct hl_walk walk;
    hl_walk_start(&walk, hl_rank(y), y->dims->data, 3,
                  (const TfLiteIntArray *[]){hl_input(ctx, node, 0)->dims, hl_input(ctx, node, 1)->dims,
                                             hl_input(ctx, node, 2)->dims});
    select_along(ctx, node, &walk);
    return kTfLiteOk;
}

const struct hl_op hl_op_select = {
    .prepare = select_prepare,
    .invoke = select_invoke,
};

const struct hl_op hl_op_select_v2 = {
    .prepare = select_v2_prepare,
    .invoke = select_v2_invoke,
    .fast = &hl_fast_select,
};
