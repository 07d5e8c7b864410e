// SPDX-License-Identifier: Apache-2.0
// Four outputs, 2x2, are made from a patch of 4x4 input positions. Each channel of a patch is transformed (B' d B), 16
// matrix products over the channels follow, one for each position of the patch, with weights that were transformed in
// prepare (G g G'), and their results are transformed back (A' m A). Sums have a ninth of the terms of a direct one's,
// so rounding errors are no larger (docs/accuracy.md).
// Where weights are few, a block of patches goes through all three steps, one panel of weights at a time, before the
// next block. Each block reads all weights, so where these are many the steps follow each other for large blocks: all
// threads transform, then multiply point by point, then transform back.
#include "fast/winograd.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fast/chain.h"
#include "fast/gemm.h"

enum { PATCH = 4, POINTS = PATCH * PATCH, OUT = 2, TAPS = 3 };

struct winograd {
    struct hl_packed packed;   // POINTS matrices, [channels][outputs]
    struct hl_weights *shared; // the memory of packed and bias; NULL: the state's
    struct hl_conv_shape shape;
    float low, high;
    int64_t rows, columns; // of patches, in a batch
    int64_t patches;       // of all batches
    bool step_by_step;     // all threads work on one block
    int64_t block, blocks; // patches of an item of work, or of all threads
    int64_t y_stride;      // values from one output position to the next
    int64_t row;           // products of a patch and point: a panel's, or all panels'
    int parts;             // of the panels; an item has one
    float *bias;           // [panels][columns of a panel]
    float *padding;        // a position outside the input
    struct hl_scratch transformed, products;
    const struct hl_chain *chain; // that goes on with the outputs; NULL: none
};

// Values between the matrices of different points: a line more than they need, or all would share sets of a cache.
static int64_t point_stride(const struct winograd *w, int64_t row)
{
    return w->block * row + HL_LINE / (int64_t)sizeof(float);
}

// ---- making -------------------------------------------------------------------------------------

// Cycles of a Zen 5, which multiplies two vectors in each, and reads weights beyond KEPT_BYTES at the speed of memory.
// (Before over after, us: 3x3, 28x28, 128 to 128 channels: 824, 417; 56x56, 64 to 64: 938, 508. Left alone: 256x256, 16
// to 16: 1410, 1480; 7x7, 512 to 512: 950, 960.)
static bool is_faster(const struct hl_conv_shape *s, const struct hl_simd *simd, double patches)
{
    enum { CYCLES_OF_TRANSFORM = 50, CYCLES_OF_PANEL = 64, KEPT_BYTES = 4 << 20, BYTES_OF_CYCLE = 4 };
    const double lanes = simd->bytes / (int)sizeof(float), channels = s->channels;
    const double vectors = ceil(s->outputs / lanes), panels = ceil(s->outputs / (double)simd->columns);
    const double direct = OUT * OUT * TAPS * TAPS * channels * vectors / 2;
    const double transformed = POINTS * channels * vectors / 2 + panels * CYCLES_OF_PANEL +
                               (ceil(channels / lanes) + vectors) * CYCLES_OF_TRANSFORM;
    const double beyond = POINTS * channels * s->outputs * sizeof(float) - KEPT_BYTES;
    return patches * (direct - transformed) > fmax(beyond, 0) / BYTES_OF_CYCLE;
}

bool hl_winograd_pays(const struct hl_conv_shape *s, const struct hl_convolve_params *params)
{
    const struct hl_simd *simd = hl_simd_best(INT_MAX);
    const int lanes = simd->bytes / (int)sizeof(float);
    const double patches = (double)s->batches * ((s->out_height + 1) / OUT) * ((s->out_width + 1) / OUT);
    if (params->filter->type != kTfLiteFloat32 || s->kh != TAPS || s->kw != TAPS || s->stride_h != 1 ||
        s->stride_w != 1 || s->dilation_h != 1 || s->dilation_w != 1 || hl_conv_groups(s) > 1)
        return false;
    return s->channels >= lanes && patches >= simd->rows && is_faster(s, simd, patches);
}

