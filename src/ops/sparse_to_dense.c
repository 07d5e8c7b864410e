// SPDX-License-Identifier: Apache-2.0
// SPARSE_TO_DENSE: a tensor of the default value in which some elements are set.
//     in 0: indices int32 or int64 [count, dimensions], [count] of one dimension, or one of them
//     in 1: y's shape, int32 or int64, at most 4 dimensions
//     in 2: values [count], or one for all; in 3: the default value
//     out 0: y. float32 int8 uint8 int32 int64
// Of repeated indices the last one counts.
#include "ops/common/copy.h"

enum { MAX_DIMENSIONS = 4 };

static const uint32_t types = HL_TYPE(Float32) | HL_TYPE(Int8) | HL_TYPE(UInt8) | HL_TYPE(Int32) | HL_TYPE(Int64);

static int index_count(const TfLiteTensor *indices)
{
    return hl_rank(indices) == 0 ? 1 : hl_dim(indices, 0);
}

static int index_depth(const TfLiteTensor *indices)
{
    return hl_rank(indices) == 2 ? hl_dim(indices, 1) : 1;
}

static TfLiteStatus resize(TfLiteContext *ctx, const TfLiteNode *node)
{
    return hl_resize_to_input(ctx, node, 1);
}

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 4, 4, 1));
    const TfLiteTensor *indices = hl_input(ctx, node, 0), *shape = hl_input(ctx, node, 1);
    const TfLiteTensor *values = hl_input(ctx, node, 2), *standard = hl_input(ctx, node, 3);
    TfLiteTensor *y = hl_output(ctx, node, 0);

    if (!hl_type_in(y->type, types)) return hl_unsupported_type(ctx, node, y);
    HL_REQUIRE(ctx, node, hl_same_type(values, y) && hl_same_type(standard, y),
               "values, default and output are %s, %s and %s", hl_type_name(values->type), hl_type_name(standard->type),
               hl_type_name(y->type));
    HL_TRY(hl_require_int32_or_int64(ctx, node, indices, "indices"));
    HL_TRY(hl_require_int32_or_int64(ctx, node, shape, "shape"));
    HL_REQUIRE(ctx, node, hl_rank(indices) <= 2, "the indices have %d dimensions, more than 2", hl_rank(indices));
    HL_REQUIRE(ctx, node, hl_rank(shape) == 1 && hl_dim(shape, 0) <= MAX_DIMENSIONS,
               "the shape must have at most %d entries", MAX_DIMENSIONS);
    HL_REQUIRE(ctx, node, index_depth(indices) == hl_dim(shape, 0), "indices of %d positions for %d dimensions",
               index_depth(indices), hl_dim(shape, 0));
    HL_REQUIRE(ctx, node, hl_elements(standard) == 1, "the default must be one value, not %lld",
               (long long)hl_elements(standard));
    HL_REQUIRE(ctx, node, hl_rank(values) == 0 || (hl_rank(values) == 1 && hl_dim(values, 0) == index_count(indices)),
               "there must be %d values, or a scalar", index_count(indices));
    return hl_resize_when_known(ctx, node, y, hl_is_constant(shape), resize);
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *indices = hl_input(ctx, node, 0), *values = hl_input(ctx, node, 2);
    TfLiteTensor *y = hl_output(ctx, node, 0);

    if (hl_is_dynamic(y)) HL_TRY(resize(ctx, node));
    const int count = index_count(indices), depth = index_depth(indices);
    const int bits = hl_type_bits(y->type);
    hl_fill(bits, hl_elements(y), y->data.data, hl_data(hl_input(ctx, node, 3)));
    for (int i = 0; i < count; i++) {
        int64_t at = 0;
        for (int axis = 0; axis < depth; axis++) {
            const int64_t index = hl_integer_at(indices, (int64_t)i * depth + axis);
            HL_REQUIRE(ctx, node, index >= 0 && index < hl_dim(y, axis),
                       "index %lld of row %d is outside dimension %d, which is %d", (long long)index, i, axis,
                       hl_dim(y, axis));
            at = at * hl_dim(y, axis) + index;
        }
        hl_copy_run(bits, 1, y->data.data, at, hl_data(values), hl_rank(values) == 0 ? 0 : i);
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_sparse_to_dense = {
    .prepare = prepare,
    .invoke = invoke,
};
