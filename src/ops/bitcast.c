// SPDX-License-Identifier: Apache-2.0
// BITCAST: the same bytes as another type.
// in 0: x of any type but strings, out 0: its shape, without the last dimension where the elements
// grow (it must be the ratio of the sizes), with one more where they shrink.
#include <string.h>

#include "ops/op.h"

static TfLiteStatus bitcast_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 1, 1, 1));
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    TfLiteTensor *output = hl_output(ctx, node, 0);
    int from = hl_type_bits(input->type), to = hl_type_bits(output->type);
    if (from == 0) return hl_unsupported_type(ctx, node, input);
    if (to == 0) return hl_unsupported_type(ctx, node, output);

    int rank = hl_rank(input), dims[HL_MAX_RANK + 1];
    memcpy(dims, input->dims->data, (size_t)rank * sizeof *dims);
    if (to > from) {
        int ratio = to / from;
        HL_REQUIRE(ctx, node, rank >= 1 && dims[rank - 1] == ratio, "%s to %s needs a last dimension of %d",
                   hl_type_name(input->type), hl_type_name(output->type), ratio);
        rank--;
    } else if (to < from) {
        dims[rank++] = from / to;
    }
    return hl_resize(ctx, output, rank, dims);
}

static TfLiteStatus bitcast_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    TfLiteTensor *output = hl_output(ctx, node, 0);
    size_t size = hl_dense_bytes(input);
    if (size > 0 && HL_OUT(void, output) != hl_data(input)) memcpy(HL_OUT(void, output), hl_data(input), size);
    return kTfLiteOk;
}

const struct hl_op hl_op_bitcast = {
    .prepare = bitcast_prepare,
    .invoke = bitcast_invoke,
    .inplace = kTfLiteInplaceOpDataUnmodified | kTfLiteInplaceOpInput0Shared,
};