static int64_t at_least(int64_t count, int64_t least)
{
    return count < least ? least : count;
}

// Values that are read from beyond the second-level cache, or written: weights by each block, and what the steps give
// each other where blocks are large.
static bool pays_step_by_step(const struct winograd *w, int64_t small_block, int64_t large_block)
{
    const struct hl_conv_shape *s = &w->shape;
    const double weights = (double)POINTS * s->channels * s->outputs;
    const double between = 2.0 * POINTS * (s->channels + s->outputs) * (double)w->patches;
    const double small = ceil((double)w->patches / (double)small_block),
                 large = ceil((double)w->patches / (double)large_block);
    return large * weights + between < small * weights;
}

// Small blocks are as large as the second-level cache allows, and items for all threads; of large ones it holds one
// point's transformed patches. (AVX2 on a Zen 3, us, small and large blocks:
// 14x14, 512 to 512 channels 9860, 6100; 7x7, 512 to 512 3740, 2450; 13x13, 256 to 512 4530, 3420.)
static void cut_work(struct winograd *w, int threads)
{
    enum { ITEMS_OF_THREAD = 4, BLOCK_BYTES = 320 << 10, POINT_BYTES = 128 << 10 };
    const int64_t rows = w->packed.rows, items = threads > 1 ? (int64_t)threads * ITEMS_OF_THREAD : 1;
    const int64_t position = w->shape.channels * (int64_t)sizeof(float);
    const int64_t small = at_least(BLOCK_BYTES / (POINTS * position), rows);
    const int64_t large = at_least(POINT_BYTES / position, rows);
    int64_t most = large;
    w->step_by_step = pays_step_by_step(w, small, large);
    if (!w->step_by_step) most = at_least(small < w->patches / items ? small : w->patches / items, rows);
    w->blocks = (w->patches - 1) / most + 1;
    w->block = (w->patches - 1) / w->blocks + 1;
    w->blocks = (w->patches - 1) / w->block + 1;
    const int64_t alone = w->step_by_step ? POINTS : w->blocks, parts = (items - 1) / alone + 1;
    w->parts = (int)(parts < w->packed.panels ? parts : w->packed.panels);
    w->row = w->packed.simd->columns * (w->step_by_step ? w->packed.panels : 1);
}

// G g G' of one input channel and output, g [3][3] with `step` values from tap to tap. Exact but for one rounding.
static void transform_filter(const float *g, int64_t step, float points[POINTS])
{
    double half[PATCH][TAPS];
    for (int l = 0; l < TAPS; l++) {
        const double a = (double)g[l * step], b = (double)g[(TAPS + l) * step], c = (double)g[(2 * TAPS + l) * step];
        half[0][l] = a, half[1][l] = (a + b + c) / 2, half[2][l] = (a - b + c) / 2, half[3][l] = c;
    }
    for (int i = 0; i < PATCH; i++, points += PATCH) {
        const double a = half[i][0], b = half[i][1], c = half[i][2];
        points[0] = (float)a, points[1] = (float)((a + b + c) / 2);
        points[2] = (float)((a - b + c) / 2), points[3] = (float)c;
    }
}

struct fill {
    const struct winograd *w;
    const float *filter; // [outputs][3][3][channels]
};

static void fill_panel(void *arg, int64_t panel, int worker)
{
    (void)worker;
    const struct fill *fill = arg;
    const struct winograd *w = fill->w;
    const int64_t width = w->packed.simd->columns, channels = w->shape.channels, first = panel * width;
    const int64_t end = first + width < w->shape.outputs ? first + width : w->shape.outputs;
    const int64_t matrix = w->packed.panels * width * channels;
    float *to = (float *)(void *)w->packed.weights + first * channels;
    for (int64_t k = 0; k < channels; k++)
        for (int64_t n = first; n < end; n++) {
            float points[POINTS];
            transform_filter(fill->filter + n * TAPS * TAPS * channels + k, channels, points);
            for (int i = 0; i < POINTS; i++) to[i * matrix + k * width + n - first] = points[i];
        }
}

