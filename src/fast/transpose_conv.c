// SPDX-License-Identifier: Apache-2.0
// TRANSPOSE_CONV and Convolution2DTransposeBias with constant weights, float32 or 8-bit. Most of them gather what each
// output is made of (transpose_gather.c). Where a small input meets a large filter, that would be products with zeros
// for the most part. There the input is multiplied with the filter as a 1x1 convolution of kh * kw * outputs columns;
// each row of products is then added to the outputs that its input position reaches. A strip of output rows is one item
// of work: floats are added in the output itself, integers in an array beside it, from which they are requantized.
#include "ops/transpose_conv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fast/fast.h"
#include "fast/gemm.h"
#include "fast/rows.h"
#include "fast/transpose_gather.h"

struct transpose_conv {
    void *gather; // not NULL: it does everything, and nothing else is set
    struct hl_conv_shape shape;
    struct hl_packed packed;   // [taps][outputs] columns
    struct hl_rows rows;       // of the input's positions
    struct hl_weights *shared; // the memory of packed weights and of the numbers of rescaling; NULL: the state's
    struct hl_requantize requant;
    float low, high;
    int strip; // output rows of one item
    int block; // input positions of one product
    // What each worker has: products [block][columns], a block of packed rows, and the sums of integers
    // [strip][out_width][outputs].
    struct hl_scratch products, packed_rows, corrections, strip_sums;
};

// Strips and products have about so many bytes.
enum { STRIP_BYTES = 256 << 10, PRODUCT_BYTES = 64 << 10 };

// ---- prepare ------------------------------------------------------------------------------------

static int at_most(int64_t a, int b)
{
    return a < b ? (int)a : b;
}

// From one row of products to the next.
static int products_stride(const struct transpose_conv *t)
{
    return (int)t->packed.panels * t->packed.simd->columns;
}

// Strips that fit the cache, or lower ones so that all threads have some; and blocks of input positions.
static void cut_work(const TfLiteContext *ctx, struct transpose_conv *t)
{
    const struct hl_conv_shape *s = &t->shape;
    const int threads = hl_thread_count(ctx);
    double products = (double)s->batches * s->height * s->width * (double)t->packed.columns * (double)t->packed.depth;
    int64_t strip = STRIP_BYTES / 4 / ((int64_t)s->out_width * s->outputs);
    int64_t least = 2 * (int64_t)(s->kh > s->stride_h ? s->kh : s->stride_h);
    int64_t each = ((int64_t)s->out_height * s->batches + 2 * threads - 1) / (2 * threads);
    if (hl_pays_to_share(ctx, products, HL_MIN_SHARED_PRODUCTS) && strip > each) strip = each;
    t->strip = at_most(strip > least ? strip : least, s->out_height);
    int64_t rows = t->packed.simd->rows, tiles = PRODUCT_BYTES / 4 / (t->packed.columns * rows);
    t->block = at_most(rows * (tiles > 0 ? tiles : 1), s->width);
}

// Column (tap, output) of the product is row `output` of the filter, [outputs][taps][channels], at this tap.
static struct hl_matrix filter_matrix(const struct hl_conv_shape *s, const TfLiteTensor *filter)
{
    const int64_t taps = (int64_t)s->kh * s->kw;
    return (struct hl_matrix){
        .type = filter->type,
        .data = hl_data(filter),
        .zero = filter->type == kTfLiteUInt8 ? hl_zero(filter) : 0,
        .matrices = 1,
        .depth = s->channels,
        .columns = taps * s->outputs,
        .depth_stride = 1,
        .column_stride = taps * s->channels,
        .run = s->outputs,
        .run_stride = s->channels,
    };
}

// The input's positions as the windows of a 1x1 convolution.
static struct hl_conv_shape positions_shape(const struct hl_conv_shape *s)
{
    return (struct hl_conv_shape){
        .batches = s->batches,
        .height = s->height,
        .width = s->width,
        .channels = s->channels,
        .outputs = s->outputs,
        .kh = 1,
        .kw = 1,
        .filter_channels = s->channels,
        .out_height = s->height,
        .out_width = s->width,
        .stride_h = 1,
        .stride_w = 1,
        .dilation_h = 1,
        .dilation_w = 1,
    };
}

