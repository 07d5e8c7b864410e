// SPDX-License-Identifier: Apache-2.0
// Attention in blocks of rows. In: queries, keys and values, and the tensors that the chain between the two products
// reads. Out: the product with the values. An item of work is a block of rows of one matrix: its queries times all keys
// are scores in the memory of its thread, where the chain and SOFTMAX go on with them, and these times all values are
// rows of the output. All of it is done by the nodes' own kernels, in their order. Keys and values that come at run
// time are packed by each thread when it comes to their matrix, or, where several threads have one, all before.
#include "fast/attention.h"

#include <math.h>
#include <stdlib.h>

#include "fast/chain.h"
#include "ops/batch_matmul.h"

// One of the two products.
struct factor {
    const struct hl_matmul *op;
    const struct hl_batch_matmul *shape;
    struct hl_packed packed;  // with weights: all matrices, or one of each worker
    struct hl_scratch matrix; // then, of each worker: the number of that matrix, int64_t
};

struct attention {
    struct factor keys, values;
    struct hl_joined joined;
    int64_t matrices, m, length; // of scores: [matrices][m][length]
    int64_t block, blocks;       // rows of an item of work, and items of a matrix
    int threads;                 // that share them
    int64_t stride;              // from row to row of scores, in elements
    // Of each worker: the scores of a block; rows of queries or of scores, where they are copied; their corrections.
    struct hl_scratch scores, rows, corrections;
};

// ---- making -------------------------------------------------------------------------------------

static int64_t count_of(const int batches[HL_BATCH_DIMS])
{
    int64_t count = 1;
    for (int i = 0; i < HL_BATCH_DIMS; i++) count *= batches[i];
    return count;
}

// Scores of a block have so many bytes, or are one tile. (64 to 800 KB made no difference on a Zen 4 with 1 MB of
// second-level cache.) Rows of so many floats, or twice so many, lie in the same sets of the first-level cache.
enum { BLOCK_BYTES = 128 << 10, ALIKE = 2048 / sizeof(float) };

// Blocks are whole tiles, as large as may be, but for the last thread to be done as early as possible. To read all
// panels again takes about a quarter of a tile.
static void cut_work(const TfLiteContext *ctx, struct attention *a)
{
    const double reads = 0.25;
    const int64_t tile = a->keys.op->packed.rows, row_bytes = a->length * hl_matmul_size(a->values.op);
    const double products =
        (double)a->matrices * (double)a->m * (double)a->length * (a->keys.shape->k + (double)a->values.shape->n);
    a->threads = hl_pays_to_share(ctx, products, HL_MIN_SHARED_PRODUCTS) ? hl_thread_count(ctx) : 1;
    double best = INFINITY;
    for (int64_t tiles = 1; tiles == 1 || (tiles * tile * row_bytes <= BLOCK_BYTES && (tiles - 1) * tile < a->m);
         tiles++) {
        const int64_t blocks = (a->m - 1) / (tiles * tile) + 1;
        const double turns = (double)((a->matrices * blocks - 1) / a->threads + 1);
        const double takes = turns * ((double)tiles + reads);
        if (takes > best) continue;
        best = takes;
        a->block = tiles * tile;
        a->blocks = blocks;
    }
}

// Few rows wait for panels that are packed for them alone, and matrices of few keys fit the first-level cache better
// apart. (Time over time apart, one thread of a Zen 4, floats and int8: 1.4 and 1.05 with 1 row and 1024 keys, 1.05 and
// 1.03 with 4, 0.86 to 1.01 with 16; 1.06 to 1.13 and 1.02 with 49 rows and keys, 1.01 with 64, 0.98 to 1.01 with 128.)
enum { MIN_ROWS = 16, MIN_KEYS = 128 };

static bool fits(const struct attention *a)
{
    const struct hl_matmul *keys = a->keys.op, *values = a->values.op;
    const struct hl_batch_matmul *scores = a->keys.shape, *shape = a->values.shape;
    if (keys->words || values->words || keys->bytes != values->bytes || values->x_transposed) return false;
    return a->m >= MIN_ROWS && a->length >= MIN_KEYS && shape->m == scores->m && shape->k == scores->n &&
           memcmp(shape->x_batch, shape->y_batch, sizeof shape->y_batch) == 0 &&
           count_of(scores->y_batch) == a->matrices;
}

