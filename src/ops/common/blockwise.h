// SPDX-License-Identifier: Apache-2.0
// Weights with a scale for each block of columns. The scales are float16, in a constant tensor of
// their own: [rows, columns / block].
#ifndef HALITE_OPS_COMMON_BLOCKWISE_H
#define HALITE_OPS_COMMON_BLOCKWISE_H

#include "ops/op.h"

struct hl_blocks {
    int size;               // columns of a block
    const uint16_t *scales; // float16, row by row
};

static inline bool hl_is_blockwise(const TfLiteTensor *tensor)
{
    return tensor->quantization.type == kTfLiteBlockwiseQuantization && tensor->quantization.params;
}

// Checks the parameters of a blockwise tensor of as many rows and columns.
TfLiteStatus hl_find_blocks(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *tensor, int64_t rows,
                            int64_t columns, struct hl_blocks *blocks);

#endif
