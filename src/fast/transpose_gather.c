// SPDX-License-Identifier: Apache-2.0
// A transposed convolution as convolutions with parts of its filter. Output rows that are a stride apart see the same
// rows of the filter, and columns likewise: those that are alike are one phase. A phase is a convolution without
// stride, whose filter has the taps it sees in the order in which the input has their positions. In: the input, copied
// into a border of zero points where windows reach beyond it. Out: float or 8-bit outputs, each phase in its positions.
#include "fast/transpose_gather.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fast/fast.h"
#include "fast/gemm.h"

// Neighboring output columns may be columns of one product: `together` of them, which move by x_step positions of the
// input. All phases have the same number.
struct cut {
    int together, x_step;
    int out_step; // output columns from one position of a phase to the next
    int phases;   // that lie beside each other; those below each other are as many as stride_h
};

// Outputs of rows from `row` on and columns from `column` on. Window (0, 0) begins at input position (top, left), which
// may lie in the border.
struct phase {
    int row, column;
    int top, left, kh, kw;
    struct hl_packed packed;
};

struct gather {
    struct hl_conv_shape shape;
    const struct hl_simd *simd;
    struct hl_weights *shared; // the memory of weights, initial accumulators and the numbers of rescaling
    struct cut cut;
    int dot_width, w_zero, size; // of struct hl_packed; bytes of a value as it is multiplied
    int phase_count;
    struct phase *phases;
    int64_t columns; // of a product
    char *weights, *initial;
    struct hl_requantize requant; // its arrays have `columns` elements, in whole panels
    float low, high;
    // The input with its border: [batches][height][width][channels]. NULL: it has none, and is read where it lies.
    char *padded;
    int64_t height, width;
    int top, left; // of the border
    bool is_unsigned;
    uint8_t sign_offset;
    int32_t x_zero;
    int strip, strips, items; // rows of windows that are one item of work, how many of a batch, parts of the copy
};

// ---- phases -------------------------------------------------------------------------------------

// The first input position that output `at` sees, which counts the padding. It has tap at % stride + n * stride at
// position at / stride - n.
static int64_t first_seen(int64_t at, int stride, int filter)
{
    const int64_t tap = at % stride;
    return tap < filter ? at / stride - (filter - 1 - tap) / stride : at / stride;
}

// Input positions [*low, *low + result) are seen by some of `count` neighboring outputs.
static int reach_of(int64_t first, int count, int stride, int filter, int *low)
{
    *low = (int)first_seen(first, stride, filter);
    return (int)((first + count - 1) / stride - *low) + 1;
}

static struct phase phase_of(const struct hl_conv_shape *s, const struct cut *cut, int index)
{
    struct phase phase = {.row = index / cut->phases, .column = index % cut->phases};
    phase.kh = reach_of((int64_t)phase.row + s->pad_top, 1, s->stride_h, s->kh, &phase.top);
    phase.kw = reach_of((int64_t)phase.column + s->pad_left, cut->together, s->stride_w, s->kw, &phase.left);
    return phase;
}

// Cycles of a CPU with so many columns in a tile, of which a half is one vector.
enum { CYCLES_OF_TILE = 40, MIN_ROWS = 4 };
static double cycles_of_row(const struct hl_simd *simd, int64_t positions, int64_t columns, double steps)
{
    const int64_t vectors = (columns * 2 - 1) / simd->columns + 1, panels = (columns - 1) / simd->columns + 1;
    const int64_t tiles = (positions - 1) / simd->rows + 1, rows = tiles * MIN_ROWS;
    return (double)(panels * tiles) * CYCLES_OF_TILE + (double)(positions < rows ? rows : positions) * steps * vectors;
}

// Positions of a phase with all its outputs, of `columns` output columns. A phase of a single column may have one more
// than there are whole steps.
static int whole_positions(const struct cut *cut, int columns)
{
    return cut->together > 1 ? columns / cut->out_step : (columns - 1) / cut->out_step + 1;
}