TfLiteStatus hl_winograd_create(TfLiteContext *ctx, const TfLiteNode *node, const struct hl_conv_shape *shape,
                                const struct hl_convolve_params *params, void **state, size_t *bytes)
{
    const struct hl_matrix matrix = {.type = kTfLiteFloat32, .depth = shape->channels, .columns = shape->outputs};
    const int64_t rows = (shape->out_height + 1) / OUT, columns = (shape->out_width + 1) / OUT;
    const int threads = hl_thread_count(ctx);
    struct winograd made = {
        .shape = *shape,
        .low = params->results.low_f32,
        .high = params->results.high_f32,
        .rows = rows,
        .columns = columns,
        .patches = shape->batches * rows * columns,
        .y_stride = shape->outputs,
    };
    struct winograd *w = &made;
    struct hl_parts parts = {.weights = &made.shared};
    hl_packed_init(&w->packed, hl_simd_best(INT_MAX), &matrix, matrix.depth);
    cut_work(w, threads);
    const int workers = w->step_by_step ? 1 : threads;
    hl_packed_parts(&w->packed, POINTS, false, false, &parts);
    hl_parts_add_constant(&parts, &w->bias, w->packed.panels, w->packed.simd->columns, sizeof *w->bias);
    hl_parts_add(&parts, &w->padding, shape->channels, 1, sizeof *w->padding);
    hl_parts_add_scratch(&parts, &w->transformed, workers, POINTS, point_stride(w, shape->channels), sizeof(float));
    hl_parts_add_scratch(&parts, &w->products, workers, POINTS, point_stride(w, w->row), sizeof(float));
    HL_TRY(hl_fast_build(ctx, node, &parts, w, sizeof *w, state, bytes));
    w = *state;
    if (!w) return kTfLiteOk;
    if (!parts.filled) {
        struct fill fill = {w, hl_data(params->filter)};
        hl_parallel(ctx, w->packed.panels, fill_panel, &fill);
        if (params->bias) memcpy(w->bias, hl_data(params->bias), (size_t)shape->outputs * sizeof *w->bias);
    }
    hl_fast_share(&parts, &made, w, bytes);
    return kTfLiteOk;
}

void hl_winograd_destroy(void *winograd)
{
    struct winograd *w = winograd;
    if (!w) return;
    hl_weights_release(w->shared);
    free(w);
}

// ---- running ------------------------------------------------------------------------------------

struct run {
    const struct winograd *w;
    const float *x;
    float *y;
    struct hl_chain_run chain;
    int64_t first, count; // step by step: the block's patches
    int64_t each;         // of them, that an item transforms
};

// A patch: its batch, and its first output position.
struct patch {
    int64_t batch;
    int i, j;
};

static struct patch patch_at(const struct winograd *w, int64_t index)
{
    const int64_t row = index / w->columns;
    return (struct patch){row / w->rows, (int)(row % w->rows) * OUT, (int)(index % w->columns) * OUT};
}

static void advance(const struct winograd *w, struct patch *patch)
{
    patch->j += OUT;
    if (patch->j < w->shape.out_width) return;
    patch->j = 0;
    patch->i += OUT;
    if (patch->i < w->shape.out_height) return;
    patch->i = 0;
    patch->batch++;
}

static void load_patch(const struct run *run, const struct patch *patch, float *to)
{
    const struct winograd *w = run->w;
    const struct hl_conv_shape *s = &w->shape;
    const float *x[POINTS];
    for (int k = 0; k < PATCH; k++) {
        const int64_t i = (int64_t)patch->i - s->pad_top + k, left = (int64_t)patch->j - s->pad_left;
        const bool outside = i < 0 || i >= s->height;
        for (int l = 0; l < PATCH; l++) {
            const int64_t j = left + l;
            x[k * PATCH + l] = outside || j < 0 || j >= s->width
                                   ? w->padding
                                   : run->x + ((patch->batch * s->height + i) * s->width + j) * s->channels;
        }
    }
    w->packed.simd->kernels->winograd_input(x, s->channels, to, point_stride(w, s->channels));
}

