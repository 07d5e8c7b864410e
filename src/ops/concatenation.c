// SPDX-License-Identifier: Apache-2.0
// CONCATENATION: joins its inputs along an axis.
//     in i: x_i, alike but for that axis; out 0: as long as all of them along it
//     float32 float16 bfloat16 int8 uint8 int16 int32 uint32 int64 bool int4
//     quantized unlike the output: uint8 is requantized in float, int8 refused, int16 just copied
// PACK: joins inputs of one shape along a new axis.
//     in i: x_i; out 0: x's shape with one more dimension, the number of inputs
//     float32 int8 uint8 int16 int32 uint32 int64, quantized alike
#include "ops/common/copy.h"
#include "ops/common/row_kernels.h"

#include <math.h>

// ---- CONCATENATION ------------------------------------------------------------------------------

static const uint32_t concatenation_types = HL_TYPE(Float32) | HL_TYPE(Float16) | HL_TYPE(BFloat16) | HL_TYPE(Int8) |
                                            HL_TYPE(UInt8) | HL_TYPE(Int16) | HL_TYPE(Int32) | HL_TYPE(UInt32) |
                                            HL_TYPE(Int64) | HL_TYPE(Bool) | HL_TYPE(Int4);

// The state: how the output's bytes are cut, where nothing but whole bytes is copied, by one thread.
struct joint {
    int64_t rows, row; // rows, and bytes from one to the next; 0 rows: not so
};

// All stored values of x as the output's: round(x * scale + bias) + zero point.
static void fill_table(const TfLiteTensor *x, const TfLiteTensor *y, uint8_t table[256])
{
    const float inverse = 1.0f / y->params.scale, scale = x->params.scale * inverse;
    const float bias = -(float)x->params.zero_point * scale, zero = (float)y->params.zero_point;
    for (int i = 0; i < 256; i++) {
        float value = roundf((float)i * scale + bias) + zero;
        table[i] = value > 0.0f ? value < 255.0f ? (uint8_t)value : 255 : 0;
    }
}

// Whether input x lies in the output already, where its bytes would be copied `to` (runtime/concat_in_place.c); in rows
// that lie apart it has no address.
static bool is_there(const TfLiteTensor *x, const TfLiteTensor *y, int64_t to)
{
    return x->bytes > 0 && (!hl_data(x) || hl_data(x) == y->data.raw + to);
}

// Input x becomes the positions from `start` on along the axis.
static void join(const TfLiteContext *ctx, const TfLiteTensor *x, TfLiteTensor *y, int axis, int start)
{
    if (y->type == kTfLiteUInt8 && !hl_same_quantization(x, y)) {
        const int64_t inner = hl_product(y->dims, axis + 1, hl_rank(y));
        const int64_t outer = hl_product(y->dims, 0, axis);
        const int64_t run = hl_dim(x, axis) * inner, step = hl_dim(y, axis) * inner;
        const struct hl_row_kernels *kernels = hl_row_kernels(ctx);
        uint8_t table[256];
        fill_table(x, y, table);
        for (int64_t i = 0; run > 0 && i < outer; i++) {
            uint8_t *to = HL_OUT(uint8_t, y) + i * step + start * inner;
            const uint8_t *from = HL_IN(uint8_t, x) + i * run;
            kernels->map_bytes(from, to, run, table);
        }
        return;
    }
    const int64_t to = start * hl_product(y->dims, axis + 1, hl_rank(y)) * hl_type_bits(y->type) / 8;
    if (is_there(x, y, to)) return;
    hl_copy_part(ctx, hl_type_bits(y->type), x->dims, axis, start, hl_dim(y, axis), true, y->data.data, hl_data(x));
}

static int concatenation_axis(const TfLiteNode *node, int rank)
{
    const TfLiteConcatenationParams *params = node->builtin_data;
    return params->axis < 0 ? params->axis + rank : params->axis;
}