static TfLiteStatus prepare_gather(TfLiteContext *ctx, TfLiteNode *node, const struct hl_conv_shape *shape,
                                   void **state, size_t *bytes)
{
    const struct hl_transpose_conv *op = node->user_data;
    const TfLiteTensor *bias = hl_input(ctx, node, op->desc.bias);
    if (bias && !hl_is_packable(bias)) return kTfLiteOk;
    struct transpose_conv made = {0};
    HL_TRY(hl_transpose_gather_create(ctx, node, shape, &made.gather, bytes));
    if (!made.gather) return kTfLiteOk;
    TfLiteStatus status = hl_fast_make(ctx, node, sizeof made, state);
    *bytes += sizeof made;
    if (*state)
        *(struct transpose_conv *)*state = made;
    else
        hl_transpose_gather_destroy(made.gather);
    return status;
}

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node, void **state, size_t *bytes)
{
    const struct hl_transpose_conv *op = node->user_data;
    // (1,000 rows of 16 channels, 4x1 with stride 2 to 16: floats 67.9 us, 19.5 as a row; int8 65.8, 9.6.)
    const struct hl_conv_shape turned = hl_conv_as_row(&op->shape);
    const struct hl_conv_shape *s = hl_conv_turns(&op->shape, hl_thread_count(ctx)) ? &turned : &op->shape;
    const TfLiteTensor *x = hl_input(ctx, node, op->desc.input), *w = hl_input(ctx, node, op->desc.filter);
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    if (op->conv.mode != HL_CONV_F32 && op->conv.mode != HL_CONV_8BIT) return kTfLiteOk;
    if (hl_is_dynamic(y) || !hl_is_packable(w) || hl_elements(y) == 0 || hl_elements(x) == 0) return kTfLiteOk;
    if (hl_product(w->dims, 0, 3) > INT32_MAX / 64) return kTfLiteOk;
    HL_TRY(prepare_gather(ctx, node, s, state, bytes));
    if (*state) return kTfLiteOk;
    const struct hl_matrix filter = filter_matrix(s, w);
    const struct hl_conv_shape positions = positions_shape(s);
    // Columns that stay empty cost nothing, few rows of a tile do.
    const struct hl_simd *simd = hl_simd_best(filter.columns < 16 ? 16 : (int)filter.columns);
    struct transpose_conv made = {.shape = *s, .low = op->conv.low_f32, .high = op->conv.high_f32};
    struct transpose_conv *t = &made;
    hl_packed_init(&t->packed, simd, &filter, filter.depth);
    hl_rows_init(&t->rows, simd, &positions, t->packed.dot_width, t->packed.w_zero, x->type);
    cut_work(ctx, t);

    const int threads = hl_thread_count(ctx), rescaled = op->conv.mode == HL_CONV_8BIT ? s->outputs : 0;
    struct hl_parts parts = {.weights = &made.shared};
    hl_packed_parts(&t->packed, 1, false, false, &parts);
    hl_rows_parts(&t->rows, threads, &parts);
    hl_parts_add_constant(&parts, &t->requant.multiplier, rescaled, 1, sizeof *t->requant.multiplier);
    hl_parts_add_constant(&parts, &t->requant.left, rescaled, 1, sizeof *t->requant.left);
    hl_parts_add_constant(&parts, &t->requant.right, rescaled, 1, sizeof *t->requant.right);
    hl_parts_add_scratch(&parts, &t->products, threads, t->block, products_stride(t), 4);
    hl_parts_add_scratch(&parts, &t->packed_rows, threads, t->rows.source->loads ? t->block : 0, hl_rows_room(&t->rows),
                         1);
    hl_parts_add_scratch(&parts, &t->corrections, threads, rescaled > 0 ? t->block : 0, 1, sizeof(int32_t));
    hl_parts_add_scratch(&parts, &t->strip_sums, threads, rescaled > 0 ? (int64_t)t->strip * s->out_width : 0,
                         s->outputs, 4);
    HL_TRY(hl_fast_build(ctx, node, &parts, t, sizeof *t, state, bytes));
    t = *state;
    if (!t) return kTfLiteOk;
    struct hl_initial initial = {0};
    if (rescaled > 0) {
        t->requant.zero = hl_zero(y), t->requant.low = op->conv.low, t->requant.high = op->conv.high;
        initial.x_zero = hl_rows_set_zero(&t->rows, hl_zero(x));
    }
    if (parts.filled) return kTfLiteOk;
    hl_packed_fill(ctx, &t->packed, &filter, &initial);
    for (int o = 0; o < rescaled; o++)
        hl_requantize_set(op->conv.rescales[o], &t->requant.multiplier[o], &t->requant.left[o], &t->requant.right[o]);
    hl_fast_share(&parts, &made, t, bytes);
    return kTfLiteOk;
}