static void store_patch(const struct run *run, const struct patch *patch, const float *products, int64_t panel)
{
    const struct winograd *w = run->w;
    const struct hl_conv_shape *s = &w->shape;
    const int width = w->packed.simd->columns;
    const int64_t first = panel * width, left = s->outputs - first;
    struct hl_winograd_output output = {
        .products = products,
        .stride = point_stride(w, w->row),
        .bias = w->bias + first,
        .low = w->low,
        .high = w->high,
        .columns = left < width ? (int)left : width,
    };
    for (int p = 0; p < OUT * OUT; p++) {
        const int i = patch->i + p / OUT, j = patch->j + p % OUT;
        if (i < s->out_height && j < s->out_width)
            output.y[p] = run->y + ((patch->batch * s->out_height + i) * s->out_width + j) * w->y_stride + first;
    }
    w->packed.simd->kernels->winograd_output(&output);
}

// The patches from here on are whole outputs: of each row of patches, two runs of neighbors.
static void go_on(const struct run *run, struct patch patch, int64_t count)
{
    const struct winograd *w = run->w;
    const struct hl_conv_shape *s = &w->shape;
    while (count > 0) {
        const int64_t here = w->columns - patch.j / OUT, now = count < here ? count : here;
        const int end = patch.j + (int)now * OUT < s->out_width ? patch.j + (int)now * OUT : s->out_width;
        for (int i = patch.i; i < patch.i + OUT && i < s->out_height; i++)
            hl_chain_rows(&run->chain, (patch.batch * s->out_height + i) * s->out_width + patch.j, end - patch.j);
        patch.j = s->out_width - OUT; // the row's last
        advance(w, &patch);
        count -= now;
    }
}

// The products of some patches with one panel of a point's weights.
static void multiply_panel(const struct winograd *w, int point, int64_t panel, int64_t count, const float *transformed,
                           float *products)
{
    const int64_t channels = w->shape.channels;
    const struct hl_even_tiles tiles = hl_even_tiles(count, w->packed.rows);
    struct hl_tile tile = w->packed.tile;
    hl_packed_set_panel(&w->packed, point, panel, &tile);
    tile.x = transformed + point * point_stride(w, channels);
    tile.x_stride = channels;
    tile.y = products + point * point_stride(w, w->row);
    tile.y_stride = w->row;
    for (int64_t r = 0; r < count; r += tile.rows) {
        tile.rows = hl_even_tile_rows(&tiles, r, count);
        tile.prefetch = w->step_by_step && r > 0 && r <= tiles.rows ? hl_packed_panel_bytes(&w->packed) : 0;
        w->packed.multiply(&tile);
        tile.x = (const float *)tile.x + tile.rows * channels;
        tile.y = (float *)tile.y + tile.rows * w->row;
    }
}

// Of `count` patches from number `first` on, all points.
static void transform_patches(const struct run *run, int64_t first, int64_t count, float *to)
{
    struct patch patch = patch_at(run->w, first);
    for (int64_t t = 0; t < count; t++, advance(run->w, &patch))
        load_patch(run, &patch, to + t * run->w->shape.channels);
}

// Of those, the outputs of panels [panel, end), whose products lie one after the other.
static void store_patches(const struct run *run, int64_t first, int64_t count, int64_t panel, int64_t end,
                          const float *products)
{
    const struct winograd *w = run->w;
    struct patch patch = patch_at(w, first);
    for (int64_t t = 0; t < count; t++, advance(w, &patch), products += w->row)
        for (int64_t p = panel; p < end; p++)
            store_patch(run, &patch, products + (p - panel) * w->packed.simd->columns, p);
}

