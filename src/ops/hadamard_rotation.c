// SPDX-License-Identifier: Apache-2.0
// aeq.hadamard_rotation: each run of `hadamard_size` values of the last dimension, multiplied by the Hadamard matrix of
// that size (1 and -1, in Sylvester's order) and divided by the root of the size: a rotation that is its own inverse.
// in 0, out 0: float32 of the same shape. Option: hadamard_size, a power of two that divides the last dimension.
#include <math.h>
#include <string.h>

#include "abi/custom_options.h"
#include "ops/op.h"

struct hadamard {
    int size;
};

static TfLiteStatus parse(TfLiteContext *ctx, void *state, const void *options, size_t size)
{
    (void)ctx;
    struct hl_flex map = hl_options_map(options, size);
    ((struct hadamard *)state)->size = hl_option_int(&map, "hadamard_size", 0);
    return kTfLiteOk;
}

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct hadamard *op = node->user_data;
    HL_TRY(hl_require_counts(ctx, node, 1, 1, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (x->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, x);
    if (y->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, y);
    HL_REQUIRE(ctx, node, op->size > 0 && (op->size & (op->size - 1)) == 0, "hadamard_size %d is no power of two",
               op->size);
    HL_REQUIRE(ctx, node, hl_rank(x) >= 1 && hl_dim(x, hl_rank(x) - 1) % op->size == 0,
               "hadamard_size %d does not divide the last dimension", op->size);
    return hl_resize_like(ctx, y, x);
}

static void rotate(float *y, int64_t size)
{
    for (int64_t half = 1; half < size; half *= 2)
        for (int64_t pair = 0; pair < size; pair += 2 * half)
            for (int64_t i = pair; i < pair + half; i++) {
                float a = y[i], b = y[i + half];
                y[i] = a + b;
                y[i + half] = a - b;
            }
    float factor = 1 / sqrtf((float)size);
    for (int64_t i = 0; i < size; i++) y[i] *= factor;
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct hadamard *op = node->user_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    float *y = HL_OUT(float, hl_output(ctx, node, 0));
    int64_t count = hl_elements(x);
    if (count == 0) return kTfLiteOk;
    memcpy(y, hl_data(x), x->bytes);
    for (int64_t i = 0; i < count; i += op->size) rotate(y + i, op->size);
    return kTfLiteOk;
}

const struct hl_op hl_op_hadamard_rotation = {
    .state_size = sizeof(struct hadamard),
    .parse = parse,
    .prepare = prepare,
    .invoke = invoke,
};
