// SPDX-License-Identifier: Apache-2.0
// BATCH_MATMUL of floats by tiles. The second operand is packed into panels, each by the item of work that multiplies
// with it, or once where it is constant; rows of the first are read where they lie, or turned where they are columns.
#include "ops/batch_matmul.h"

#include <math.h>
#include <stdlib.h>

#include "fast/fast.h"
#include "fast/simd/simd.h"
#include "ops/common/copy.h"

struct matmul {
    const struct hl_simd *simd;
    bool x_turned, w_turned; // stored as [k, m], [n, k]
    int64_t m, n, k, batches;
    int64_t panels;
    float *packed; // [matrices of w][panels][k][columns], NULL: not constant
    // of each worker: a panel where w is not constant, and at rows_at rows of x where they are turned
    char *scratch;
    size_t worker_bytes, rows_at;
    // Each batch is cut into so many parts by its rows, and by its panels.
    int64_t row_parts, panel_parts;
};

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void cut_work(struct matmul *op, int threads)
{
    int rows = op->simd->rows;
    if ((double)op->batches * (double)op->m * (double)op->n * (double)op->k < HL_LEAST_PRODUCTS) threads = 1;
    op->panel_parts = smaller((threads + op->batches - 1) / op->batches, op->panels);
    int64_t items = op->batches * op->panel_parts;
    op->row_parts = smaller((threads + items - 1) / items, (op->m + rows - 1) / rows);
}

// Columns [first, first + simd->columns) of one matrix of w; those beyond the last stay what they are.
static void pack(const struct matmul *op, const float *w, int64_t first, float *panel)
{
    int columns = op->simd->columns;
    const int dims[2] = {(int)op->k, (int)smaller(op->n - first, columns)};
    const struct hl_layout to = {.stride = {columns, 1}};
    const struct hl_layout straight = {.offset = first, .stride = {op->n, 1}};
    const struct hl_layout turned = {.offset = first * op->k, .stride = {1, op->k}};
    hl_copy(32, 2, dims, panel, &to, w, op->w_turned ? &turned : &straight);
}

static bool is_one_matrix(const int *batches)
{
    for (int i = 0; i < HL_BATCH_DIMS; i++)
        if (batches[i] != 1) return false;
    return true;
}

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node, void **state, size_t *bytes)
{
    const struct hl_batch_matmul *op = node->user_data;
    const TfLiteBatchMatMulParams *params = node->builtin_data;
    const TfLiteTensor *w = hl_input(ctx, node, 1);
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    if (op->mode != HL_MATMUL_FLOAT || hl_elements(y) == 0 || op->k == 0) return kTfLiteOk;
    const struct hl_simd *simd = hl_simd_best(op->n);
    struct matmul made = {
        .simd = simd,
        .x_turned = params->adj_x,
        .w_turned = params->adj_y,
        .m = op->m,
        .n = op->n,
        .k = op->k,
        .batches = hl_elements(y) / ((int64_t)op->m * op->n),
        .panels = (op->n + simd->columns - 1) / simd->columns,
    };
    if (is_one_matrix(op->w_batch) && !params->adj_x) { // all batches of x are rows of one
        made.m *= made.batches;
        made.batches = 1;
    }
    cut_work(&made, hl_thread_count(ctx));
    bool constant = hl_is_packable(w);
    int64_t matrices = constant ? hl_elements(w) / ((int64_t)op->n * op->k) : 0, panel = op->k * (int64_t)simd->columns;
    int64_t turned = params->adj_x ? made.m + simd->rows : 0; // at least a part's rows
    size_t total = 0;
    hl_fast_part(&total, 1, 1, sizeof made);
    size_t packed = hl_fast_part(&total, matrices * made.panels, panel, sizeof(float));
    hl_fast_part(&made.worker_bytes, constant ? 0 : 1, panel, sizeof(float));
    made.rows_at = hl_fast_part(&made.worker_bytes, turned, op->k, sizeof(float));
    size_t scratch = hl_fast_part(&total, hl_thread_count(ctx), 1, made.worker_bytes);
    hl_fast_part(&total, 1, 1, HL_LINE);
    HL_TRY(hl_fast_make(ctx, node, total, state));
    struct matmul *fast = *state;
    if (!fast) return kTfLiteOk;
    *fast = made;
    char *base = hl_fast_base(fast);
    fast->packed = constant ? (float *)(base + packed) : NULL;
    fast->scratch = base + scratch;
    for (int64_t i = 0; i < matrices * made.panels; i++)
        pack(fast, HL_IN(float, w) + i / made.panels * (made.n * made.k), i % made.panels * simd->columns,
             fast->packed + i * panel);
    *bytes = total;
    return kTfLiteOk;
}

