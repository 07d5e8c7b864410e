// SPDX-License-Identifier: Apache-2.0
// STABLEHLO_PAD: y[low + i (interior + 1), ..] = x[i, ..], the padding value elsewhere; negative low and high cut
// elements off. in 0: x, rank 1 to 8, in 1: padding value, one element; out 0: y, all of one type of whole bytes. An
// empty y has 0 in every dimension, as in the original.
#include <string.h>

#include "ops/common/copy.h"

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteStablehloPadParams *params = node->builtin_data;
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *padding = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    int rank = hl_rank(x), dims[HL_MAX_RANK];
    if (hl_type_bits(x->type) < 8) return hl_unsupported_type(ctx, node, x);
    HL_REQUIRE(ctx, node, hl_same_type(x, padding) && hl_same_type(x, y),
               "input, padding value and output differ in type");
    HL_REQUIRE(ctx, node, hl_elements(padding) == 1, "the padding value has %lld elements instead of one",
               (long long)hl_elements(padding));
    HL_REQUIRE(ctx, node, rank >= 1 && rank <= TFLITE_STABLEHLO_PAD_PARAMS_MAX_DIMENSION_COUNT,
               "the input has %d dimensions, 1 to %d are supported", rank,
               TFLITE_STABLEHLO_PAD_PARAMS_MAX_DIMENSION_COUNT);
    bool empty = false;
    for (int axis = 0; axis < rank; axis++) {
        int64_t low = params->edge_padding_low[axis], high = params->edge_padding_high[axis];
        int64_t interior = params->interior_padding[axis], in = hl_dim(x, axis);
        HL_REQUIRE(ctx, node, interior >= 0, "interior padding %lld of dimension %d is negative", (long long)interior,
                   axis);
        HL_REQUIRE(ctx, node,
                   low >= -INT32_MAX && low <= INT32_MAX && high >= -INT32_MAX && high <= INT32_MAX &&
                       interior < INT32_MAX,
                   "padding %lld, %lld, %lld of dimension %d is too large", (long long)low, (long long)high,
                   (long long)interior, axis);
        int64_t out = (in > 0 ? (in - 1) * (interior + 1) + 1 : 0) + low + high;
        HL_REQUIRE(ctx, node, out <= INT32_MAX, "dimension %d becomes too long: %lld", axis, (long long)out);
        dims[axis] = out > 0 ? (int)out : 0;
        empty |= out <= 0;
    }
    if (empty) memset(dims, 0, sizeof dims);
    return hl_resize(ctx, y, rank, dims);
}

// The positions of x along an axis whose place in y exists: the first, and how many.
static int kept(int64_t low, int64_t step, int in, int out, int64_t *first)
{
    int64_t end = low < out ? (out - low + step - 1) / step : 0;
    *first = low < 0 ? (-low + step - 1) / step : 0;
    if (end > in) end = in;
    return end > *first ? (int)(end - *first) : 0;
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteStablehloPadParams *params = node->builtin_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0), *y = hl_output(ctx, node, 0);
    int bits = hl_type_bits(x->type), rank = hl_rank(x), dims[HL_MAX_RANK];
    if (hl_elements(y) == 0) return kTfLiteOk;
    struct hl_layout from = hl_row_major(rank, x->dims->data), to = hl_row_major(rank, y->dims->data);
    int64_t count = 1;
    for (int axis = 0; axis < rank; axis++) {
        int64_t first, low = params->edge_padding_low[axis], step = params->interior_padding[axis] + 1;
        dims[axis] = kept(low, step, hl_dim(x, axis), hl_dim(y, axis), &first);
        from.offset += first * from.stride[axis];
        to.offset += (low + first * step) * to.stride[axis];
        to.stride[axis] *= step;
        count *= dims[axis];
    }
    hl_fill(bits, hl_elements(y), y->data.raw, hl_data(hl_input(ctx, node, 1)));
    if (count > 0) hl_copy_shared(ctx, bits, rank, dims, y->data.raw, &to, hl_data(x), &from);
    return kTfLiteOk;
}

const struct hl_op hl_op_stablehlo_pad = {
    .prepare = prepare,
    .invoke = invoke,
};