// The same for all inputs, whose bytes are copied as they are.
static void join_bytes(const TfLiteContext *ctx, const TfLiteNode *node, const struct joint *joint, TfLiteTensor *y)
{
    struct hl_byte_runs runs = {.count = joint->rows, .to_step = joint->row};
    for (int i = 0; i < hl_input_count(node); i++) {
        const TfLiteTensor *x = hl_input(ctx, node, i);
        runs.size = joint->rows == 1 ? x->bytes : x->bytes / (size_t)joint->rows;
        runs.from_step = (int64_t)runs.size;
        if (!is_there(x, y, runs.to)) hl_copy_byte_runs(&runs, y->data.data, hl_data(x));
        runs.to += runs.from_step;
    }
}

static TfLiteStatus concatenate(TfLiteContext *ctx, const TfLiteNode *node)
{
    const struct joint *joint = node->user_data;
    TfLiteTensor *y = hl_output(ctx, node, 0);
    int start = 0;

    if (joint->rows > 0) {
        join_bytes(ctx, node, joint, y);
        return kTfLiteOk;
    }
    const int axis = concatenation_axis(node, hl_rank(y));
    hl_clear_packed(y);
    for (int i = 0; i < hl_input_count(node); i++) {
        const TfLiteTensor *x = hl_input(ctx, node, i);
        join(ctx, x, y, axis, start);
        start += hl_dim(x, axis);
    }
    return kTfLiteOk;
}

static TfLiteStatus concatenation_check_input(TfLiteContext *ctx, const TfLiteNode *node, int index, int axis)
{
    const TfLiteTensor *first = hl_input(ctx, node, 0), *x = hl_input(ctx, node, index);
    const TfLiteTensor *y = hl_output(ctx, node, 0);

    HL_REQUIRE(ctx, node, hl_same_type(x, y), "input %d is %s, the output %s", index, hl_type_name(x->type),
               hl_type_name(y->type));
    HL_REQUIRE(ctx, node, hl_rank(x) == hl_rank(first), "inputs 0 and %d have %d and %d dimensions", index,
               hl_rank(first), hl_rank(x));
    for (int i = 0; i < hl_rank(x); i++)
        HL_REQUIRE(ctx, node, i == axis || hl_dim(x, i) == hl_dim(first, i),
                   "dimension %d is %d in input 0 and %d in input %d", i, hl_dim(first, i), hl_dim(x, i), index);
    HL_REQUIRE(ctx, node, y->type != kTfLiteInt8 || hl_same_quantization(x, y),
               "input %d is quantized unlike the output", index);
    HL_REQUIRE(ctx, node, y->type != kTfLiteInt16 || (hl_zero(x) == 0 && hl_zero(y) == 0),
               "int16 has zero point 0, not %d in input %d and %d in the output", hl_zero(x), index, hl_zero(y));
    HL_REQUIRE(ctx, node, y->type != kTfLiteUInt8 || hl_same_quantization(x, y) || y->params.scale > 0.0f,
               "the output's scale %g must be positive", hl_scale(y));
    return kTfLiteOk;
}

static void find_joint(TfLiteContext *ctx, const TfLiteNode *node, const int *dims, int axis)
{
    const TfLiteTensor *first = hl_input(ctx, node, 0), *y = hl_output(ctx, node, 0);
    const int64_t size = hl_type_bits(y->type) / 8, rows = hl_product(first->dims, 0, axis);
    struct joint *joint = node->user_data;
    joint->row = size * dims[axis] * hl_product(first->dims, axis + 1, hl_rank(first));
    bool plain = size > 0 && hl_is_copied_alone(ctx, (double)rows * (double)joint->row);
    for (int i = 0; i < hl_input_count(node) && plain; i++)
        plain = y->type != kTfLiteUInt8 || hl_same_quantization(hl_input(ctx, node, i), y);
    joint->rows = plain ? rows : 0;
}