struct run {
    const struct matmul *fast;
    const struct hl_batch_matmul *op;
    const float *x, *w;
    float *y;
};

static void run_item(void *arg, int64_t item, int worker)
{
    static const float zeros[64] = {0}; // as many columns as any tile has, and more
    const struct run *run = arg;
    const struct matmul *fast = run->fast;
    const struct hl_simd *simd = fast->simd;
    int64_t row_part = item % fast->row_parts, rest = item / fast->row_parts;
    int64_t panel_part = rest % fast->panel_parts, batch = rest / fast->panel_parts;
    int64_t first = fast->m * row_part / fast->row_parts;
    int64_t end = fast->m * (row_part + 1) / fast->row_parts;
    int64_t panel = fast->panels * panel_part / fast->panel_parts;
    int64_t panel_end = fast->panels * (panel_part + 1) / fast->panel_parts;
    int64_t x_matrix = 0, w_matrix = 0, step = fast->k * simd->columns;
    if (fast->batches > 1) hl_find_matrices(run->op, batch, &x_matrix, &w_matrix);

    char *memory = fast->scratch + (size_t)worker * fast->worker_bytes;
    float *own = (float *)memory;
    const float *x = run->x + x_matrix * fast->m * fast->k;
    if (fast->x_turned) {
        float *rows = (float *)(memory + fast->rows_at);
        const int dims[2] = {(int)(end - first), (int)fast->k};
        const struct hl_layout to = {.stride = {fast->k, 1}};
        const struct hl_layout from = {.offset = first, .stride = {1, fast->m}};
        hl_copy(32, 2, dims, rows, &to, x, &from);
        x = rows;
    } else {
        x += first * fast->k;
    }
    for (; panel < panel_end; panel++) {
        int64_t column = panel * simd->columns;
        if (!fast->packed) pack(fast, run->w + w_matrix * fast->n * fast->k, column, own);
        struct hl_tile tile = {
            .x_stride = fast->k,
            .w = fast->packed ? fast->packed + (w_matrix * fast->panels + panel) * step : own,
            .steps = fast->k,
            .start = zeros,
            .y_stride = fast->n,
            .columns = (int)smaller(fast->n - column, simd->columns),
            .low = -INFINITY,
            .high = INFINITY,
        };
        for (int64_t r = first; r < end; r += tile.rows) {
            tile.rows = (int)smaller(end - r, simd->rows);
            tile.x = x + (r - first) * fast->k;
            tile.y = run->y + (batch * fast->m + r) * fast->n + column;
            simd->kernels->multiply_f32(&tile);
        }
    }
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node, void *state)
{
    const struct matmul *fast = state;
    struct run run = {
        .fast = fast,
        .op = node->user_data,
        .x = HL_IN(float, hl_input(ctx, node, 0)),
        .w = HL_IN(float, hl_input(ctx, node, 1)),
        .y = HL_OUT(float, hl_output(ctx, node, 0)),
    };
    hl_parallel(ctx, fast->batches * fast->row_parts * fast->panel_parts, run_item, &run);
    return kTfLiteOk;
}

const struct hl_fast hl_fast_batch_matmul = {prepare, invoke, free};