static double cycles_of(const struct gather *g, const struct cut *cut)
{
    const struct hl_conv_shape *s = &g->shape;
    double cycles = 0;
    for (int i = 0; i < cut->phases * s->stride_h; i++) {
        const struct phase phase = phase_of(s, cut, i);
        if (phase.row >= s->out_height || phase.column >= s->out_width) continue;
        const double steps = (double)phase.kh * ((double)phase.kw * s->channels / g->dot_width + 1);
        const int rows = (s->out_height - 1 - phase.row) / s->stride_h + 1, columns = s->out_width - phase.column;
        const int positions = whole_positions(cut, columns);
        const int64_t outputs = (int64_t)cut->together * s->outputs;
        double line = positions > 0 ? cycles_of_row(g->simd, positions, outputs, steps) : 0;
        if ((int64_t)positions * cut->out_step < columns) line += cycles_of_row(g->simd, 1, outputs, steps);
        cycles += rows * line;
    }
    return cycles * s->batches;
}

// The same of products that are added to the outputs tap by tap.
static double cycles_of_scatter(const struct gather *g)
{
    enum { CYCLES_OF_TAP = 8 };
    const struct hl_conv_shape *s = &g->shape;
    const int64_t taps = (int64_t)s->kh * s->kw, vectors = ((int64_t)s->outputs * 2 - 1) / g->simd->columns + 1;
    return (double)s->batches * s->height *
           (cycles_of_row(g->simd, s->width, taps * s->outputs, (double)s->channels / g->dot_width + 1) +
            (double)s->width * (double)taps * (double)vectors * CYCLES_OF_TAP);
}

// How columns are put together: each phase alone, or so many times all of them as fit a vector. False: none of it pays.
static bool choose_cut(struct gather *g)
{
    enum { MAX_TOGETHER = 16, MAX_PHASES = 64 };
    const struct hl_conv_shape *s = &g->shape;
    double best = cycles_of_scatter(g);
    bool found = false;
    if (s->stride_h > MAX_PHASES / s->stride_w) return false;
    for (int times = 0; times <= MAX_TOGETHER; times = times ? 2 * times : 1) {
        const struct cut cut = {
            .together = times ? times * s->stride_w : 1,
            .x_step = times ? times : 1,
            .out_step = times ? times * s->stride_w : s->stride_w,
            .phases = times ? 1 : s->stride_w,
        };
        if (times > 1 && (int64_t)cut.together * s->outputs * 2 > g->simd->columns) break;
        const double cycles = cycles_of(g, &cut);
        if (cycles >= best) continue;
        best = cycles;
        g->cut = cut;
        found = true;
    }
    g->columns = (int64_t)g->cut.together * s->outputs;
    g->phase_count = g->cut.phases * s->stride_h;
    return found;
}

// ---- making -------------------------------------------------------------------------------------

// The border that all windows need. False: it would make the input much larger.
static bool find_border(struct gather *g)
{
    enum { MAX_PADDED = 4 };
    const struct hl_conv_shape *s = &g->shape;
    const int64_t top = first_seen(s->pad_top, s->stride_h, s->kh), left = first_seen(s->pad_left, s->stride_w, s->kw);
    const int64_t last = (int64_t)s->out_width + g->cut.together - 2;
    g->height = ((int64_t)s->out_height - 1 + s->pad_top) / s->stride_h + 1;
    g->width = (last + s->pad_left) / s->stride_w + 1;
    if (g->height < s->height) g->height = s->height;
    if (g->width < s->width) g->width = s->width;
    g->top = top < 0 ? (int)-top : 0, g->left = left < 0 ? (int)-left : 0;
    g->height += g->top, g->width += g->left;
    return (double)g->height * (double)g->width <= MAX_PADDED * (double)s->height * s->width + 64;
}

