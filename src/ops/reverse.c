// SPDX-License-Identifier: Apache-2.0
// REVERSE_V2: some dimensions run backward.
//     in 0: x, in 1: these dimensions, int32 [how many], neighbors; out 0: y, as x
//     float32 float16 bfloat16 int8 uint8 int16 int32 int64 bool
// REVERSE_SEQUENCE: of each batch the first positions of the sequence run backward.
//     in 0: x, in 1: how many positions, int32 or int64, one value for each batch; out 0: y, as x
//     float32 uint8 int16 int32 int64; sequence and batch dimension are options
#include "ops/common/copy.h"

static TfLiteStatus same_type_and_shape(TfLiteContext *ctx, const TfLiteNode *node, uint32_t types)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    HL_TRY(hl_require_type_of_both(ctx, node, x, y, types));
    return hl_resize_like(ctx, y, x);
}

// ---- REVERSE_V2 ---------------------------------------------------------------------------------

static TfLiteStatus read_axes(TfLiteContext *ctx, const TfLiteNode *node, bool *backward)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *axes = hl_input(ctx, node, 1);
    const int count = hl_dim(axes, 0), rank = hl_rank(x);
    int first = rank, last = -1;

    for (int i = 0; i < rank; i++) backward[i] = false;
    for (int i = 0; i < count; i++) {
        const int32_t entry = HL_IN(int32_t, axes)[i];
        int axis;
        HL_REQUIRE(ctx, node, hl_normalize_axis(entry, rank, &axis), "axis %d is outside %d dimensions", (int)entry,
                   rank);
        HL_REQUIRE(ctx, node, !backward[axis], "axis %d is named twice", axis);
        backward[axis] = true;
        if (axis < first) first = axis;
        if (axis > last) last = axis;
    }
    HL_REQUIRE(ctx, node, count == 0 || last - first + 1 == count, "the axes %d to %d are not neighbors", first, last);
    return kTfLiteOk;
}

static TfLiteStatus reverse_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *axes = hl_input(ctx, node, 1);
    bool backward[HL_MAX_RANK];

    HL_REQUIRE(ctx, node, hl_rank(x) <= 8, "the input has %d dimensions, more than 8", hl_rank(x));
    HL_REQUIRE(ctx, node, axes->type == kTfLiteInt32, "the axes must be int32, not %s", hl_type_name(axes->type));
    HL_REQUIRE(ctx, node, hl_rank(axes) == 1 && hl_dim(axes, 0) <= hl_rank(x), "the axes must be a list of at most %d",
               hl_rank(x));
    if (hl_is_constant(axes)) HL_TRY(read_axes(ctx, node, backward));
    return same_type_and_shape(ctx, node,
                               HL_TYPE(Float32) | HL_TYPE(Float16) | HL_TYPE(BFloat16) | HL_TYPE(Int8) |
                                   HL_TYPE(UInt8) | HL_TYPE(Int16) | HL_TYPE(Int32) | HL_TYPE(Int64) | HL_TYPE(Bool));
}

static TfLiteStatus reverse_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    const int rank = hl_rank(x);
    const struct hl_layout to = hl_row_major(rank, x->dims->data);
    struct hl_layout from = to;
    bool backward[HL_MAX_RANK];

    HL_TRY(read_axes(ctx, node, backward));
    for (int axis = 0; axis < rank; axis++) {
        if (!backward[axis]) continue;
        from.offset += (hl_dim(x, axis) - 1) * from.stride[axis];
        from.stride[axis] = -from.stride[axis];
    }
    hl_copy_shared(ctx, hl_type_bits(x->type), rank, x->dims->data, y->data.data, &to, hl_data(x), &from);
    return kTfLiteOk;
}

const struct hl_op hl_op_reverse_v2 = {
    .prepare = reverse_prepare,
    .invoke = reverse_invoke,
};

// ---- REVERSE_SEQUENCE ---------------------------------------------------------------------------

static TfLiteStatus sequence_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    const TfLiteReverseSequenceParams *params = node->builtin_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0), *lengths = hl_input(ctx, node, 1);
    const int rank = hl_rank(x), sequence = params->seq_dim, batch = params->batch_dim;

    HL_TRY(hl_require_int32_or_int64(ctx, node, lengths, "lengths"));
    HL_REQUIRE(ctx, node, sequence >= 0 && sequence < rank && batch >= 0 && batch < rank && sequence != batch,
               "sequence dimension %d and batch dimension %d of %d are not possible", sequence, batch, rank);
    HL_REQUIRE(ctx, node, hl_rank(lengths) == 1 && hl_dim(lengths, 0) == hl_dim(x, batch), "there must be %d lengths",
               hl_dim(x, batch));
    return same_type_and_shape(ctx, node,
                               HL_TYPE(Float32) | HL_TYPE(UInt8) | HL_TYPE(Int16) | HL_TYPE(Int32) | HL_TYPE(Int64));
}

// Copies `count` positions of the sequence from `first` on, of one batch.
static void copy_part(const TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *x, TfLiteTensor *y,
                      int batch_index, int64_t first, int64_t count, bool backward)
{
    const TfLiteReverseSequenceParams *params = node->builtin_data;
    const int rank = hl_rank(x), sequence = params->seq_dim, batch = params->batch_dim;
    struct hl_layout to = hl_row_major(rank, x->dims->data);
    int dims[HL_MAX_RANK];

    for (int axis = 0; axis < rank; axis++) dims[axis] = hl_dim(x, axis);
    dims[batch] = 1;
    dims[sequence] = (int)count;
    to.offset = batch_index * to.stride[batch] + first * to.stride[sequence];
    struct hl_layout from = to;
    if (backward) {
        from.offset += (count - 1) * from.stride[sequence];
        from.stride[sequence] = -from.stride[sequence];
    }
    hl_copy_shared(ctx, hl_type_bits(x->type), rank, dims, y->data.data, &to, hl_data(x), &from);
}

static TfLiteStatus sequence_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteReverseSequenceParams *params = node->builtin_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0), *lengths = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    const int longest = hl_dim(x, params->seq_dim), batches = hl_dim(x, params->batch_dim);

    for (int i = 0; i < batches; i++) {
        const int64_t length = hl_integer_at(lengths, i);
        HL_REQUIRE(ctx, node, length >= 0 && length <= longest, "length %lld of batch %d is outside 0 to %d",
                   (long long)length, i, longest);
        copy_part(ctx, node, x, y, i, 0, length, true);
        copy_part(ctx, node, x, y, i, length, longest - length, false);
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_reverse_sequence = {
    .prepare = sequence_prepare,
    .invoke = sequence_invoke,
};
