// SPDX-License-Identifier: Apache-2.0
// EMBEDDING_LOOKUP: y[i, ...] = table[ids[i], ...].
// in 0: ids, int32 [count], in 1: table [rows, ...], out 0: y [count, ...].
// A table of any type of fixed size to the same type; int8, uint8, int4 or int2 to float32 or
// float16: stored value * scale, with one scale, one for each row, or one for each block along a
// row. Zero points must be 0; uint8 is read as int8, as the original does.
#include "ops/common/blockwise.h"
#include "ops/common/dot.h"
#include "ops/common/quant.h"

static bool dequantizes(const TfLiteTensor *table, const TfLiteTensor *y)
{
    bool packed = table->type == kTfLiteInt4 || table->type == kTfLiteInt2;
    bool bytes = table->type == kTfLiteInt8 || table->type == kTfLiteUInt8;
    return (packed || bytes) && (y->type == kTfLiteFloat32 || y->type == kTfLiteFloat16);
}

// ---- prepare ------------------------------------------------------------------------------------

static TfLiteStatus check_scales(TfLiteContext *ctx, TfLiteNode *node, const TfLiteTensor *table)
{
    const TfLiteAffineQuantization *affine = hl_affine(table);
    HL_REQUIRE(ctx, node, affine && affine->scale && affine->scale->size >= 1, "the table has no scale");
    int count = affine->scale->size;
    HL_REQUIRE(ctx, node, count == 1 || (count == hl_dim(table, 0) && affine->quantized_dimension == 0),
               "%d scales along dimension %d do not fit %d rows", count, affine->quantized_dimension, hl_dim(table, 0));
    for (int i = 0; affine->zero_point && i < affine->zero_point->size; i++)
        HL_REQUIRE(ctx, node, affine->zero_point->data[i] == 0, "zero point %d must be 0", affine->zero_point->data[i]);
    return kTfLiteOk;
}

static TfLiteStatus embedding_lookup_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    const TfLiteTensor *ids = hl_input(ctx, node, 0), *table = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    HL_REQUIRE(ctx, node, ids->type == kTfLiteInt32, "the ids are %s, they must be int32", hl_type_name(ids->type));
    HL_REQUIRE(ctx, node, hl_rank(ids) == 1, "the ids have %d dimensions, they must have 1", hl_rank(ids));
    HL_REQUIRE(ctx, node, hl_rank(table) >= 2, "the table has %d dimensions, it must have 2 or more", hl_rank(table));
    HL_REQUIRE(ctx, node, !table->sparsity, "sparse tables are not supported");
    struct hl_blocks blocks;
    if (!dequantizes(table, y))
        HL_REQUIRE(ctx, node, hl_same_type(table, y) && hl_type_size(table->type) > 0,
                   "a table of %s to %s is not supported", hl_type_name(table->type), hl_type_name(y->type));
    else if (hl_is_blockwise(table))
        HL_TRY(hl_find_blocks(ctx, node, table, hl_dim(table, 0), hl_product(table->dims, 1, hl_rank(table)), &blocks));
    else
        HL_TRY(check_scales(ctx, node, table));

    int rank = hl_rank(table), dims[HL_MAX_RANK];
    for (int axis = 0; axis < rank; axis++) dims[axis] = hl_dim(table, axis);
    dims[0] = hl_dim(ids, 0);
    return hl_resize(ctx, y, rank, dims);
}

// ---- invoke -------------------------------------------------------------------------------------

// Stored values [first, first + count) times their scale, to y from `at` on.
static void dequantize(const TfLiteTensor *table, int64_t first, int64_t count, double scale, TfLiteTensor *y,
                       int64_t at)
{
    enum { PIECE = 256 };
    TfLiteType type = table->type == kTfLiteUInt8 ? kTfLiteInt8 : table->type;
    int16_t stored[PIECE];
    for (int64_t from = 0; from < count; from += PIECE) {
        int64_t piece = count - from < PIECE ? count - from : PIECE;
        hl_widen(type, hl_data(table), first + from, piece, 0, stored);
        for (int64_t i = 0; i < piece; i++) {
            float value = (float)(stored[i] * scale);
            if (y->type == kTfLiteFloat16)
                HL_OUT(uint16_t, y)[at + from + i] = hl_half_from_float(value);
            else
                HL_OUT(float, y)[at + from + i] = value;
        }
    }
}

static void dequantize_row(const TfLiteTensor *table, const struct hl_blocks *blocks, int64_t row, int64_t columns,
                           TfLiteTensor *y, int64_t at)
{
    if (!hl_is_blockwise(table)) {
        const TfLiteFloatArray *scales = hl_affine(table)->scale;
        double scale = (double)scales->data[scales->size > 1 ? row : 0];
        dequantize(table, row * columns, columns, scale, y, at);
        return;
    }
    const uint16_t *scales = blocks->scales + row * (columns / blocks->size);
    for (int64_t from = 0; from < columns; from += blocks->size)
        dequantize(table, row * columns + from, blocks->size, (double)hl_half_to_float(*scales++), y, at + from);
}

static TfLiteStatus embedding_lookup_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *ids = hl_input(ctx, node, 0), *table = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    int64_t columns = hl_product(table->dims, 1, hl_rank(table));
    bool quantized = dequantizes(table, y);
    struct hl_blocks blocks = {0};
    if (quantized && hl_is_blockwise(table))
        HL_TRY(hl_find_blocks(ctx, node, table, hl_dim(table, 0), columns, &blocks));
    size_t row_bytes = (size_t)columns * hl_type_size(table->type);
    for (int i = 0; i < hl_dim(ids, 0); i++) {
        int32_t id = HL_IN(int32_t, ids)[i];
        HL_REQUIRE(ctx, node, id >= 0 && id < hl_dim(table, 0), "id %d at place %d is outside the table's %d rows",
                   (int)id, i, hl_dim(table, 0));
        if (quantized)
            dequantize_row(table, &blocks, id, columns, y, i * columns);
        else if (row_bytes > 0)
            memcpy(HL_OUT(char, y) + (size_t)i * row_bytes, HL_IN(char, table) + (size_t)id * row_bytes, row_bytes);
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_embedding_lookup = {
    .prepare = embedding_lookup_prepare,
    .invoke = embedding_lookup_invoke,
};
