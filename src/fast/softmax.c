// SPDX-License-Identifier: Apache-2.0
// SOFTMAX of float32 with a beta that is not negative, and of int8 and uint8 to the same type, and LOG_SOFTMAX of
// float32, shared among threads by rows.
#include "ops/softmax.h"

#include <limits.h>
#include <stdlib.h>

#include "fast/fast.h"
#include "fast/simd/simd.h"
#include "ops/common/copy.h"

struct softmax {
    const struct hl_simd *simd;
    void (*floats)(const float *x, float *y, int64_t rows, int length, float beta);
    float beta;
    int length;
    int64_t rows, block; // rows of one item of work
    struct hl_softmax_bytes bytes;
    int32_t exponentials[HL_SOFTMAX_DIFFERENCES], terms[HL_SOFTMAX_DIFFERENCES];
};

// Fewer values than this take about as long as it takes to share them.
enum { MIN_SHARED_VALUES = 16384 };

static bool takes(const TfLiteNode *node, const TfLiteTensor *x, const TfLiteTensor *y)
{
    const TfLiteSoftmaxParams *params = node->builtin_data;
    if (hl_elements(x) == 0 || hl_is_dynamic(y)) return false;
    if (x->type == kTfLiteFloat32) return params->beta >= 0;
    return (x->type == kTfLiteInt8 || x->type == kTfLiteUInt8) && x->type == y->type &&
           hl_dim(x, hl_rank(x) - 1) <= HL_LARGEST_MAX_COLUMNS && hl_simd_best(INT_MAX)->kernels->softmax_bytes;
}

static TfLiteStatus make(TfLiteContext *ctx, TfLiteNode *node, void **state, size_t *bytes)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    const int64_t count = hl_elements(x);
    HL_TRY(hl_fast_make(ctx, node, sizeof(struct softmax), state));
    struct softmax *op = *state;
    if (!op) return kTfLiteOk;
    *bytes = sizeof *op;
    op->simd = hl_simd_best(INT_MAX);
    op->length = hl_dim(x, hl_rank(x) - 1);
    op->rows = count / op->length;
    op->block = hl_piece(ctx, op->rows, count >= MIN_SHARED_VALUES);
    op->floats = NULL;
    return kTfLiteOk;
}

// The CPUs that have wide tables store the lowest byte first.
static void fill_planes(struct softmax *op)
{
    const int dims[2] = {HL_SOFTMAX_PLANES, HL_SOFTMAX_DIFFERENCES};
    const struct hl_layout from = {.stride = {1, sizeof *op->terms}}, to = {.stride = {HL_SOFTMAX_DIFFERENCES, 1}};
    hl_copy(8, 2, dims, op->bytes.planes, &to, op->terms, &from);
}

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node, void **state, size_t *bytes)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    if (!takes(node, x, hl_output(ctx, node, 0))) return kTfLiteOk;
    HL_TRY(make(ctx, node, state, bytes));
    struct softmax *op = *state;
    if (!op) return kTfLiteOk;
    if (x->type == kTfLiteFloat32) {
        op->floats = op->simd->kernels->softmax_f32;
        op->beta = ((const TfLiteSoftmaxParams *)node->builtin_data)->beta;
        return kTfLiteOk;
    }
    const struct hl_softmax *tables = node->user_data;
    for (int i = 0; i < HL_SOFTMAX_DIFFERENCES; i++) {
        op->exponentials[HL_SOFTMAX_LAST - i] = tables->exp_of[i];
        op->terms[HL_SOFTMAX_LAST - i] = tables->term_of[i];
    }
    const bool is_signed = x->type == kTfLiteInt8;
    op->bytes = (struct hl_softmax_bytes){
        .exponentials = op->exponentials,
        .terms = op->terms,
        .wide = hl_simd_has_wide_tables(op->simd),
        .flip = is_signed ? 0x80 : 0,
        .low = is_signed ? INT8_MIN : 0,
        .length = op->length,
    };
    if (HL_MAY_HAVE_WIDE_TABLES && op->bytes.wide) fill_planes(op);
    return kTfLiteOk;
}

static TfLiteStatus log_prepare(TfLiteContext *ctx, TfLiteNode *node, void **state, size_t *bytes)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    if (x->type != kTfLiteFloat32 || hl_elements(x) == 0 || hl_is_dynamic(hl_output(ctx, node, 0))) return kTfLiteOk;
    HL_TRY(make(ctx, node, state, bytes));
    struct softmax *op = *state;
    if (op) op->floats = op->simd->kernels->log_softmax_f32;
    return kTfLiteOk;
}

struct run {
    const struct softmax *op;
    const void *x;
    void *y;
};

static void run_rows(const void *state, const void *x, void *y, int64_t rows)
{
    const struct softmax *op = state;
    if (op->floats)
        op->floats(x, y, rows, op->length, op->beta);
    else
        op->simd->kernels->softmax_bytes(&op->bytes, x, y, rows);
}

static void run_item(void *arg, int64_t item, int worker)
{
    (void)worker;
    const struct run *run = arg;
    const struct softmax *op = run->op;
    const int64_t first = item * op->block, left = op->rows - first, rows = left < op->block ? left : op->block;
    const int64_t at = first * op->length * (op->floats ? (int64_t)sizeof(float) : 1);
    run_rows(op, (const char *)run->x + at, (char *)run->y + at, rows);
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node, void *state)
{
    const struct softmax *op = state;
    struct run run = {op, hl_data(hl_input(ctx, node, 0)), hl_output(ctx, node, 0)->data.data};
    hl_parallel(ctx, (op->rows + op->block - 1) / op->block, run_item, &run);
    return kTfLiteOk;
}

const struct hl_fast hl_fast_softmax = {.prepare = prepare, .invoke = invoke, .release = free, .run_rows = run_rows};
const struct hl_fast hl_fast_log_softmax = {.prepare = log_prepare, .invoke = invoke, .release = free};
