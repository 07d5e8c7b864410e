// SPDX-License-Identifier: Apache-2.0
// BATCH_MATMUL of floats, of int8, or of int16 with int16 or int8, as products of tiles. The second operand is packed
// into panels: each by the item of work that multiplies with it, or all once where it is constant. Rows of the first
// operand are read where they lie, or are copied first: columns, int16 whose number is odd, for a step reads two, and
// int8, which become int16 without their zero point or bytes with another sign, whatever the CPU level multiplies.
// (512 x 256 int16 times 256 x 1280 and 256 x 128: 31.6 ms on the reference kernel, 4.3 ms so, with AVX-512.)
#include "fast/batch_matmul.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "abi/built_types.h"
#include "fast/attention.h"
#include "fast/fast.h"
#include "ops/batch_matmul.h"
#include "ops/common/copy.h"
#include "ops/common/dot.h"

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void cut_work(const TfLiteContext *ctx, struct hl_matmul *op)
{
    const struct hl_packed *packed = &op->packed;
    double products = (double)op->batches * (double)op->m * (double)packed->columns * (double)packed->depth;
    const int threads = hl_pays_to_share(ctx, products, HL_MIN_SHARED_PRODUCTS) ? hl_thread_count(ctx) : 1;
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

static bool takes_words(TfLiteContext *ctx, const TfLiteNode *node, const struct hl_batch_matmul *op)
{
    return HL_HAS_WORDS && op->mode == HL_MATMUL_INTEGER && hl_input(ctx, node, 0)->type == kTfLiteInt16 &&
           hl_simd_best_of_pairs();
}

static bool takes_bytes(TfLiteContext *ctx, const TfLiteNode *node, const struct hl_batch_matmul *op)
{
    return HL_HAS_BYTES && op->mode == HL_MATMUL_INTEGER && hl_input(ctx, node, 0)->type == kTfLiteInt8 &&
           hl_input(ctx, node, 1)->type == kTfLiteInt8 && hl_output(ctx, node, 0)->type == kTfLiteInt8 &&
           op->k <= INT32_MAX / (255 * 255) && hl_simd_best(INT_MAX)->dot_width > 1;
}

// Whether rows of int8 are not multiplied as they lie: a row that ended within a step, which is read whole, might be
// the tensor's last one.
static bool copies_bytes(const struct hl_simd *simd, int k)
{
    return simd->dot_width != 4 || hl_simd_sign_offset(simd, false) != 0 || k % 4 != 0;
}

static void set_scales(const struct hl_matmul *fast, const struct hl_batch_matmul *op)
{
    struct hl_epilogue_params params = {.words = fast->words};
    for (int n = 0; n < op->n; n++) {
        params.rescales = op->rescales + (op->scales > 1 ? n : 0);
        fast->epilogue.form->set(&fast->epilogue, &params, 0, n);
    }
}

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node, void **state, size_t *bytes)
{
    const struct hl_batch_matmul *op = node->user_data;
    const TfLiteBatchMatMulParams *params = node->builtin_data;
    const TfLiteTensor *w = hl_input(ctx, node, 1);
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    if (hl_elements(y) == 0 || op->k == 0) return kTfLiteOk;
    const bool words = takes_words(ctx, node, op), bytes_only = takes_bytes(ctx, node, op),
               integers = words || bytes_only;
    const bool constant = hl_is_packable(w);
    if (op->mode != HL_MATMUL_FLOAT && !integers) return kTfLiteOk;
    const struct hl_simd *simd = words        ? hl_simd_best_of_pairs()
                                 : bytes_only ? hl_simd_best(INT_MAX)
                                              : hl_simd_best(op->n);
    const int64_t size = (int64_t)op->n * op->k;
    struct hl_matmul made = {
        .w = {.type = w->type,
              .zero = bytes_only && op->scales == 1 ? hl_zero(w) : 0,
              .matrices = constant ? hl_elements(w) / size : 0,
              .depth = op->k,
              .columns = op->n,
              .matrix_stride = size,
              .depth_stride = params->adj_y ? 1 : op->n,
              .column_stride = params->adj_y ? op->k : 1,
              .run = op->n},
        .words = words,
        .bytes = bytes_only,
        .x_zero = bytes_only ? hl_zero(hl_input(ctx, node, 0)) : 0,
        .x_transposed = params->adj_x,
        .x_copied = params->adj_x || (words && op->k % 2 != 0) || (bytes_only && copies_bytes(simd, op->k)),
        .m = op->m,
        .batches = hl_elements(y) / ((int64_t)op->m * op->n),
    };
    if (is_one_matrix(op->w_batch) && !params->adj_x) { // all batches of x are rows of one
        made.m *= made.batches;
        made.batches = 1;
    }
    struct hl_packed *packed = &made.packed;
    hl_packed_init(packed, simd, &made.w, made.w.depth);
    if (words) {
        hl_packed_use_pieces(packed, false);
        hl_epilogue_init(&made.epilogue, simd, op->n, 1,
                         &(struct hl_epilogue_params){.words = true,
                                                      .low = op->low,
                                                      .high = op->high,
                                                      .pieces = packed->pieces,
                                                      .upper = packed->layers > 1 ? packed->pieces / 2 : 0});
    }
    made.x_stride = words ? (made.x_copied ? hl_packed_row_bytes(packed) : op->k * (ptrdiff_t)sizeof(int16_t))
                          : op->k * (bytes_only && simd->dot_width == 2 ? (ptrdiff_t)sizeof(int16_t) : 1);
    if (bytes_only) {
        if (simd->dot_width == 4)
            made.initial.x_zero = hl_simd_value(simd, (uint8_t)made.x_zero ^ hl_simd_sign_offset(simd, false));
        const struct hl_epilogue_params bytes_of = {.rescales = op->rescales,
                                                    .low = op->low,
                                                    .high = op->high,
                                                    .zero = hl_zero(y)};
        hl_epilogue_init(&made.epilogue, simd, op->scales, 1, &bytes_of);
        made.epilogue.row_stride = op->n;
    }
    cut_work(ctx, &made);
    struct hl_parts parts = {.weights = &made.shared};
    const int threads = hl_thread_count(ctx);
    hl_packed_parts(packed, made.w.matrices, false, false, &parts);
    if (integers) made.epilogue.form->parts(&made.epilogue, packed->panels * simd->columns, &parts);
    hl_parts_add_scratch(&parts, &made.panel, threads, constant ? 0 : packed->steps * packed->layers + integers,
                         simd->columns, 4);
    hl_parts_add_scratch(&parts, &made.rows, threads, made.x_copied ? made.m + simd->rows : 0, packed->steps, 4);
    hl_parts_add_scratch(&parts, &made.corrections, threads, packed->w_zero != 0 ? made.m : 0, 1, sizeof(int32_t));
    hl_parts_add_scratch(&parts, &made.sums, threads, words ? packed->pieces : bytes_only, hl_piece_size(simd), 4);
    HL_TRY(hl_fast_build(ctx, node, &parts, &made, sizeof made, state, bytes));
    const struct hl_matmul *fast = *state;
    if (!fast) return kTfLiteOk;
    if (integers && !parts.filled) set_scales(fast, op);
    if (constant && !parts.filled) {
        struct hl_matrix weights = fast->w;
        weights.data = hl_data(w);
        hl_packed_fill(ctx, &fast->packed, &weights, &fast->initial);
    }
    hl_fast_share(&parts, &made, *state, bytes);
    return kTfLiteOk;
}

