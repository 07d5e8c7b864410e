// SPDX-License-Identifier: Apache-2.0
// BATCH_MATMUL of floats as products of tiles. The second operand is packed into panels: each by the item of work that
// multiplies with it, or all once where it is constant. Rows of the first operand are read where they lie, or are
// transposed first where they are columns.
#include "ops/batch_matmul.h"

#include <math.h>
#include <stdlib.h>

#include "fast/fast.h"
#include "fast/gemm.h"
#include "ops/common/copy.h"

struct matmul {
    struct hl_packed packed;   // without weights where w is not constant
    struct hl_weights *shared; // the memory of constant weights; NULL: the state's
    struct hl_matrix w;        // without data
    bool x_transposed;         // stored as [k, m]
    int64_t m, batches;
    // What each worker has: a panel where w is not constant, and rows of x where they are transposed.
    struct hl_scratch panel, rows;
    // Each batch is cut into so many parts by its rows, and by its panels.
    int64_t row_parts, panel_parts;
};

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void cut_work(struct matmul *op, int threads)
{
    const struct hl_packed *packed = &op->packed;
    double products = (double)op->batches * (double)op->m * (double)packed->columns * (double)packed->depth;
    if (products < HL_MIN_SHARED_PRODUCTS) threads = 1;
    op->panel_parts = smaller((threads + op->batches - 1) / op->batches, packed->panels);
    int64_t items = op->batches * op->panel_parts, rows = packed->simd->rows;
    op->row_parts = smaller((threads + items - 1) / items, (op->m + rows - 1) / rows);
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
    const bool constant = hl_is_packable(w);
    const int64_t size = (int64_t)op->n * op->k;
    struct matmul made = {
        .w = {.type = kTfLiteFloat32,
              .matrices = constant ? hl_elements(w) / size : 0,
              .depth = op->k,
              .columns = op->n,
              .matrix_stride = size,
              .depth_stride = params->adj_y ? 1 : op->n,
              .column_stride = params->adj_y ? op->k : 1,
              .run = op->n},
        .x_transposed = params->adj_x,
        .m = op->m,
        .batches = hl_elements(y) / ((int64_t)op->m * op->n),
    };
    if (is_one_matrix(op->w_batch) && !params->adj_x) { // all batches of x are rows of one
        made.m *= made.batches;
        made.batches = 1;
    }
    hl_packed_init(&made.packed, simd, &made.w, made.w.depth);
    cut_work(&made, hl_thread_count(ctx));
    struct hl_parts parts = {.weights = &made.shared};
    const int threads = hl_thread_count(ctx);
    hl_packed_parts(&made.packed, made.w.matrices, false, false, &parts);
    hl_parts_add_scratch(&parts, &made.panel, threads, constant ? 0 : op->k, simd->columns, sizeof(float));
    hl_parts_add_scratch(&parts, &made.rows, threads, params->adj_x ? made.m + simd->rows : 0, op->k, sizeof(float));
    HL_TRY(hl_fast_build(ctx, node, &parts, &made, sizeof made, state, bytes));
    if (!*state || !constant || parts.filled) return kTfLiteOk;
    const struct matmul *fast = *state;
    struct hl_matrix weights = fast->w;
    weights.data = hl_data(w);
    hl_packed_fill(ctx, &fast->packed, &weights, &(struct hl_initial){0});
    hl_fast_share(&parts, &made, *state, bytes);
    return kTfLiteOk;
}

struct run {
    const struct matmul *fast;
    const struct hl_batch_matmul *op;
    const float *x, *w;
    float *y;
};

// Rows [first, end) of one matrix of x, as they are multiplied.
static const float *rows_of(const struct matmul *fast, const float *x, int64_t first, int64_t end, float *rows)
{
    const int64_t k = fast->packed.depth;
    if (!fast->x_transposed) return x + first * k;
    const int dims[2] = {(int)(end - first), (int)k};
    const struct hl_layout to = {.stride = {k, 1}};
    const struct hl_layout from = {.offset = first, .stride = {1, fast->m}};
    hl_copy(32, 2, dims, rows, &to, x, &from);
    return rows;
}

static void run_item(void *arg, int64_t item, int worker)
{
    const struct run *run = arg;
    const struct matmul *fast = run->fast;
    const struct hl_packed *packed = &fast->packed;
    int64_t row_part = item % fast->row_parts, rest = item / fast->row_parts;
    int64_t panel_part = rest % fast->panel_parts, batch = rest / fast->panel_parts;
    int64_t first = fast->m * row_part / fast->row_parts;
    int64_t end = fast->m * (row_part + 1) / fast->row_parts;
    int64_t panel = packed->panels * panel_part / fast->panel_parts;
    int64_t panel_end = packed->panels * (panel_part + 1) / fast->panel_parts;
    int64_t x_matrix = 0, w_matrix = 0;
    if (fast->batches > 1) hl_find_matrices(run->op, batch, &x_matrix, &w_matrix);

    struct hl_matrix w = fast->w;
    w.data = run->w;
    float *own = hl_scratch_of(&fast->panel, worker);
    const float *x =
        rows_of(fast, run->x + x_matrix * fast->m * packed->depth, first, end, hl_scratch_of(&fast->rows, worker));
    for (; panel < panel_end; panel++) {
        struct hl_tile tile = hl_packed_tile(packed, w_matrix, panel);
        if (!packed->weights) {
            hl_pack_panel(packed, &w, w_matrix, panel, own);
            tile.w = own;
        }
        tile.x = x;
        tile.x_stride = packed->depth;
        tile.y = run->y + (batch * fast->m + first) * packed->columns + panel * packed->simd->columns;
        tile.y_stride = packed->columns;
        hl_gemm(packed, &tile, end - first);
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

static void release(void *state)
{
    hl_weights_release(((struct matmul *)state)->shared);
    free(state);
}

const struct hl_fast hl_fast_batch_matmul = {.prepare = prepare, .invoke = invoke, .release = release};