// Items of work: strips of rows that fit the second-level cache.
static void cut_work(const TfLiteContext *ctx, struct gather *g)
{
    enum { STRIP_BYTES = 128 << 10 };
    const struct hl_conv_shape *s = &g->shape;
    const int lines = (s->out_height - 1) / s->stride_h + 1;
    const double products = (double)s->batches * s->height * s->width * s->channels * s->outputs * s->kh * s->kw;
    int64_t strip = STRIP_BYTES / (g->width * s->channels * g->size);
    const int threads = hl_pays_to_share(ctx, products, HL_MIN_SHARED_PRODUCTS) ? hl_thread_count(ctx) : 1;
    const int64_t each = threads > 1 ? ((int64_t)lines * s->batches - 1) / (2 * threads) + 1 : lines;
    if (strip > each) strip = each;
    g->strip = strip > 0 ? (int)strip : 1;
    g->strips = (lines - 1) / g->strip + 1;
    const int64_t all = s->batches * g->height;
    g->items = all < threads ? (int)all : threads;
}

// The filter of a phase, [columns][kh][kw][channels], with zeros where its window has no tap, and its bias.
static void fill_filter(const struct gather *g, const struct phase *phase, const TfLiteTensor *filter,
                        const TfLiteTensor *bias, char *weights, char *biases)
{
    const struct hl_conv_shape *s = &g->shape;
    const size_t run = (size_t)s->channels * hl_type_size(filter->type);
    const int zero = filter->type == kTfLiteUInt8 ? hl_zero(filter) : 0;
    for (int64_t column = 0; column < g->columns; column++) {
        const int64_t output = column % s->outputs, q = phase->column + column / s->outputs;
        for (int i = 0; i < phase->kh; i++)
            for (int j = 0; j < phase->kw; j++, weights += run) {
                const int64_t k = (int64_t)phase->row + s->pad_top - ((int64_t)phase->top + i) * s->stride_h;
                const int64_t l = q + s->pad_left - ((int64_t)phase->left + j) * s->stride_w;
                if (k < 0 || k >= s->kh || l < 0 || l >= s->kw)
                    memset(weights, zero, run);
                else
                    memcpy(weights, (const char *)hl_data(filter) + ((output * s->kh + k) * s->kw + l) * (int64_t)run,
                           run);
            }
        if (bias) memcpy(biases + column * 4, (const char *)hl_data(bias) + output * 4, 4);
    }
}

static struct hl_matrix matrix_of(const struct gather *g, const struct phase *phase, const TfLiteTensor *filter,
                                  const void *data)
{
    const int64_t depth = (int64_t)phase->kh * phase->kw * g->shape.channels;
    return (struct hl_matrix){
        .type = filter->type,
        .data = data,
        .zero = filter->type == kTfLiteUInt8 ? hl_zero(filter) : 0,
        .matrices = 1,
        .depth = depth,
        .columns = g->columns,
        .depth_stride = 1,
        .column_stride = depth,
        .run = g->columns,
    };
}

// All of a phase but its memory.
static void describe(const struct gather *g, const TfLiteTensor *filter, int index, struct phase *phase)
{
    *phase = phase_of(&g->shape, &g->cut, index);
    const struct hl_matrix matrix = matrix_of(g, phase, filter, NULL);
    hl_packed_init(&phase->packed, g->simd, &matrix, (int64_t)phase->kw * g->shape.channels);
}

static void point_phases(const struct gather *g)
{
    char *weights = g->weights, *initial = g->initial;
    for (int i = 0; i < g->phase_count; i++) {
        struct hl_packed *packed = &g->phases[i].packed;
        packed->weights = weights;
        packed->initial = initial;
        weights += packed->panels * hl_packed_panel_bytes(packed);
        if (initial) initial += packed->panels * g->simd->columns * 4;
    }
}

