// SPDX-License-Identifier: Apache-2.0
// ZEROS_LIKE: zeros in the shape and type of x.
// in 0: x of any shape, float32, int32 or int64, out 0: the same shape and type.
#include <string.h>

#include "ops/common/map.h"

static TfLiteStatus zeros_like_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_map_prepare(ctx, node));
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    bool known = input->type == kTfLiteFloat32 || input->type == kTfLiteInt32 || input->type == kTfLiteInt64;
    return known ? kTfLiteOk : hl_unsupported_type(ctx, node, input);
}

static TfLiteStatus zeros_like_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    TfLiteTensor *output = hl_output(ctx, node, 0);
    size_t size = hl_dense_bytes(output);
    if (size > 0) memset(HL_OUT(void, output), 0, size);
    return kTfLiteOk;
}

const struct hl_op hl_op_zeros_like = {
    .prepare = zeros_like_prepare,
    .invoke = zeros_like_invoke,
    .inplace = kTfLiteInplaceOpInput0Shared,
};