static TfLiteStatus concatenation_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 1, INT32_MAX, 1));
    const TfLiteConcatenationParams *params = node->builtin_data;
    const TfLiteTensor *first = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    const int rank = hl_rank(first);
    int axis, dims[HL_MAX_RANK];
    int64_t length = 0;

    if (!hl_type_in(y->type, concatenation_types)) return hl_unsupported_type(ctx, node, y);
    HL_REQUIRE(ctx, node, params->activation == kTfLiteActNone, "fused activation %d must be none",
               (int)params->activation);
    HL_REQUIRE(ctx, node, rank > 0, "scalars cannot be joined");
    HL_REQUIRE(ctx, node, hl_normalize_axis(params->axis, rank, &axis), "axis %d is outside %d dimensions",
               params->axis, rank);
    for (int i = 0; i < hl_input_count(node); i++) {
        const TfLiteTensor *x = hl_input(ctx, node, i);
        HL_REQUIRE(ctx, node, x, "input %d is absent", i);
        HL_TRY(concatenation_check_input(ctx, node, i, axis));
        length += hl_dim(x, axis);
    }
    for (int i = 0; i < rank; i++) dims[i] = hl_dim(first, i);
    HL_REQUIRE(ctx, node, hl_to_int(length, &dims[axis]), "the joined length %lld is too large", (long long)length);

    find_joint(ctx, node, dims, axis);
    return hl_resize_and_fold(ctx, node, y, rank, dims, concatenate);
}

static TfLiteStatus concatenation_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    return hl_invoke_unless_folded(ctx, node, concatenate);
}

const struct hl_op hl_op_concatenation = {
    .state_size = sizeof(struct joint),
    .prepare = concatenation_prepare,
    .invoke = concatenation_invoke,
    .order = HL_JOINS,
};

// ---- PACK ---------------------------------------------------------------------------------------

static const uint32_t pack_types = HL_TYPE(Float32) | HL_TYPE(Int8) | HL_TYPE(UInt8) | HL_TYPE(Int16) | HL_TYPE(Int32) |
                                   HL_TYPE(UInt32) | HL_TYPE(Int64);

static TfLiteStatus pack(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLitePackParams *params = node->builtin_data;
    TfLiteTensor *y = hl_output(ctx, node, 0);
    const int rank = hl_rank(y), axis = params->axis < 0 ? params->axis + rank : params->axis;
    const struct hl_layout whole = hl_row_major(rank, y->dims->data);

    for (int i = 0; i < hl_input_count(node); i++) {
        const TfLiteTensor *x = hl_input(ctx, node, i);
        const struct hl_layout from = hl_row_major(hl_rank(x), x->dims->data);
        const struct hl_layout to = hl_without_axis(&whole, rank, axis, i);
        hl_copy_shared(ctx, hl_type_bits(y->type), hl_rank(x), x->dims->data, y->data.data, &to, hl_data(x), &from);
    }
    return kTfLiteOk;
}

static TfLiteStatus pack_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 1, INT32_MAX, 1));
    const TfLitePackParams *params = node->builtin_data;
    const TfLiteTensor *first = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    const int rank = hl_rank(first) + 1;
    int axis, dims[HL_MAX_RANK];

    HL_TRY(hl_require_type_of_both(ctx, node, first, y, pack_types));
    HL_REQUIRE(ctx, node, params->values_count == hl_input_count(node), "the options speak of %d inputs, there are %d",
               params->values_count, hl_input_count(node));
    HL_REQUIRE(ctx, node, rank <= HL_MAX_RANK, "the input has %d dimensions already", rank - 1);
    HL_REQUIRE(ctx, node, hl_normalize_axis(params->axis, rank, &axis), "axis %d is outside the output's %d dimensions",
               params->axis, rank);
    for (int i = 0; i < hl_input_count(node); i++) {
        const TfLiteTensor *x = hl_input(ctx, node, i);
        HL_TRY(hl_require_like_input_0(ctx, node, i));
        HL_REQUIRE(ctx, node, hl_same_quantization(x, y), "input %d is quantized unlike the output", i);
    }
    for (int i = 0; i < rank; i++)
        dims[i] = i < axis ? hl_dim(first, i) : i == axis ? hl_input_count(node) : hl_dim(first, i - 1);

    return hl_resize_and_fold(ctx, node, y, rank, dims, pack);
}

static TfLiteStatus pack_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    return hl_invoke_unless_folded(ctx, node, pack);
}

const struct hl_op hl_op_pack = {
    .prepare = pack_prepare,
    .invoke = pack_invoke,
};