// A thread that has few blocks of a matrix would pack as long as it multiplies. (One thread of a Zen 4, 12 heads of 384
// tokens and 64 values: floats 5.40 ms with all packed before, 5.23 so; int8 4.84, 4.60.)
static bool packs_alone(const struct attention *a)
{
    return a->threads == 1 || a->matrices >= 2 * a->threads;
}

static void list_panels(const struct attention *a, struct factor *factor, struct hl_parts *parts)
{
    factor->packed = factor->op->packed;
    if (factor->packed.weights) return;
    const bool alone = packs_alone(a);
    hl_packed_parts(&factor->packed, alone ? a->threads : count_of(factor->shape->w_batch), false, false, parts);
    hl_parts_add_scratch(parts, &factor->matrix, a->threads, alone, 1, sizeof(int64_t));
}

TfLiteStatus hl_attention_create(TfLiteContext *ctx, const TfLiteNode *node, const struct hl_matmul *values,
                                 const struct hl_joined *joined, void **attention, size_t *bytes)
{
    struct attention made = {
        .keys = {.op = hl_fast_state_of(joined->product), .shape = joined->product->user_data},
        .values = {.op = values, .shape = node->user_data},
        .joined = *joined,
    };
    struct attention *a = &made;
    a->matrices = count_of(a->values.shape->y_batch);
    a->m = a->values.shape->m;
    a->length = a->values.shape->k;
    if (!fits(a)) return kTfLiteOk;
    a->stride = a->length;
    if (!values->bytes && a->length % ALIKE == 0) a->stride += HL_LINE / (int)sizeof(float);
    cut_work(ctx, a);
    struct hl_parts parts = {0};
    const bool copied = a->keys.op->x_copied || values->x_copied;
    const int64_t rows = a->block + values->packed.rows, steps = values->packed.steps > a->keys.op->packed.steps
                                                                     ? values->packed.steps
                                                                     : a->keys.op->packed.steps;
    list_panels(a, &a->keys, &parts);
    list_panels(a, &a->values, &parts);
    hl_parts_add_scratch(&parts, &a->scores, a->threads, rows, a->stride, (size_t)hl_matmul_size(values));
    hl_parts_add_scratch(&parts, &a->corrections, a->threads, values->bytes ? rows : 0, 1, sizeof(int32_t));
    hl_parts_add_scratch(&parts, &a->rows, a->threads, copied ? rows : 0, steps, 4);
    return hl_fast_build(ctx, node, &parts, a, sizeof *a, attention, bytes);
}

void hl_attention_destroy(void *attention)
{
    free(attention);
}

// ---- running ------------------------------------------------------------------------------------

struct run {
    const struct attention *a;
    const char *queries, *keys, *values;
    char *y;
    struct hl_chain_run chain;
};

static struct hl_matrix matrix_of(const struct factor *factor, const char *data)
{
    struct hl_matrix matrix = factor->op->w;
    matrix.data = data;
    matrix.matrices = count_of(factor->shape->w_batch);
    return matrix;
}

// Which matrix of panels is this one of w: itself, or the worker's own, which then has it.
static int64_t panels_of(const struct factor *factor, const char *w, int64_t number, int worker)
{
    int64_t *const packed = hl_scratch_of(&factor->matrix, worker);
    if (!packed) return number;
    if (*packed == number) return worker;
    struct hl_matrix matrix = matrix_of(factor, w + number * factor->op->w.matrix_stride * hl_matmul_size(factor->op));
    matrix.matrix_stride = 0;
    hl_packed_fill_matrix(&factor->packed, &matrix, &factor->op->initial, worker);
    *packed = number;
    return worker;
}

// Rows [first, first + count) of one matrix of x, times a matrix of w, with the strides of floats.
struct product {
    const char *x, *w;
    int64_t first, count, matrix;
    ptrdiff_t x_stride, y_stride;
    void *y;
};

