// SPDX-License-Identifier: Apache-2.0
// Finds the scales of weights that are quantized in blocks, see blockwise.h.
#include "ops/common/blockwise.h"

TfLiteStatus hl_find_blocks(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *tensor, int64_t rows,
                            int64_t columns, struct hl_blocks *blocks)
{
    const TfLiteBlockwiseQuantization *params = tensor->quantization.params;
    HL_REQUIRE(ctx, node, params->blocksize > 0 && columns % params->blocksize == 0,
               "blocks of %d do not divide rows of %lld", (int)params->blocksize, (long long)columns);
    HL_REQUIRE(ctx, node, params->zero_point < 0, "zero points of blocks are not supported");
    HL_REQUIRE(ctx, node, params->scale >= 0 && (size_t)params->scale < ctx->tensors_size,
               "there is no tensor %d of block scales", (int)params->scale);
    const TfLiteTensor *scales = &ctx->tensors[params->scale];
    HL_REQUIRE(ctx, node, scales->type == kTfLiteFloat16 && hl_is_constant(scales) && hl_data(scales),
               "the block scales must be constant float16");
    int64_t count = rows * (columns / params->blocksize);
    HL_REQUIRE(ctx, node, hl_elements(scales) == count, "%lld block scales, there must be %lld",
               (long long)hl_elements(scales), (long long)count);
    *blocks = (struct hl_blocks){params->blocksize, HL_IN(uint16_t, scales)};
    return kTfLiteOk;
}