static void run_item(void *arg, int64_t item, int worker)
{
    const struct run *run = arg;
    const struct winograd *w = run->w;
    const int64_t part = item % w->parts, first = item / w->parts * w->block, panels = w->packed.panels;
    const int64_t count = w->patches - first < w->block ? w->patches - first : w->block;
    float *transformed = hl_scratch_of(&w->transformed, worker), *products = hl_scratch_of(&w->products, worker);
    transform_patches(run, first, count, transformed);
    for (int64_t panel = panels * part / w->parts; panel < panels * (part + 1) / w->parts; panel++) {
        for (int i = 0; i < POINTS; i++) multiply_panel(w, i, panel, count, transformed, products);
        store_patches(run, first, count, panel, panel + 1, products);
    }
    if (w->chain) go_on(run, patch_at(w, first), count);
}

// ---- step by step -------------------------------------------------------------------------------

// How many patches an item has.
static int64_t count_of_item(const struct run *run, int64_t item)
{
    const int64_t left = run->count - item * run->each;
    return left < run->each ? left : run->each;
}

static void transform_item(void *arg, int64_t item, int worker)
{
    (void)worker;
    const struct run *run = arg;
    const int64_t first = item * run->each;
    float *transformed = hl_scratch_of(&run->w->transformed, 0);
    transform_patches(run, run->first + first, count_of_item(run, item), transformed + first * run->w->shape.channels);
}

static void multiply_item(void *arg, int64_t item, int worker)
{
    (void)worker;
    const struct run *run = arg;
    const struct winograd *w = run->w;
    const int64_t part = item % w->parts, panels = w->packed.panels;
    float *products = hl_scratch_of(&w->products, 0);
    for (int64_t panel = panels * part / w->parts; panel < panels * (part + 1) / w->parts; panel++)
        multiply_panel(w, (int)(item / w->parts), panel, run->count, hl_scratch_of(&w->transformed, 0),
                       products + panel * w->packed.simd->columns);
}

static void output_item(void *arg, int64_t item, int worker)
{
    (void)worker;
    const struct run *run = arg;
    const struct winograd *w = run->w;
    const int64_t first = item * run->each, count = count_of_item(run, item);
    const float *products = hl_scratch_of(&w->products, 0);
    store_patches(run, run->first + first, count, 0, w->packed.panels, products + first * w->row);
    if (w->chain) go_on(run, patch_at(w, run->first + first), count);
}

static void run_step_by_step(TfLiteContext *ctx, struct run *run)
{
    enum { ITEMS_OF_THREAD = 4 };
    const struct winograd *w = run->w;
    const int64_t threads = hl_thread_count(ctx), items = threads > 1 ? threads * ITEMS_OF_THREAD : 1;
    for (run->first = 0; run->first < w->patches; run->first += w->block) {
        run->count = w->patches - run->first < w->block ? w->patches - run->first : w->block;
        run->each = (run->count - 1) / items + 1;
        const int64_t pieces = (run->count - 1) / run->each + 1;
        hl_parallel(ctx, pieces, transform_item, run);
        hl_parallel(ctx, (int64_t)POINTS * w->parts, multiply_item, run);
        hl_parallel(ctx, pieces, output_item, run);
    }
}

bool hl_winograd_lead(void *winograd, const struct hl_chain *chain)
{
    struct winograd *w = winograd;
    // An item has a part of each output's channels, or patches of it, which are no lines for a pool.
    if ((w->parts > 1 && !w->step_by_step) || chain->pool) return false;
    w->chain = chain;
    return true;
}

bool hl_winograd_set_row_stride(void *winograd, int64_t stride)
{
    struct winograd *w = winograd;
    if (w->chain) return false;
    w->y_stride = stride;
    return true;
}

void hl_winograd_run(TfLiteContext *ctx, const void *winograd, const float *x, float *y)
{
    struct run run = {.w = winograd, .x = x, .y = y};
    hl_chain_begin(ctx, run.w->chain, y, &run.chain);
    if (run.w->step_by_step)
        run_step_by_step(ctx, &run);
    else
        hl_parallel(ctx, run.w->blocks * run.w->parts, run_item, &run);
}