static TfLiteStatus pack(TfLiteContext *ctx, const TfLiteNode *node, const struct gather *g)
{
    const struct hl_transpose_conv *op = node->user_data;
    const TfLiteTensor *filter = hl_input(ctx, node, op->desc.filter), *bias = hl_input(ctx, node, op->desc.bias);
    int64_t largest = 0;
    for (int i = 0; i < g->phase_count; i++)
        if (g->phases[i].packed.depth > largest) largest = g->phases[i].packed.depth;
    // The bias comes first, because bytes of any number would leave it where no int32 may lie.
    const size_t before = (size_t)g->columns * 4, bytes = (size_t)(largest * g->columns) * hl_type_size(filter->type);
    char *rows = malloc(before + bytes);
    HL_REQUIRE(ctx, node, rows, "no memory for the %zu bytes of a filter's parts", bytes);
    for (int i = 0; i < g->phase_count; i++) {
        const struct phase *phase = &g->phases[i];
        fill_filter(g, phase, filter, bias, rows + before, rows);
        const struct hl_matrix matrix = matrix_of(g, phase, filter, rows + before);
        struct hl_initial initial = {.bias = bias ? rows : NULL};
        if (g->dot_width == 4) initial.x_zero = hl_simd_value(g->simd, (uint8_t)g->x_zero ^ g->sign_offset);
        hl_packed_fill(ctx, &phase->packed, &matrix, &initial);
    }
    free(rows);
    for (int64_t c = 0; c < g->columns && g->requant.multiplier; c++)
        hl_requantize_set(op->conv.rescales[c % g->shape.outputs], &g->requant.multiplier[c], &g->requant.left[c],
                          &g->requant.right[c]);
    return kTfLiteOk;
}

TfLiteStatus hl_transpose_gather_create(TfLiteContext *ctx, const TfLiteNode *node, const struct hl_conv_shape *s,
                                        void **gather, size_t *bytes)
{
    const struct hl_transpose_conv *op = node->user_data;
    const TfLiteTensor *x = hl_input(ctx, node, op->desc.input), *w = hl_input(ctx, node, op->desc.filter);
    const bool floats = op->conv.mode == HL_CONV_F32;
    const struct hl_simd *simd = hl_simd_best(INT_MAX);
    struct gather made = {
        .shape = *s,
        .simd = simd,
        .dot_width = floats ? 1 : simd->dot_width,
        .size = floats ? (int)sizeof(float) : 4 / simd->dot_width,
        .low = op->conv.low_f32,
        .high = op->conv.high_f32,
        .is_unsigned = x->type == kTfLiteUInt8,
        .sign_offset = floats || simd->dot_width == 2 ? 0 : hl_simd_sign_offset(simd, x->type == kTfLiteUInt8),
        .x_zero = floats ? 0 : hl_zero(x),
    };
    struct gather *g = &made;
    *gather = NULL;
    if (!choose_cut(g) || !find_border(g)) return kTfLiteOk;
    cut_work(ctx, g);
    int64_t weights = 0, columns = 0;
    for (int i = 0; i < g->phase_count; i++) {
        struct phase phase;
        describe(g, w, i, &phase);
        columns = phase.packed.panels * simd->columns;
        weights += columns * phase.packed.steps;
        g->w_zero = phase.packed.w_zero;
    }
    const bool biased = !floats || hl_input(ctx, node, op->desc.bias);
    const bool borders = !floats || g->height > s->height || g->width > s->width;
    const int64_t values = g->width * s->channels, rescaled = floats ? 0 : columns;
    struct hl_parts parts = {.weights = &made.shared};
    hl_digest_add(&parts.how, s, sizeof *s); // all else follows from it
    hl_parts_add(&parts, &g->phases, g->phase_count, 1, sizeof *g->phases);
    hl_parts_add_constant(&parts, &g->weights, weights, 1, 4);
    hl_parts_add_constant(&parts, &g->initial, biased ? g->phase_count : 0, columns, 4);
    hl_parts_add_constant(&parts, &g->requant.multiplier, rescaled, 1, sizeof(int32_t));
    hl_parts_add_constant(&parts, &g->requant.left, rescaled, 1, sizeof(int32_t));
    hl_parts_add_constant(&parts, &g->requant.right, rescaled, 1, sizeof(int32_t));
    // The last step of a window may end behind the copy.
    hl_parts_add(&parts, &g->padded, borders ? s->batches * g->height + simd->bytes / values + 1 : 0, values,
                 (size_t)g->size);
    HL_TRY(hl_fast_build(ctx, node, &parts, g, sizeof *g, gather, bytes));
    g = *gather;
    if (!g) return kTfLiteOk;
    for (int i = 0; i < g->phase_count; i++) describe(g, w, i, &g->phases[i]);
    point_phases(g);
    if (!floats) {
        g->requant.zero = hl_zero(hl_output(ctx, node, 0)), g->requant.low = op->conv.low;
        g->requant.high = op->conv.high;
        g->requant.right_only = hl_requantize_right_only(op->conv.rescales, s->outputs);
    }
    if (g->dot_width == 4)
        memset(g->padded, (uint8_t)g->x_zero ^ g->sign_offset, (size_t)(s->batches * g->height * values));
    TfLiteStatus status = parts.filled ? kTfLiteOk : pack(ctx, node, g);
    if (status != kTfLiteOk) {
        hl_transpose_gather_destroy(g);
        *gather = NULL;
        return status;
    }
    hl_fast_share(&parts, &made, g, bytes);
    point_phases(g);
    return kTfLiteOk;
}