struct run {
    const struct hl_matmul *fast;
    const struct hl_batch_matmul *op;
    const char *x;
    const void *w;
    void *y;
};

int64_t hl_matmul_size(const struct hl_matmul *fast)
{
    return fast->bytes ? 1 : fast->words ? sizeof(int16_t) : sizeof(float);
}

// Rows [first, end) of int8 as they are multiplied, one after the other: int16 without their zero point, or bytes. A
// row may end within a step: it is multiplied with the beginning of the next one, and with weights of 0.
static void copy_bytes(const struct hl_matmul *fast, const uint8_t *x, int64_t first, int64_t end, void *rows)
{
    const struct hl_simd *simd = fast->packed.simd;
    const uint8_t sign = hl_simd_sign_offset(simd, false);
    const int64_t k = fast->packed.depth;
    const bool pairs = simd->dot_width == 2;
    if (!fast->x_transposed) {
        if (pairs)
            simd->kernels->widen(x + first * k, 0, fast->x_zero, (end - first) * k, rows);
        else
            simd->kernels->xor_bytes(x + first * k, sign, (end - first) * k, rows);
        return;
    }
    for (int64_t r = first, at = 0; r < end; r++)
        for (int64_t i = 0; i < k; i++, at++) {
            const uint8_t value = x[i * fast->m + r];
            if (pairs)
                ((int16_t *)rows)[at] = (int16_t)((int8_t)value - fast->x_zero);
            else
                ((uint8_t *)rows)[at] = value ^ sign;
        }
}

const void *hl_matmul_rows(const struct hl_matmul *fast, const char *x, int64_t first, int64_t end, void *rows,
                           int32_t *corrections)
{
    const struct hl_packed *packed = &fast->packed;
    const int64_t k = packed->depth, size = hl_matmul_size(fast);
    if (fast->bytes) {
        const void *const from = fast->x_copied ? rows : x + first * k;
        if (fast->x_copied) copy_bytes(fast, (const uint8_t *)x, first, end, rows);
        if (packed->w_zero != 0) packed->simd->sum_rows(from, k, end - first, k, packed->w_zero, corrections);
        return from;
    }
    if (!fast->x_copied) return x + first * k * size;
    const int dims[2] = {(int)(end - first), (int)k};
    const struct hl_layout to = {.stride = {hl_packed_row_bytes(packed) / size, 1}};
    const struct hl_layout columns = {.offset = first, .stride = {1, fast->m}};
    const struct hl_layout in_order = {.offset = first * k, .stride = {k, 1}};
    hl_copy((int)size * 8, 2, dims, rows, &to, x, fast->x_transposed ? &columns : &in_order);
    return rows;
}

