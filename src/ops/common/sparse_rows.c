// SPDX-License-Identifier: Apache-2.0
// Weights with compressed rows: see sparse_rows.h. Level 0 of the sparsity is the rows, level 1 lists the stored blocks
// of each row, and level 2, where it exists, is the inside of a block.
#include "ops/common/sparse_rows.h"

#include <string.h>

TfLiteStatus hl_require_sparse_rows(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *weights)
{
    const TfLiteSparsity *sparsity = weights->sparsity;
    if (!sparsity) return kTfLiteOk;
    const TfLiteDimensionMetadata *levels = sparsity->dim_metadata;
    int count = sparsity->dim_metadata_size;
    bool rows = (count == 2 || count == 3) && levels[0].format == kTfLiteDimDense &&
                levels[1].format == kTfLiteDimSparseCSR && sparsity->traversal_order->data[0] == 0;
    bool blocks =
        count != 3 || (sparsity->block_map && sparsity->block_map->size == 1 && sparsity->block_map->data[0] == 1);
    HL_REQUIRE(ctx, node, rows && blocks, "only weights with compressed rows are supported");
    HL_REQUIRE(ctx, node, weights->type == kTfLiteFloat32 || weights->type == kTfLiteInt8,
               "sparse weights of type %s are not supported", hl_type_name(weights->type));
    return kTfLiteOk;
}

static size_t block_length(const TfLiteTensor *weights)
{
    const TfLiteSparsity *sparsity = weights->sparsity;
    return sparsity->dim_metadata_size == 3 ? (size_t)sparsity->dim_metadata[2].dense_size : 1;
}

void hl_expand_sparse_rows(const TfLiteTensor *weights, int columns, int first, int rows, void *dense)
{
    const TfLiteDimensionMetadata *listed = &weights->sparsity->dim_metadata[1];
    const int *segments = listed->array_segments->data, *indices = listed->array_indices->data;
    size_t element = hl_type_size(weights->type);
    size_t block_bytes = block_length(weights) * element, row_bytes = (size_t)columns * element;
    memset(dense, 0, (size_t)rows * row_bytes);
    for (int r = 0; r < rows; r++)
        for (int i = segments[first + r]; i < segments[first + r + 1]; i++)
            memcpy((char *)dense + (size_t)r * row_bytes + (size_t)indices[i] * block_bytes,
                   weights->data.raw_const + (size_t)i * block_bytes, block_bytes);
}

int64_t hl_sparse_row_dot_i8(const TfLiteTensor *weights, int row, const int8_t *x)
{
    const TfLiteDimensionMetadata *listed = &weights->sparsity->dim_metadata[1];
    const int *segments = listed->array_segments->data, *indices = listed->array_indices->data;
    size_t length = block_length(weights);
    int64_t sum = 0;
    for (int i = segments[row]; i < segments[row + 1]; i++) {
        const int8_t *w = HL_IN(int8_t, weights) + (size_t)i * length, *v = x + (size_t)indices[i] * length;
        for (size_t k = 0; k < length; k++) sum += w[k] * v[k];
    }
    return sum;
}
