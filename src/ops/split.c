// SPDX-License-Identifier: Apache-2.0
// SPLIT: equal pieces along an axis. in 0: axis int32, one value, in 1: x; out i: piece i
// SPLIT_V: pieces of given lengths. in 0: x, in 1: lengths int32 or int64 [pieces], one may be -1:
//     the rest, in 2: axis int32, one value; out i: piece i
// UNPACK: the positions along the option's axis, which is gone. in 0: x; out i: position i
// float32 int8 uint8 int16 int32; SPLIT and SPLIT_V also int64, UNPACK also float16 bfloat16 bool.
#include "ops/common/copy.h"

static const uint32_t split_types =
    HL_TYPE(Float32) | HL_TYPE(Int8) | HL_TYPE(UInt8) | HL_TYPE(Int16) | HL_TYPE(Int32) | HL_TYPE(Int64);

// ---- common -------------------------------------------------------------------------------------

static TfLiteStatus check_outputs(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *x, int count)
{
    HL_REQUIRE(ctx, node, count == hl_output_count(node), "the options speak of %d outputs, there are %d", count,
               hl_output_count(node));
    for (int i = 0; i < count; i++) {
        const TfLiteTensor *y = hl_output(ctx, node, i);
        HL_REQUIRE(ctx, node, hl_same_type(x, y), "output %d is %s, the input %s", i, hl_type_name(y->type),
                   hl_type_name(x->type));
    }
    return kTfLiteOk;
}

static void make_outputs_dynamic(TfLiteContext *ctx, const TfLiteNode *node)
{
    for (int i = 0; i < hl_output_count(node); i++) hl_make_dynamic(hl_output(ctx, node, i));
}

static TfLiteStatus find_axis(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *x,
                              const TfLiteTensor *axis, int *result)
{
    const int64_t value = hl_integer_at(axis, 0);
    HL_REQUIRE(ctx, node, hl_normalize_axis(value, hl_rank(x), result),
               "axis %lld is outside the input's %d dimensions", (long long)value, hl_rank(x));
    return kTfLiteOk;
}

// The outputs have their shapes; they take their pieces of x in order.
static TfLiteStatus copy_pieces(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *x, int axis)
{
    int start = 0;

    for (int i = 0; i < hl_output_count(node); i++) {
        TfLiteTensor *y = hl_output(ctx, node, i);
        // Does not hold where a hostile model lists one tensor as two outputs.
        HL_REQUIRE(ctx, node, hl_dim(y, axis) <= hl_dim(x, axis) - start, "output %d lies beyond the input", i);
        hl_copy_part(ctx, hl_type_bits(x->type), y->dims, axis, start, hl_dim(x, axis), false, y->data.data,
                     hl_data(x));
        start += hl_dim(y, axis);
    }
    return kTfLiteOk;
}

// What SPLIT and SPLIT_V check alike: which inputs are x and the axis, and how many pieces the options speak of.
static TfLiteStatus check(TfLiteContext *ctx, const TfLiteNode *node, int inputs, int x_input, int axis_input,
                          int pieces)
{
    HL_REQUIRE(ctx, node, hl_output_count(node) > 0, "there is no output");
    HL_TRY(hl_require_counts(ctx, node, inputs, inputs, hl_output_count(node)));
    const TfLiteTensor *x = hl_input(ctx, node, x_input);
    if (!hl_type_in(x->type, split_types)) return hl_unsupported_type(ctx, node, x);
    HL_TRY(hl_require_scalar(ctx, node, hl_input(ctx, node, axis_input), "axis"));
    return check_outputs(ctx, node, x, pieces);
}

// The invoke of SPLIT and SPLIT_V: which input is x, and which the axis.
static TfLiteStatus split_any(TfLiteContext *ctx, const TfLiteNode *node, int x_input, int axis_input,
                              TfLiteStatus (*resize)(TfLiteContext *ctx, const TfLiteNode *node))
{
    const TfLiteTensor *x = hl_input(ctx, node, x_input);
    int axis;

    if (hl_is_dynamic(hl_output(ctx, node, 0))) HL_TRY(resize(ctx, node));
    HL_TRY(find_axis(ctx, node, x, hl_input(ctx, node, axis_input), &axis));
    return copy_pieces(ctx, node, x, axis);
}

// ---- SPLIT --------------------------------------------------------------------------------------

static TfLiteStatus split_resize(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 1);
    const int pieces = hl_output_count(node), rank = hl_rank(x);
    int axis, dims[HL_MAX_RANK];

    HL_TRY(find_axis(ctx, node, x, hl_input(ctx, node, 0), &axis));
    HL_REQUIRE(ctx, node, hl_dim(x, axis) % pieces == 0, "%d along axis %d cannot be split into %d", hl_dim(x, axis),
               axis, pieces);
    for (int i = 0; i < rank; i++) dims[i] = i == axis ? hl_dim(x, i) / pieces : hl_dim(x, i);
    for (int i = 0; i < pieces; i++) HL_TRY(hl_resize(ctx, hl_output(ctx, node, i), rank, dims));
    return kTfLiteOk;
}

static TfLiteStatus split_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteSplitParams *params = node->builtin_data;
    HL_TRY(check(ctx, node, 2, 1, 0, params->num_splits));
    if (hl_is_constant(hl_input(ctx, node, 0))) return split_resize(ctx, node);
    make_outputs_dynamic(ctx, node);
    return kTfLiteOk;
}

static TfLiteStatus split_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    return split_any(ctx, node, 1, 0, split_resize);
}