void hl_transpose_gather_destroy(void *gather)
{
    struct gather *g = gather;
    if (!g) return;
    hl_weights_release(g->shared);
    free(g);
}

// ---- running ------------------------------------------------------------------------------------

struct run {
    const struct gather *g;
    const char *x; // as it is stored; then as it is multiplied
    char *y;
};

// One thread's share of the input's rows.
static void copy_item(void *arg, int64_t item, int worker)
{
    const struct run *run = arg;
    const struct gather *g = run->g;
    const struct hl_conv_shape *s = &g->shape;
    const struct hl_microkernels *kernels = g->simd->kernels;
    const int64_t all = (int64_t)s->batches * s->height, end = all * (item + 1) / g->items;
    const int64_t count = (int64_t)s->width * s->channels, stored = g->dot_width == 1 ? (int64_t)sizeof(float) : 1;
    (void)worker;
    for (int64_t row = all * item / g->items; row < end; row++) {
        const int64_t batch = row < s->height ? 0 : row / s->height, i = row - batch * s->height;
        char *to =
            g->padded + (((batch * g->height + g->top + i) * g->width + g->left) * s->channels) * (int64_t)g->size;
        const char *from = run->x + row * count * stored;
        if (g->dot_width == 1)
            memcpy(to, from, (size_t)(count * stored));
        else if (g->dot_width == 2)
            kernels->widen((const uint8_t *)from, g->is_unsigned, g->x_zero, count, (int16_t *)(void *)to);
        else
            kernels->xor_bytes((const uint8_t *)from, g->sign_offset, count, (uint8_t *)to);
    }
}

// Of a tile of any CPU level. The integer sums of so many tiles become outputs at once.
enum { MAX_TILE_ROWS = 32, MAX_TILE_COLUMNS = 32, FINISHED_TILES = 4, MAX_ROWS = FINISHED_TILES * MAX_TILE_ROWS };

// What the weights' zero point adds to the sums of some rows, which begin where a tile does.
static void correct(const struct gather *g, const struct phase *phase, const struct hl_tile *tile, int64_t rows,
                    int32_t *corrections)
{
    int32_t some[MAX_ROWS];
    memset(corrections, 0, (size_t)rows * sizeof *corrections);
    for (int k = 0; k < phase->kh; k++) {
        g->simd->sum_rows((const uint8_t *)tile->x + k * tile->x_segment, tile->x_stride, rows, phase->packed.segment,
                          g->w_zero, some);
        for (int r = 0; r < rows; r++) corrections[r] = (int32_t)((uint32_t)corrections[r] + (uint32_t)some[r]);
    }
}

static void run_bytes(const struct gather *g, const struct phase *phase, struct hl_tile *tile, int64_t first,
                      int64_t rows, uint8_t *y)
{
    int32_t sums[MAX_ROWS * MAX_TILE_COLUMNS], corrections[MAX_ROWS];
    struct hl_byte_tile bytes = {
        .params = &g->requant,
        .first = first,
        .rows = (int)rows,
        .columns = tile->columns,
        .sums = sums,
        .sums_stride = tile->y_stride,
        .y = y,
        .y_stride = (ptrdiff_t)g->cut.out_step * g->shape.outputs,
    };
    if (g->w_zero) {
        correct(g, phase, tile, rows, corrections);
        bytes.corrections = corrections;
    }
    tile->y = sums;
    hl_gemm(&phase->packed, tile, rows);
    g->simd->kernels->requantize_tile(&bytes);
}

