// SPDX-License-Identifier: Apache-2.0
// BATCH_TO_SPACE_ND: interleaves block[0] * block[1] batches into one picture and crops it.
//     in 0: x [blocks * b, h, w, c], in 1: block int32 [2]
//     in 2: crops int32 [2, 2], before and after
//     out 0: y [b, h * block[0] - crops, w * block[1] - crops, c]
// SPACE_TO_BATCH_ND: the reverse; in 2: paddings, filled with 0, or with the output's zero point.
// Without w, [b, h, c], the block has one value and crops and paddings have one row.
// Any type of 1, 2, 4 or 8 bytes; input and output must be quantized alike.
#include "ops/common/copy.h"

// The relation between the many small pictures and the few large ones.
struct blocks {
    int rank;                        // of the tensors: 3 or 4
    int block[2];                    // rows, columns
    int64_t before[2], after[2];     // of the large picture: cropped or padded
    int batches, small[2], channels; // of the large tensor; of a small picture; of both
    int large[2];
};

static TfLiteStatus read_blocks(TfLiteContext *ctx, const TfLiteNode *node, struct blocks *blocks)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    const int32_t *block = HL_IN(int32_t, hl_input(ctx, node, 1));
    const int32_t *borders = HL_IN(int32_t, hl_input(ctx, node, 2));

    *blocks = (struct blocks){.rank = hl_rank(x), .block = {1, 1}};
    for (int i = 0; i < blocks->rank - 2; i++) {
        HL_REQUIRE(ctx, node, block[i] > 0, "block %d must be positive", (int)block[i]);
        HL_REQUIRE(ctx, node, borders[2 * i] >= 0 && borders[2 * i + 1] >= 0, "border %d, %d is negative",
                   (int)borders[2 * i], (int)borders[2 * i + 1]);
        blocks->block[i] = block[i];
        blocks->before[i] = borders[2 * i];
        blocks->after[i] = borders[2 * i + 1];
    }
    blocks->channels = hl_dim(x, blocks->rank - 1);
    return kTfLiteOk;
}

static int picture_dim(const TfLiteTensor *x, int axis)
{
    return axis + 1 < hl_rank(x) - 1 ? hl_dim(x, axis + 1) : 1;
}

static TfLiteStatus find_large(TfLiteContext *ctx, const TfLiteNode *node, struct blocks *blocks)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    const int64_t area = (int64_t)blocks->block[0] * blocks->block[1];

    HL_REQUIRE(ctx, node, hl_dim(x, 0) % area == 0, "%d batches do not make blocks of %d x %d", hl_dim(x, 0),
               blocks->block[0], blocks->block[1]);
    blocks->batches = (int)(hl_dim(x, 0) / area);
    for (int i = 0; i < 2; i++) {
        blocks->small[i] = picture_dim(x, i);
        const int64_t large = (int64_t)blocks->small[i] * blocks->block[i] - blocks->before[i] - blocks->after[i];
        HL_REQUIRE(ctx, node, large >= 0 && hl_to_int(large, &blocks->large[i]),
                   "%d x %d without crops of %lld and %lld is not possible", blocks->small[i], blocks->block[i],
                   (long long)blocks->before[i], (long long)blocks->after[i]);
    }
    return kTfLiteOk;
}

static TfLiteStatus find_small(TfLiteContext *ctx, const TfLiteNode *node, struct blocks *blocks)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);

    blocks->batches = hl_dim(x, 0);
    for (int i = 0; i < 2; i++) {
        blocks->large[i] = picture_dim(x, i);
        const int64_t padded = blocks->large[i] + blocks->before[i] + blocks->after[i];
        HL_REQUIRE(ctx, node, padded % blocks->block[i] == 0 && padded <= INT32_MAX,
                   "%lld positions do not make blocks of %d", (long long)padded, blocks->block[i]);
        blocks->small[i] = (int)(padded / blocks->block[i]);
    }
    return kTfLiteOk;
}

static TfLiteStatus resize(TfLiteContext *ctx, const TfLiteNode *node, const struct blocks *blocks, bool to_space)
{
    const int *picture = to_space ? blocks->large : blocks->small;
    const int64_t small_batches = (int64_t)blocks->block[0] * blocks->block[1];
    int64_t batches = blocks->batches;
    int dims[4];

    HL_REQUIRE(ctx, node, (to_space || hl_mul_i64(batches, small_batches, &batches)) && hl_to_int(batches, &dims[0]),
               "%d batches of %d x %d blocks are too many", blocks->batches, blocks->block[0], blocks->block[1]);
    for (int i = 0; i < blocks->rank - 2; i++) dims[i + 1] = picture[i];
    dims[blocks->rank - 1] = blocks->channels;
    return hl_resize(ctx, hl_output(ctx, node, 0), blocks->rank, dims);
}

static TfLiteStatus find(TfLiteContext *ctx, const TfLiteNode *node, bool to_space, struct blocks *blocks)
{
    HL_TRY(read_blocks(ctx, node, blocks));
    return to_space ? find_large(ctx, node, blocks) : find_small(ctx, node, blocks);
}

