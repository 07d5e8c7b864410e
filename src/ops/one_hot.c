// SPDX-License-Identifier: Apache-2.0
// ONE_HOT: y[o, d, i] = indices[o, i] == d ? on : off: a new dimension of `depth` positions. An
// index outside it gives nothing but off.
//     in 0: indices int32 or int64, in 1: depth, likewise, in 2: on, in 3: off (one value each)
//     out 0: y. float32 int8 uint8 int32 int64 bool
// The option's axis says where the new dimension goes, -1: last.
#include "ops/common/copy.h"

static const uint32_t types =
    HL_TYPE(Float32) | HL_TYPE(Int8) | HL_TYPE(UInt8) | HL_TYPE(Int32) | HL_TYPE(Int64) | HL_TYPE(Bool);

static TfLiteStatus resize(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteOneHotParams *params = node->builtin_data;
    const TfLiteTensor *indices = hl_input(ctx, node, 0);
    const int rank = hl_rank(indices) + 1, axis = params->axis == -1 ? rank - 1 : params->axis;
    const int64_t depth = hl_integer_at(hl_input(ctx, node, 1), 0);
    int dims[HL_MAX_RANK];

    HL_REQUIRE(ctx, node, depth >= 0 && depth <= INT32_MAX, "depth %lld is not possible", (long long)depth);
    for (int i = 0; i < rank; i++)
        dims[i] = i < axis ? hl_dim(indices, i) : i == axis ? (int)depth : hl_dim(indices, i - 1);
    return hl_resize(ctx, hl_output(ctx, node, 0), rank, dims);
}

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 4, 4, 1));
    const TfLiteOneHotParams *params = node->builtin_data;
    const TfLiteTensor *indices = hl_input(ctx, node, 0), *depth = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);

    if (!hl_type_in(y->type, types)) return hl_unsupported_type(ctx, node, y);
    HL_TRY(hl_require_int32_or_int64(ctx, node, indices, "indices"));
    HL_TRY(hl_require_scalar(ctx, node, depth, "depth"));
    for (int i = 2; i <= 3; i++) {
        const TfLiteTensor *value = hl_input(ctx, node, i);
        HL_REQUIRE(ctx, node, hl_same_type(value, y) && hl_elements(value) == 1, "the %s value must be one %s",
                   i == 2 ? "on" : "off", hl_type_name(y->type));
    }
    HL_REQUIRE(ctx, node, hl_rank(indices) < HL_MAX_RANK, "the indices have %d dimensions already", hl_rank(indices));
    HL_REQUIRE(ctx, node, params->axis >= -1 && params->axis <= hl_rank(indices),
               "axis %d is outside the output's %d dimensions", params->axis, hl_rank(indices) + 1);
    return hl_resize_when_known(ctx, node, y, hl_is_constant(depth), resize);
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteOneHotParams *params = node->builtin_data;
    const TfLiteTensor *indices = hl_input(ctx, node, 0), *on = hl_input(ctx, node, 2);
    TfLiteTensor *y = hl_output(ctx, node, 0);

    if (hl_is_dynamic(y)) HL_TRY(resize(ctx, node));
    const int axis = params->axis == -1 ? hl_rank(y) - 1 : params->axis;
    const int bits = hl_type_bits(y->type);
    const int64_t count = hl_elements(indices);
    const int64_t inner = hl_product(indices->dims, axis, hl_rank(indices));
    const int depth = hl_dim(y, axis);

    hl_fill(bits, hl_elements(y), y->data.data, hl_data(hl_input(ctx, node, 3)));
    for (int64_t i = 0; i < count; i++) {
        const int64_t index = hl_integer_at(indices, i);
        if (index < 0 || index >= depth) continue;
        hl_copy_run(bits, 1, y->data.data, (i / inner * depth + index) * inner + i % inner, hl_data(on), 0);
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_one_hot = {
    .prepare = prepare,
    .invoke = invoke,
};
