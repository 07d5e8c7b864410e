// SPDX-License-Identifier: Apache-2.0
// LSH_PROJECTION: bits that are likely the same for similar lists of items.
// in 0: hashes float32 [hashes, bits], at most 32 bits, in 1: items [n, ..] of any type of whole bytes, in 2: weights
// float32 [n], may be absent. Bit (h, b) is 1 where the sum over items of weight * fingerprint(hashes[h, b], item) is
// positive. out 0: int32. Dense: [hashes * bits], one for each bit; sparse: [hashes], the bits as a number, + h *
// 2^bits.
#include <stdlib.h>
#include <string.h>

#include "ops/common/copy.h"
#include "ops/common/fingerprint.h"

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteLSHProjectionParams *params = node->builtin_data;
    HL_TRY(hl_require_counts(ctx, node, 2, 3, 1));
    const TfLiteTensor *hashes = hl_input(ctx, node, 0), *items = hl_input(ctx, node, 1);
    const TfLiteTensor *weights = hl_input(ctx, node, 2);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (hashes->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, hashes);
    if (hl_type_bits(items->type) < 8) return hl_unsupported_type(ctx, node, items);
    if (y->type != kTfLiteInt32) return hl_unsupported_type(ctx, node, y);
    HL_REQUIRE(ctx, node, hl_rank(hashes) == 2, "the hashes have %d dimensions, they must have 2", hl_rank(hashes));
    HL_REQUIRE(ctx, node, hl_dim(hashes, 1) <= 32, "%d bits, at most 32 are supported", hl_dim(hashes, 1));
    HL_REQUIRE(ctx, node, hl_rank(items) >= 1 && hl_dim(items, 0) >= 1, "there are no items");
    if (weights) {
        HL_REQUIRE(ctx, node, weights->type == kTfLiteFloat32, "the weights are %s, they must be float32",
                   hl_type_name(weights->type));
        HL_REQUIRE(ctx, node, hl_rank(weights) == 1 && hl_dim(weights, 0) == hl_dim(items, 0),
                   "%lld weights for %d items", (long long)hl_elements(weights), hl_dim(items, 0));
    }
    int64_t bits = hl_elements(hashes);
    switch (params->type) {
    case kTfLiteLshProjectionSparse: return hl_resize(ctx, y, 1, (const int[]){hl_dim(hashes, 0)});
    case kTfLiteLshProjectionDense:
        HL_REQUIRE(ctx, node, bits <= INT32_MAX, "%lld bits are too many", (long long)bits);
        return hl_resize(ctx, y, 1, (const int[]){(int)bits});
    default: return hl_op_error(ctx, node, "projection type %d is neither sparse nor dense", (int)params->type);
    }
}

// key has room for a hash and an item.
static bool bit_of(float hash, const TfLiteTensor *items, const float *weights, char *key)
{
    size_t item_bytes = items->bytes / (size_t)hl_dim(items, 0);
    double sum = 0;
    memcpy(key, &hash, sizeof hash);
    for (int i = 0; i < hl_dim(items, 0); i++) {
        if (item_bytes) memcpy(key + sizeof hash, HL_IN(char, items) + (size_t)i * item_bytes, item_bytes);
        double value = (double)(int64_t)hl_fingerprint(key, sizeof hash + item_bytes);
        sum += weights ? (double)weights[i] * value : value;
    }
    return sum > 0;
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteLSHProjectionParams *params = node->builtin_data;
    const TfLiteTensor *hashes = hl_input(ctx, node, 0), *items = hl_input(ctx, node, 1);
    const TfLiteTensor *weights = hl_input(ctx, node, 2);
    int32_t *y = HL_OUT(int32_t, hl_output(ctx, node, 0));
    int bits = hl_dim(hashes, 1);
    bool sparse = params->type == kTfLiteLshProjectionSparse;
    char *key = malloc(sizeof(float) + items->bytes / (size_t)hl_dim(items, 0));
    HL_REQUIRE(ctx, node, key, "no memory for an item of %zu bytes", items->bytes / (size_t)hl_dim(items, 0));
    for (int h = 0; h < hl_dim(hashes, 0); h++) {
        uint32_t number = 0;
        for (int b = 0; b < bits; b++) {
            int64_t at = (int64_t)h * bits + b;
            bool bit = bit_of(HL_IN(float, hashes)[at], items, weights ? HL_IN(float, weights) : NULL, key);
            number = number << 1 | bit;
            if (!sparse) y[at] = bit;
        }
        if (sparse) y[h] = (int32_t)(number + (uint32_t)((uint64_t)h << bits));
    }
    free(key);
    return kTfLiteOk;
}

// The keys of all items for each bit. Items may have no bytes of their own.
static double work(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *items = hl_input(ctx, node, 1);
    double keys = (double)items->bytes + (double)hl_dim(items, 0) * (double)sizeof(float);
    return (double)hl_elements(hl_input(ctx, node, 0)) * keys;
}

const struct hl_op hl_op_lsh_projection = {
    .prepare = prepare,
    .invoke = invoke,
    .work = work,
};