static TfLiteStatus prepare(TfLiteContext *ctx, const TfLiteNode *node, bool to_space)
{
    HL_TRY(hl_require_counts(ctx, node, 3, 3, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    const TfLiteTensor *block = hl_input(ctx, node, 1), *borders = hl_input(ctx, node, 2);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    const int spatial = hl_rank(x) - 2;
    struct blocks blocks;

    HL_TRY(hl_require_type_of_both(ctx, node, x, y, HL_PLAIN_TYPES));
    const bool stored = x->type == kTfLiteInt8 || x->type == kTfLiteUInt8 || x->type == kTfLiteInt16;
    HL_REQUIRE(ctx, node, !stored || hl_same_quantization(x, y), "input and output are quantized differently");
    HL_REQUIRE(ctx, node, spatial == 1 || spatial == 2, "the input has %d dimensions, not 3 or 4", hl_rank(x));
    HL_REQUIRE(ctx, node, block->type == kTfLiteInt32 && borders->type == kTfLiteInt32,
               "block and borders must be int32, not %s and %s", hl_type_name(block->type),
               hl_type_name(borders->type));
    HL_REQUIRE(ctx, node, hl_rank(block) == 1 && hl_dim(block, 0) == spatial, "the block must have shape [%d]",
               spatial);
    HL_REQUIRE(ctx, node, hl_rank(borders) == 2 && hl_dim(borders, 0) == spatial && hl_dim(borders, 1) == 2,
               "the borders must have shape [%d, 2]", spatial);
    if (!hl_is_constant(block) || !hl_is_constant(borders)) {
        hl_make_dynamic(y);
        return kTfLiteOk;
    }
    HL_TRY(find(ctx, node, to_space, &blocks));
    return resize(ctx, node, &blocks, to_space);
}

// Positions of a small picture, along one axis, that lie inside the large one when they are
// `offset` into their blocks.
static void inside(const struct blocks *blocks, int axis, int offset, int64_t *first, int64_t *count)
{
    const int block = blocks->block[axis];
    const int64_t skipped = blocks->before[axis] - offset, end = blocks->large[axis] + skipped;
    *first = skipped > 0 ? (skipped + block - 1) / block : 0;
    int64_t last = end > 0 ? (end + block - 1) / block : 0;
    if (last > blocks->small[axis]) last = blocks->small[axis];
    *count = last > *first ? last - *first : 0;
}

// Copies one of the block's positions, of all batches, between the tensors.
static void copy_position(const TfLiteContext *ctx, const struct blocks *blocks, int row, int column, bool to_space,
                          int bits, void *to, const void *from)
{
    const int channels = blocks->channels, *block = blocks->block;
    int64_t first_row, first_column, rows, columns;
    inside(blocks, 0, row, &first_row, &rows);
    inside(blocks, 1, column, &first_column, &columns);

    const int large_dims[4] = {blocks->batches, blocks->large[0], blocks->large[1], channels};
    const int small_dims[4] = {blocks->batches, blocks->small[0], blocks->small[1], channels};
    const int dims[4] = {blocks->batches, (int)rows, (int)columns, channels};
    struct hl_layout large = hl_row_major(4, large_dims), small = hl_row_major(4, small_dims);
    small.offset = ((int64_t)row * block[1] + column) * blocks->batches * small.stride[0] +
                   first_row * small.stride[1] + first_column * small.stride[2];
    large.offset = (first_row * block[0] + row - blocks->before[0]) * large.stride[1] +
                   (first_column * block[1] + column - blocks->before[1]) * large.stride[2];
    large.stride[1] *= block[0];
    large.stride[2] *= block[1];
    hl_copy_shared(ctx, bits, 4, dims, to, to_space ? &large : &small, from, to_space ? &small : &large);
}

static TfLiteStatus invoke(TfLiteContext *ctx, const TfLiteNode *node, bool to_space)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    struct blocks blocks;

    HL_TRY(find(ctx, node, to_space, &blocks));
    if (hl_is_dynamic(y)) HL_TRY(resize(ctx, node, &blocks, to_space));
    if (hl_elements(y) == 0) return kTfLiteOk;
    if (!to_space) hl_fill_zero(y);
    for (int row = 0; row < blocks.block[0]; row++)
        for (int column = 0; column < blocks.block[1]; column++)
            copy_position(ctx, &blocks, row, column, to_space, hl_type_bits(y->type), y->data.data, hl_data(x));
    return kTfLiteOk;
}

static TfLiteStatus batch_to_space_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    return prepare(ctx, node, true);
}

static TfLiteStatus batch_to_space_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    return invoke(ctx, node, true);
}

static TfLiteStatus space_to_batch_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    return prepare(ctx, node, false);
}

static TfLiteStatus space_to_batch_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    return invoke(ctx, node, false);
}

const struct hl_op hl_op_batch_to_space_nd = {
    .prepare = batch_to_space_prepare,
    .invoke = batch_to_space_invoke,
};

const struct hl_op hl_op_space_to_batch_nd = {
    .prepare = space_to_batch_prepare,
    .invoke = space_to_batch_invoke,
};