// `rows` rows, which become rows of y from `position` on, times the panel of a tile.
static void multiply_integers(const struct hl_matmul *fast, struct hl_tile *tile, int64_t position, int64_t rows,
                              int64_t panel, const struct hl_output *output)
{
    const int columns = fast->packed.simd->columns;
    struct hl_output_tile at = {.channel = panel * columns, .column = panel * columns, .sums_stride = columns};
    fast->epilogue.form->begin(&fast->epilogue, output, tile);
    for (int64_t r = 0; r < rows; r += tile->rows) {
        tile->rows = at.rows = rows - r < fast->packed.rows ? (int)(rows - r) : fast->packed.rows;
        at.position = position + r;
        at.row = (int)r;
        if (HL_HAS_WORDS && fast->words)
            hl_gemm_pieces(&fast->packed, tile);
        else
            fast->packed.multiply(tile);
        fast->epilogue.form->finish(&fast->epilogue, output, &at, tile->columns);
        tile->x = (const char *)tile->x + tile->rows * tile->x_stride;
    }
}

void hl_matmul_panel(const struct hl_matmul *fast, struct hl_tile *tile, int64_t panel, const void *x, int64_t count,
                     int64_t position, const struct hl_output *output)
{
    tile->x = x;
    if (fast->packed.dot_width > 1) {
        multiply_integers(fast, tile, position, count, panel, output);
        return;
    }
    tile->y = (float *)output->y + position * tile->y_stride + panel * fast->packed.simd->columns;
    hl_gemm(&fast->packed, tile, count);
}

// Packs a panel. Returns its initial accumulators, which lie behind it.
static const void *pack_integers(const struct hl_matmul *fast, const struct hl_matrix *w, int64_t matrix, int64_t panel,
                                 char *to)
{
    uint32_t *const initial = (uint32_t *)(void *)(to + hl_packed_panel_bytes(&fast->packed));
    hl_pack_integers(&fast->packed, w, &fast->initial, matrix, panel, to, initial);
    return initial;
}

static void run_item(void *arg, int64_t item, int worker)
{
    const struct run *run = arg;
    const struct hl_matmul *fast = run->fast;
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
    void *const own = hl_scratch_of(&fast->panel, worker);
    const bool integers = packed->dot_width > 1;
    int32_t *const corrections = hl_scratch_of(&fast->corrections, worker);
    const void *x = hl_matmul_rows(fast, run->x + x_matrix * fast->m * packed->depth * hl_matmul_size(fast), first, end,
                                   hl_scratch_of(&fast->rows, worker), corrections);
    const struct hl_output output = {.y = run->y,
                                     .sums = hl_scratch_of(&fast->sums, worker),
                                     .corrections = corrections};
    for (; panel < panel_end; panel++) {
        struct hl_tile tile = packed->tile;
        hl_packed_set_panel(packed, w_matrix, panel, &tile);
        tile.x_stride = fast->x_stride;
        tile.y_stride = packed->columns;
        if (!packed->weights) tile.w = own;
        if (!packed->weights && integers)
            tile.initial = pack_integers(fast, &w, w_matrix, panel, own);
        else if (!packed->weights)
            hl_pack_panel(packed, &w, w_matrix, panel, own);
        hl_matmul_panel(fast, &tile, panel, x, end - first, batch * fast->m + first, &output);
    }
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node, void *state)
{
    const struct hl_matmul *fast = state;
    if (fast->attention) {
        hl_attention_run(ctx, node, fast->attention);
        return kTfLiteOk;
    }
    struct run run = {
        .fast = fast,
        .op = node->user_data,
        .x = hl_data(hl_input(ctx, node, 0)),
        .w = hl_data(hl_input(ctx, node, 1)),
        .y = hl_output(ctx, node, 0)->data.data,
    };
    hl_parallel(ctx, fast->batches * fast->row_parts * fast->panel_parts, run_item, &run);
    return kTfLiteOk;
}

static void release(void *state)
{
    struct hl_matmul *fast = state;
    hl_attention_destroy(fast->attention);
    hl_weights_release(fast->shared);
    free(fast);
}

static TfLiteStatus join(TfLiteContext *ctx, TfLiteNode *node, void *state, const struct hl_joined *joined,
                         size_t *bytes)
{
    struct hl_matmul *fast = state;
    return hl_attention_create(ctx, node, fast, joined, &fast->attention, bytes);
}

const struct hl_fast hl_fast_batch_matmul = {.prepare = prepare, .invoke = invoke, .release = release, .join = join};