// ---- invoke -------------------------------------------------------------------------------------

struct run {
    const struct transpose_conv *t;
    const char *x;
    const void *bias; // NULL: none
    char *y;
};

// What one worker has.
struct worker {
    struct hl_row_block block;
    struct hl_tile tile; // of any panel
    void (*scatter_add)(const struct hl_scatter_add *scatter);
    char *products;
    uint32_t *strip_sums;
};

// The products of a block of input positions with those panels that hold rows [k0, k1) of the filter.
static void multiply(const struct run *run, struct worker *worker, int k0, int k1)
{
    const struct transpose_conv *t = run->t;
    const struct hl_row_block *block = &worker->block;
    struct hl_tile *tile = &worker->tile;
    const int columns = t->packed.simd->columns, row = t->shape.kw * t->shape.outputs;
    if (t->rows.source->load) t->rows.source->load(&t->rows, block, run->x);
    for (int panel = k0 * row / columns; panel < (k1 * row - 1) / columns + 1; panel++) {
        hl_packed_set_panel(&t->packed, 0, panel, tile);
        t->rows.source->locate(&t->rows, block, run->x, 0, tile);
        tile->columns = columns;
        tile->y = worker->products + (int64_t)panel * columns * 4;
        hl_gemm(&t->packed, tile, block->count);
    }
}

// Adds taps [l, l + taps) of row k of the filter, of a block of input positions, to a row of sums, where these taps lie
// inside it. left: the column of the block's first position. scatter: what all taps have in common.
static void add_taps(const struct transpose_conv *t, const struct worker *worker, int k, int l, int taps, int left,
                     char *row, struct hl_scatter_add *scatter)
{
    const struct hl_conv_shape *s = &t->shape;
    // Positions p with 0 <= p * stride + l - pad and p * stride + l + taps <= out_width + pad.
    int64_t from = (int64_t)s->pad_left - l, to = (int64_t)s->out_width + s->pad_left - l - taps;
    int low = from > 0 ? (int)((from + s->stride_w - 1) / s->stride_w) : 0;
    int end = to < 0 ? 0 : at_most(to / s->stride_w + 1, s->width);
    if (low < left) low = left;
    if (end > left + worker->block.count) end = left + worker->block.count;
    if (low >= end) return;
    int64_t at = ((int64_t)low * s->stride_w + l - s->pad_left) * s->outputs;
    scatter->sums = worker->products + ((low - left) * scatter->stride + ((int64_t)k * s->kw + l) * s->outputs) * 4;
    scatter->y = row + at * 4;
    scatter->corrections = worker->block.corrections ? worker->block.corrections + (low - left) : NULL;
    scatter->rows = end - low;
    worker->scatter_add(scatter);
}

// The products of input row `i`, added to output rows [first, end), which begin at `to`.
static void add_row(const struct run *run, struct worker *worker, int batch, int i, int first, int end, char *to)
{
    const struct transpose_conv *t = run->t;
    const struct hl_conv_shape *s = &t->shape;
    size_t out_row = (size_t)s->out_width * (size_t)s->outputs * 4;
    int top = i * s->stride_h - s->pad_top; // the output row of k = 0
    int k0 = first > top ? first - top : 0, k1 = end - top < s->kh ? end - top : s->kh;
    if (k0 >= k1) return;
    // Neighboring taps go together where they do not meet those of the next position, which would wait for them.
    bool whole =
        s->kw <= s->stride_w && s->pad_left == 0 && (int64_t)(s->width - 1) * s->stride_w + s->kw <= s->out_width;
    const int taps = whole ? s->kw : 1;
    struct hl_scatter_add scatter = {
        .stride = products_stride(t),
        .y_stride = (ptrdiff_t)s->stride_w * s->outputs,
        .columns = taps * s->outputs,
    };
    for (int left = 0; left < s->width; left += worker->block.count) {
        worker->block.count = s->width - left < t->block ? s->width - left : t->block;
        worker->block.first = ((int64_t)batch * s->height + i) * s->width + left;
        multiply(run, worker, k0, k1);
        for (int k = k0; k < k1; k++)
            for (int l = 0; l < s->kw; l += taps)
                add_taps(t, worker, k, l, taps, left, to + (size_t)(top + k - first) * out_row, &scatter);
    }
}