// `count` neighboring windows of a row with the columns of a panel that lie below `end`.
static void run_windows(const struct run *run, const struct phase *phase, struct hl_tile *tile, int64_t panel,
                        int64_t count, int64_t end, char *y)
{
    const struct gather *g = run->g;
    const int64_t first = panel * g->simd->columns, left = end - first;
    const int64_t y_stride = (int64_t)g->cut.out_step * g->shape.outputs, most = FINISHED_TILES * g->simd->rows;
    assert(g->simd->rows <= MAX_TILE_ROWS && g->simd->columns <= MAX_TILE_COLUMNS);
    if (left <= 0) return;
    tile->columns = left < g->simd->columns ? (int)left : g->simd->columns;
    tile->rows = g->simd->rows;
    if (g->dot_width == 1) {
        tile->y = y + first * (int64_t)sizeof(float);
        hl_gemm(&phase->packed, tile, count);
        return;
    }
    for (int64_t at = 0; at < count; at += most)
        run_bytes(g, phase, tile, first, count - at < most ? count - at : most, (uint8_t *)y + at * y_stride + first);
}

// One row of windows of a phase with a panel.
static void run_line(const struct run *run, const struct phase *phase, struct hl_tile *tile, int64_t panel, int batch,
                     int line)
{
    const struct gather *g = run->g;
    const struct hl_conv_shape *s = &g->shape;
    const int row = line * s->stride_h + phase->row, columns = s->out_width - phase->column;
    if (row >= s->out_height || columns <= 0) return;
    const int64_t at = (batch * g->height + g->top + line + phase->top) * g->width + g->left + phase->left;
    const int64_t to = (((int64_t)batch * s->out_height + row) * s->out_width + phase->column) * s->outputs;
    const int whole = whole_positions(&g->cut, columns);
    const ptrdiff_t y_size = g->dot_width == 1 ? sizeof(float) : 1;
    tile->x = run->x + at * s->channels * g->size;
    if (whole > 0) run_windows(run, phase, tile, panel, whole, g->columns, run->y + to * y_size);
    const int64_t done = (int64_t)whole * g->cut.out_step, rest = columns - done;
    if (rest > 0)
        run_windows(run, phase, tile, panel, 1, rest * s->outputs, run->y + (to + done * s->outputs) * y_size);
}

static void run_item(void *arg, int64_t item, int worker)
{
    const struct run *run = arg;
    const struct gather *g = run->g;
    const struct hl_conv_shape *s = &g->shape;
    const int lines = (s->out_height - 1) / s->stride_h + 1,
              batch = g->strips > 1 ? (int)(item / g->strips) : (int)item;
    const int first = (int)(item - (int64_t)batch * g->strips) * g->strip;
    const int end = lines - first < g->strip ? lines : first + g->strip;
    const ptrdiff_t unit = g->dot_width == 1 ? 1 : g->size; // distances are floats, or bytes
    (void)worker;
    for (int i = 0; i < g->phase_count; i++) {
        const struct phase *phase = &g->phases[i];
        struct hl_tile tile = phase->packed.tile;
        tile.x_stride = (ptrdiff_t)g->cut.x_step * s->channels * unit;
        tile.x_segment = (ptrdiff_t)g->width * s->channels * unit;
        tile.y_stride = g->dot_width == 1 ? (ptrdiff_t)g->cut.out_step * s->outputs : g->simd->columns;
        if (g->dot_width == 1) tile.low = g->low, tile.high = g->high;
        for (int64_t panel = 0; panel < phase->packed.panels; panel++) {
            hl_packed_set_panel(&phase->packed, 0, panel, &tile);
            for (int line = first; line < end; line++) run_line(run, phase, &tile, panel, batch, line);
        }
    }
}

void hl_transpose_gather_run(TfLiteContext *ctx, const void *gather, const void *x, void *y)
{
    const struct gather *g = gather;
    struct run run = {.g = g, .x = x, .y = y};
    if (g->padded) {
        hl_parallel(ctx, g->items, copy_item, &run);
        run.x = g->padded;
    }
    hl_parallel(ctx, (int64_t)g->strips * g->shape.batches, run_item, &run);
}