static void multiply(const struct attention *a, const struct factor *factor, const struct product *product, int worker)
{
    const struct hl_matmul *op = factor->op;
    int32_t *const corrections = hl_scratch_of(&a->corrections, worker);
    const void *const x = hl_matmul_rows(op, product->x, product->first, product->first + product->count,
                                         hl_scratch_of(&a->rows, worker), corrections);
    const int64_t matrix = panels_of(factor, product->w, product->matrix, worker);
    const struct hl_output output = {.y = product->y,
                                     .sums = hl_scratch_of(&op->sums, worker),
                                     .corrections = op->packed.w_zero != 0 ? corrections : NULL};
    for (int64_t panel = 0; panel < factor->packed.panels; panel++) {
        struct hl_tile tile = factor->packed.tile;
        hl_packed_set_panel(&factor->packed, matrix, panel, &tile);
        tile.x_stride = product->x_stride;
        tile.y_stride = product->y_stride;
        hl_matmul_panel(op, &tile, panel, x, product->count, 0, &output);
    }
}

// The chain and SOFTMAX go on with `count` rows of scores, of which the first has this number.
static void go_on(const struct run *run, char *scores, int64_t row, int64_t count)
{
    const struct attention *a = run->a;
    const int64_t together = a->stride == a->length ? count : 1;
    for (int64_t r = 0; r < count; r += together, scores += a->stride * hl_matmul_size(a->values.op)) {
        if (run->chain.chain) hl_chain_elements_at(&run->chain, scores, (row + r) * a->length, together * a->length);
        a->joined.rows->run_rows(a->joined.rows_state, scores, scores, together);
    }
}

static void run_item(void *arg, int64_t item, int worker)
{
    const struct run *run = arg;
    const struct attention *a = run->a;
    const struct hl_matmul *values = a->values.op;
    const int64_t matrix = item / a->blocks, first = item % a->blocks * a->block, row = matrix * a->m + first;
    const int64_t left = a->m - first, count = left < a->block ? left : a->block, size = hl_matmul_size(values);
    char *const scores = hl_scratch_of(&a->scores, worker);
    struct product product = {.w = run->keys,
                              .first = first,
                              .count = count,
                              .x_stride = a->keys.op->x_stride,
                              .y_stride = a->stride,
                              .y = scores};
    int64_t x_matrix;
    hl_find_matrices(a->keys.shape, matrix, &x_matrix, &product.matrix);
    product.x = run->queries + x_matrix * a->m * a->keys.shape->k * size;
    multiply(a, &a->keys, &product, worker);
    go_on(run, scores, row, count);
    product = (struct product){.x = scores,
                               .w = run->values,
                               .count = count,
                               .x_stride = values->bytes ? values->x_stride : a->stride,
                               .y_stride = a->values.shape->n,
                               .y = run->y + row * a->values.shape->n * size};
    hl_find_matrices(a->values.shape, matrix, &x_matrix, &product.matrix);
    multiply(a, &a->values, &product, worker);
}

static void start(const TfLiteContext *ctx, const struct factor *factor, const char *w, int threads)
{
    const struct hl_matrix matrix = matrix_of(factor, w);
    for (int worker = 0; worker < threads && factor->matrix.first; worker++)
        *(int64_t *)hl_scratch_of(&factor->matrix, worker) = -1;
    if (!factor->op->packed.weights && !factor->matrix.first)
        hl_packed_fill(ctx, &factor->packed, &matrix, &factor->op->initial);
}

void hl_attention_run(TfLiteContext *ctx, const TfLiteNode *node, const void *attention)
{
    const struct attention *a = attention;
    const TfLiteNode *product = a->joined.product;
    struct run run = {
        .a = a,
        .queries = hl_data(hl_input(ctx, product, 0)),
        .keys = hl_data(hl_input(ctx, product, 1)),
        .values = hl_data(hl_input(ctx, node, 1)),
        .y = hl_output(ctx, node, 0)->data.raw,
    };
    start(ctx, &a->keys, run.keys, a->threads);
    start(ctx, &a->values, run.values, a->threads);
    hl_chain_begin(ctx, a->joined.chain, NULL, &run.chain);
    if (a->threads > 1)
        hl_parallel(ctx, a->matrices * a->blocks, run_item, &run);
    else
        for (int64_t item = 0; item < a->matrices * a->blocks; item++) run_item(&run, item, 0);
}