const struct hl_op hl_op_split = {
    .prepare = split_prepare,
    .invoke = split_invoke,
};

// ---- SPLIT_V ------------------------------------------------------------------------------------

// The length that -1 stands for: what the other pieces leave. Without a -1 they must leave nothing.
static TfLiteStatus find_rest(TfLiteContext *ctx, const TfLiteNode *node, int length, int *rest)
{
    const TfLiteTensor *sizes = hl_input(ctx, node, 1);
    int64_t sum = 0;
    int open = 0;

    for (int i = 0; i < hl_output_count(node); i++) {
        const int64_t size = hl_integer_at(sizes, i);
        HL_REQUIRE(ctx, node, size >= -1 && size <= length, "piece %d of length %lld does not fit into %d", i,
                   (long long)size, length);
        if (size == -1)
            open++;
        else
            sum += size;
    }
    HL_REQUIRE(ctx, node, open <= 1, "%d lengths are -1", open);
    HL_REQUIRE(ctx, node, open ? sum <= length : sum == length, "the pieces' lengths add up to %lld, not %d",
               (long long)sum, length);
    *rest = (int)(length - sum);
    return kTfLiteOk;
}

static TfLiteStatus split_v_resize(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *sizes = hl_input(ctx, node, 1);
    int axis, rest = 0, dims[HL_MAX_RANK];

    HL_TRY(find_axis(ctx, node, x, hl_input(ctx, node, 2), &axis));
    HL_TRY(find_rest(ctx, node, hl_dim(x, axis), &rest));
    for (int i = 0; i < hl_rank(x); i++) dims[i] = hl_dim(x, i);
    for (int i = 0; i < hl_output_count(node); i++) {
        const int64_t size = hl_integer_at(sizes, i);
        dims[axis] = size == -1 ? rest : (int)size;
        HL_TRY(hl_resize(ctx, hl_output(ctx, node, i), hl_rank(x), dims));
    }
    return kTfLiteOk;
}

static TfLiteStatus split_v_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteSplitVParams *params = node->builtin_data;
    HL_TRY(check(ctx, node, 3, 0, 2, params->num_splits));
    const TfLiteTensor *sizes = hl_input(ctx, node, 1);
    HL_TRY(hl_require_int32_or_int64(ctx, node, sizes, "lengths"));
    HL_REQUIRE(ctx, node, hl_rank(sizes) == 1 && hl_dim(sizes, 0) == hl_output_count(node),
               "there must be one length for each of the %d outputs", hl_output_count(node));
    if (hl_is_constant(hl_input(ctx, node, 2)) && hl_is_constant(sizes)) return split_v_resize(ctx, node);
    make_outputs_dynamic(ctx, node);
    return kTfLiteOk;
}

static TfLiteStatus split_v_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    return split_any(ctx, node, 0, 2, split_v_resize);
}

const struct hl_op hl_op_split_v = {
    .prepare = split_v_prepare,
    .invoke = split_v_invoke,
};

// ---- UNPACK -------------------------------------------------------------------------------------

static const uint32_t unpack_types = HL_TYPE(Float32) | HL_TYPE(Float16) | HL_TYPE(BFloat16) | HL_TYPE(Int8) |
                                     HL_TYPE(UInt8) | HL_TYPE(Int16) | HL_TYPE(Int32) | HL_TYPE(Bool);

static TfLiteStatus unpack_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 1, 1, hl_output_count(node)));
    const TfLiteUnpackParams *params = node->builtin_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    int axis, dims[HL_MAX_RANK];

    if (!hl_type_in(x->type, unpack_types)) return hl_unsupported_type(ctx, node, x);
    HL_TRY(check_outputs(ctx, node, x, params->num));
    HL_REQUIRE(ctx, node, hl_elements(x) > 0, "the input is empty");
    HL_REQUIRE(ctx, node, hl_normalize_axis(params->axis, hl_rank(x), &axis),
               "axis %d is outside the input's %d dimensions", params->axis, hl_rank(x));
    HL_REQUIRE(ctx, node, hl_dim(x, axis) == params->num, "%d along axis %d cannot be unpacked into %d",
               hl_dim(x, axis), axis, params->num);
    for (int i = 0; i < hl_rank(x) - 1; i++) dims[i] = hl_dim(x, i < axis ? i : i + 1);
    for (int i = 0; i < params->num; i++) {
        TfLiteTensor *y = hl_output(ctx, node, i);
        HL_REQUIRE(ctx, node, hl_same_quantization(x, y), "output %d is quantized unlike the input", i);
        HL_TRY(hl_resize(ctx, y, hl_rank(x) - 1, dims));
    }
    return kTfLiteOk;
}

static TfLiteStatus unpack_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteUnpackParams *params = node->builtin_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    const int rank = hl_rank(x), axis = params->axis < 0 ? params->axis + rank : params->axis;
    const struct hl_layout whole = hl_row_major(rank, x->dims->data);

    for (int i = 0; i < params->num; i++) {
        TfLiteTensor *y = hl_output(ctx, node, i);
        const struct hl_layout from = hl_without_axis(&whole, rank, axis, i);
        const struct hl_layout to = hl_row_major(rank - 1, y->dims->data);
        hl_copy_shared(ctx, hl_type_bits(x->type), rank - 1, y->dims->data, y->data.data, &to, hl_data(x), &from);
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_unpack = {
    .prepare = unpack_prepare,
    .invoke = unpack_invoke,
};
