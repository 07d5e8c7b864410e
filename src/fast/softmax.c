// SPDX-License-Identifier: Apache-2.0
// SOFTMAX of float32 with a beta that is not negative, shared among threads by rows.
#include <limits.h>
#include <stdlib.h>

#include "fast/fast.h"
#include "fast/simd/simd.h"

struct softmax {
    const struct hl_simd *simd;
    int length;
    int64_t rows, block; // rows of one item of work
};

// Fewer values than this take about as long as it takes to share them.
enum { MIN_SHARED_VALUES = 16384 };

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node, void **state, size_t *bytes)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    const TfLiteSoftmaxParams *params = node->builtin_data;
    const int64_t count = hl_elements(x);
    if (x->type != kTfLiteFloat32 || count == 0 || !(params->beta >= 0) || hl_is_dynamic(hl_output(ctx, node, 0)))
        return kTfLiteOk;
    HL_TRY(hl_fast_make(ctx, node, sizeof(struct softmax), state));
    struct softmax *op = *state;
    if (!op) return kTfLiteOk;
    *bytes = sizeof *op;
    op->simd = hl_simd_best(INT_MAX);
    op->length = hl_dim(x, hl_rank(x) - 1);
    op->rows = count / op->length;
    op->block = hl_piece(ctx, op->rows, count >= MIN_SHARED_VALUES);
    return kTfLiteOk;
}

struct run {
    const struct softmax *op;
    const float *x;
    float *y;
    float beta;
};

static void run_item(void *arg, int64_t item, int worker)
{
    (void)worker;
    const struct run *run = arg;
    const struct softmax *op = run->op;
    int64_t first = item * op->block, left = op->rows - first;
    op->simd->kernels->softmax_f32(run->x + first * op->length, run->y + first * op->length,
                                   left < op->block ? left : op->block, op->length, run->beta);
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node, void *state)
{
    const TfLiteSoftmaxParams *params = node->builtin_data;
    const struct softmax *op = state;
    struct run run = {op, HL_IN(float, hl_input(ctx, node, 0)), HL_OUT(float, hl_output(ctx, node, 0)), params->beta};
    hl_parallel(ctx, (op->rows + op->block - 1) / op->block, run_item, &run);
    return kTfLiteOk;
}

const struct hl_fast hl_fast_softmax = {.prepare = prepare, .invoke = invoke, .release = free};