// The sums begin with the bias: `outputs` floats or integers, whose bits are copied alike. NULL: zeros.
static void start_sums(int outputs, const void *bias, int64_t positions, uint32_t *sums)
{
    if (!bias) {
        memset(sums, 0, (size_t)positions * (size_t)outputs * sizeof *sums);
        return;
    }
    size_t bytes = (size_t)outputs * 4, done = bytes, all = bytes * (size_t)positions;
    memcpy(sums, bias, bytes);
    for (; done < all; done *= 2) // what is there, once more
        memcpy((char *)sums + done, sums, done < all - done ? done : all - done);
}

// From the sums of a strip, `at` elements behind the output's begin, to its values.
static void finish(const struct run *run, const uint32_t *sums, int64_t positions, int64_t at)
{
    const struct transpose_conv *t = run->t;
    const int outputs = t->shape.outputs;
    if (t->packed.dot_width == 1) {
        float *y = (float *)run->y + at;
        if (t->low > -INFINITY || t->high < INFINITY)
            for (int64_t i = 0; i < positions * outputs; i++)
                y[i] = y[i] < t->low ? t->low : y[i] > t->high ? t->high : y[i];
        return;
    }
    for (int64_t p = 0; p < positions; p++)
        t->packed.simd->kernels->requantize(&t->requant, (const int32_t *)sums + p * outputs, 0, 0, outputs,
                                            (uint8_t *)run->y + at + p * outputs);
}

static void run_item(void *arg, int64_t item, int worker_index)
{
    const struct run *run = arg;
    const struct transpose_conv *t = run->t;
    const struct hl_conv_shape *s = &t->shape;
    const struct hl_microkernels *kernels = t->packed.simd->kernels;
    struct worker worker = {
        .block = {.packed = hl_scratch_of(&t->packed_rows, worker_index),
                  .corrections = hl_scratch_of(&t->corrections, worker_index)},
        .products = hl_scratch_of(&t->products, worker_index),
        .strip_sums = hl_scratch_of(&t->strip_sums, worker_index),
        .tile = t->packed.tile,
        .scatter_add = t->packed.dot_width == 1 ? kernels->scatter_add_f32 : kernels->scatter_add_integer,
    };
    worker.tile.y_stride = products_stride(t);
    int strips = (s->out_height - 1) / t->strip + 1;
    int batch = (int)(item / strips), first = (int)(item % strips) * t->strip;
    int end = s->out_height - first < t->strip ? s->out_height : first + t->strip;
    int64_t positions = (int64_t)(end - first) * s->out_width;
    int64_t at = ((int64_t)batch * s->out_height + first) * s->out_width * s->outputs;
    uint32_t *sums = worker.strip_sums ? worker.strip_sums : (uint32_t *)(void *)run->y + at;

    start_sums(s->outputs, run->bias, positions, sums);
    int s0, s1, unused;
    hl_conv_sources((int64_t)first + s->pad_top, s->height, s->kh, s->stride_h, &s0, &unused);
    hl_conv_sources((int64_t)end - 1 + s->pad_top, s->height, s->kh, s->stride_h, &unused, &s1);
    for (int i = s0; i < s1; i++) add_row(run, &worker, batch, i, first, end, (char *)sums);
    finish(run, sums, positions, at);
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node, void *state)
{
    const struct transpose_conv *t = state;
    const struct hl_transpose_conv *op = node->user_data;
    const TfLiteTensor *bias = hl_input(ctx, node, op->desc.bias);
    const void *x = hl_data(hl_input(ctx, node, op->desc.input));
    if (t->gather) {
        hl_transpose_gather_run(ctx, t->gather, x, hl_output(ctx, node, 0)->data.raw);
        return kTfLiteOk;
    }
    struct run run = {
        .t = t,
        .x = x,
        .bias = bias ? hl_data(bias) : NULL,
        .y = hl_output(ctx, node, 0)->data.raw,
    };
    int64_t strips = (t->shape.out_height - 1) / t->strip + 1;
    hl_parallel(ctx, strips * t->shape.batches, run_item, &run);
    return kTfLiteOk;
}

static void release(void *state)
{
    struct transpose_conv *t = state;
    hl_transpose_gather_destroy(t->gather);
    hl_weights_release(t->shared);
    free(t);
}

const struct hl_fast hl_fast_transpose_conv = {.prepare = prepare, .invoke = invoke, .release = release};
