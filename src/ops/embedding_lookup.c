// SPDX-License-Identifier: Apache-2.0
// EMBEDDING_LOOKUP: y[i, ...] = table[ids[i], ...].
// in 0: ids, int32 [count], in 1: table [rows, ...], out 0: y [count, ...].
// A table of any type of fixed size to the same type; int8, uint8, int4 or int2 to float32, int8 or
// int4 to float16: stored value * scale, with one scale, one for each row, or (int4 to float32)
// one for each block along a row. Zero points must be 0; uint8 is read as int8, as the original does.
#include "ops/dot.h"
#include "ops/quant.h"

static bool dequantises(const TfLiteTensor *table, const TfLiteTensor *y)
{
    bool packed = table->type == kTfLiteInt4 || table->type == kTfLiteInt2;
    bool bytes = table->type == kTfLiteInt8 || table->type == kTfLiteUInt8;
    return (packed || bytes) && (y->type == kTfLiteFloat32 || y->type == kTfLiteFloat16);
}

static bool is_blockwise(const TfLiteTensor *table)
{
    return table->quantization.type == kTfLiteBlockwiseQuantization && table->quantization.params;
}

// ---- prepare ------------------------------------------------------------------------------------

static TfLiteStatus check_blocks(TfLiteContext *ctx, TfLiteNode *node, const TfLiteTensor *table)
{
    const TfLiteBlockwiseQuantization *blockwise = table->quantization.params;
    int64_t columns = hl_product(table->dims, 1, hl_rank(table));
    HL_REQUIRE(ctx, node, blockwise->blocksize > 0 && columns % blockwise->blocksize == 0,
               "blocks of %d do not divide rows of %lld", blockwise->blocksize, (long long)columns);
    HL_REQUIRE(ctx, node, blockwise->zero_point < 0, "zero points of blocks are not supported");
    HL_REQUIRE(ctx, node, blockwise->scale >= 0 && (size_t)blockwise->scale < ctx->tensors_size,
               "there is no tensor %d of block scales", blockwise->scale);
    const TfLiteTensor *scales = &ctx->tensors[blockwise->scale];
    HL_REQUIRE(ctx, node, scales->type == kTfLiteFloat16 && hl_is_constant(scales) && hl_data(scales),
               "the block scales must be constant float16");
    int64_t count = hl_dim(table, 0) * (columns / blockwise->blocksize);
    HL_REQUIRE(ctx, node, hl_elements(scales) == count, "%lld block scales, there must be %lld",
               (long long)hl_elements(scales), (long long)count);
    return kTfLiteOk;
}

static TfLiteStatus check_scales(TfLiteContext *ctx, TfLiteNode *node, const TfLiteTensor *table)
{
    const TfLiteAffineQuantization *affine = hl_affine(table);
    HL_REQUIRE(ctx, node, affine && affine->scale && affine->scale->size >= 1, "the table has no scale");
    int count = affine->scale->size;
    HL_REQUIRE(ctx, node,
               count == 1 || (count == hl_dim(table, 0) && affine->quantized_dimension == 0),
               "%d scales along dimension %d do not fit %d rows", count, affine->quantized_dimension,
               hl_dim(table, 0));
    for (int i = 0; affine->zero_point && i < affine->zero_point->size; i++)
        HL_REQUIRE(ctx, node, affine->zero_point->data[i] == 0, "zero point %d must be 0",
                   affine->zero_point->data[i]);
    return kTfLiteOk;
}

static TfLiteStatus embedding_lookup_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    const TfLiteTensor *ids = hl_input(ctx, node, 0), *table = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    HL_REQUIRE(ctx, node, ids->type == kTfLiteInt32, "the ids are %s, they must be int32",
               hl_type_name(ids->type));
    HL_REQUIRE(ctx, node, hl_rank(ids) == 1, "the ids have %d dimensions, they must have 1", hl_rank(ids));
    HL_REQUIRE(ctx, node, hl_rank(table) >= 2, "the table has %d dimensions, it must have 2 or more",
               hl_rank(table));
    HL_REQUIRE(ctx, node, !table->sparsity, "sparse tables are not supported");
    if (dequantises(table, y))
        HL_TRY(is_blockwise(table) ? check_blocks(ctx, node, table) : check_scales(ctx, node, table));
    else
        HL_REQUIRE(ctx, node, hl_same_type(table, y) && hl_element_size(table->type) > 0,
                   "a table of %s to %s is not supported", hl_type_name(table->type),
                   hl_type_name(y->type));

    int rank = hl_rank(table), dims[HL_MAX_RANK];
    for (int axis = 0; axis < rank; axis++) dims[axis] = hl_dim(table, axis);
    dims[0] = hl_dim(ids, 0);
    return hl_resize(ctx, y, rank, dims);
}

// ---- invoke -------------------------------------------------------------------------------------

static double scale_at(TfLiteContext *ctx, const TfLiteTensor *table, int64_t row, int64_t column,
                       int64_t columns)
{
    if (!is_blockwise(table)) {
        const TfLiteFloatArray *scales = hl_affine(table)->scale;
        return (double)scales->data[scales->size > 1 ? row : 0];
    }
    const TfLiteBlockwiseQuantization *blockwise = table->quantization.params;
    const uint16_t *scales = HL_IN(uint16_t, &ctx->tensors[blockwise->scale]);
    int64_t blocks = columns / blockwise->blocksize;
    return (double)hl_half_to_float(scales[row * blocks + column / blockwise->blocksize]);
}

static void dequantise_row(TfLiteContext *ctx, const TfLiteTensor *table, int64_t row,
                           int64_t columns, TfLiteTensor *y, int64_t y_at)
{
    enum { PIECE = 256 };
    TfLiteType type = table->type == kTfLiteUInt8 ? kTfLiteInt8 : table->type;
    int16_t stored[PIECE];
    for (int64_t from = 0; from < columns; from += PIECE) {
        int64_t count = columns - from < PIECE ? columns - from : PIECE;
        hl_widen(type, hl_data(table), row * columns + from, count, 0, stored);
        for (int64_t i = 0; i < count; i++) {
            float value = (float)(stored[i] * scale_at(ctx, table, row, from + i, columns));
            int64_t at = y_at + from + i;
            if (y->type == kTfLiteFloat16)
                HL_OUT(uint16_t, y)[at] = hl_half_from_float(value);
            else
                HL_OUT(float, y)[at] = value;
        }
    }
}

static TfLiteStatus embedding_lookup_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *ids = hl_input(ctx, node, 0), *table = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    int64_t columns = hl_product(table->dims, 1, hl_rank(table));
    bool quantised = dequantises(table, y);
    size_t row_bytes = (size_t)columns * hl_element_size(table->type);
    for (int i = 0; i < hl_dim(ids, 0); i++) {
        int32_t id = HL_IN(int32_t, ids)[i];
        HL_REQUIRE(ctx, node, id >= 0 && id < hl_dim(table, 0),
                   "id %d at place %d is outside the table's %d rows", (int)id, i, hl_dim(table, 0));
        if (quantised)
            dequantise_row(ctx, table, id, columns, y, i * columns);
        else if (row_bytes > 0)
            memcpy(HL_OUT(char, y) + (size_t)i * row_bytes,
                   HL_IN(char, table) + (size_t)id * row_bytes, row_bytes);
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_embedding_lookup = {
    .prepare = embedding_lookup_prepare,
    .invoke = embedding_lookup_invoke,
};
