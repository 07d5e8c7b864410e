// SPDX-License-Identifier: Apache-2.0
// BUCKETIZE: the number of boundaries that are not above x; NaN is above all.
// in 0: x of any shape, float32, float64, int32 or int64 (integers are compared as float32);
// out 0: int32 of the same shape. The boundaries, rising, are options.
#include "ops/op.h"

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteBucketizeParams *params = node->builtin_data;
    HL_TRY(hl_require_counts(ctx, node, 1, 1, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (y->type != kTfLiteInt32) return hl_unsupported_type(ctx, node, y);
    switch (x->type) {
    case kTfLiteFloat32:
    case kTfLiteFloat64:
    case kTfLiteInt32:
    case kTfLiteInt64: break;
    default: return hl_unsupported_type(ctx, node, x);
    }
    for (int i = 1; i < params->num_boundaries; i++)
        HL_REQUIRE(ctx, node, params->boundaries[i] >= params->boundaries[i - 1],
                   "boundary %d is below the one before it", i);
    return hl_resize_like(ctx, y, x);
}

static int32_t bucket_of(const TfLiteBucketizeParams *params, double value)
{
    int low = 0, high = params->num_boundaries;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (value < (double)params->boundaries[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteBucketizeParams *params = node->builtin_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    int32_t *y = HL_OUT(int32_t, hl_output(ctx, node, 0));
    int64_t count = hl_elements(x);
#define BUCKETS(type, via) \
    for (int64_t i = 0; i < count; i++) y[i] = bucket_of(params, (double)(via)HL_IN(type, x)[i])
    switch (x->type) {
    case kTfLiteFloat32: BUCKETS(float, float); break;
    case kTfLiteFloat64: BUCKETS(double, double); break;
    case kTfLiteInt32: BUCKETS(int32_t, float); break;
    default: BUCKETS(int64_t, float); break;
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_bucketize = {
    .prepare = prepare,
    .invoke = invoke,
};
