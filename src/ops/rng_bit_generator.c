// SPDX-License-Identifier: Apache-2.0
// STABLEHLO_RNG_BIT_GENERATOR: random bits from a state.
// in 0: state, uint64 [2] (key, counter) or for Philox also [3] (key, counter, its upper half, which is otherwise the
// key); out 0: the state that continues the sequence; out 1: int32, uint32, int64 or uint64 of the shape that the model
// declares. Only the lower half of the counter counts: the upper one never changes.
#include <string.h>

#include "ops/common/counter_rng.h"
#include "ops/op.h"

static bool is_known_output(TfLiteType type)
{
    return type == kTfLiteInt32 || type == kTfLiteUInt32 || type == kTfLiteInt64 || type == kTfLiteUInt64;
}

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteStablehloRngBitGeneratorParams *params = node->builtin_data;
    HL_TRY(hl_require_counts(ctx, node, 1, 1, 2));
    const TfLiteTensor *state = hl_input(ctx, node, 0);
    TfLiteTensor *next = hl_output(ctx, node, 0), *bits = hl_output(ctx, node, 1);
    if (state->type != kTfLiteUInt64) return hl_unsupported_type(ctx, node, state);
    if (next->type != kTfLiteUInt64) return hl_unsupported_type(ctx, node, next);
    if (!is_known_output(bits->type)) return hl_unsupported_type(ctx, node, bits);
    HL_REQUIRE(ctx, node, next != bits, "the state and the bits are one tensor");
    bool threefry = params->algorithm == kTfLiteRngAlgorithmThreefry;
    HL_REQUIRE(ctx, node,
               threefry || params->algorithm == kTfLiteRngAlgorithmPhilox ||
                   params->algorithm == kTfLiteRngAlgorithmDefault,
               "algorithm %d is not known", (int)params->algorithm);
    HL_REQUIRE(ctx, node, hl_rank(state) == 1 && (hl_dim(state, 0) == 2 || (hl_dim(state, 0) == 3 && !threefry)),
               "a state of %lld numbers does not fit the algorithm", (long long)hl_elements(state));
    HL_TRY(hl_resize_like(ctx, next, state));
    return hl_resize_like(ctx, bits, bits);
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteStablehloRngBitGeneratorParams *params = node->builtin_data;
    const TfLiteTensor *state = hl_input(ctx, node, 0), *bits = hl_output(ctx, node, 1);
    uint64_t next[3] = {0};
    memcpy(next, hl_data(state), state->bytes);
    if (hl_dim(state, 0) == 2) next[2] = next[0];
    const uint32_t key[2] = {(uint32_t)next[0], (uint32_t)(next[0] >> 32)};
    size_t block = params->algorithm == kTfLiteRngAlgorithmThreefry ? 2 : 4;
    uint32_t *out = HL_OUT(uint32_t, bits), numbers[4];
    for (size_t left = bits->bytes / sizeof *out; left > 0;) {
        const uint32_t counter[4] = {(uint32_t)next[1], (uint32_t)(next[1] >> 32), (uint32_t)next[2],
                                     (uint32_t)(next[2] >> 32)};
        if (block == 2)
            hl_threefry(key, counter, numbers);
        else
            hl_philox(key, counter, numbers);
        size_t taken = left < block ? left : block;
        memcpy(out, numbers, taken * sizeof *out);
        out += taken;
        left -= taken;
        next[1]++; // its carry is lost, in Philox too
    }
    memcpy(hl_output(ctx, node, 0)->data.raw, next, state->bytes);
    return kTfLiteOk;
}

const struct hl_op hl_op_stablehlo_rng_bit_generator = {
    .prepare = prepare,
    .invoke = invoke,
};
