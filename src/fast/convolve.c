// SPDX-License-Identifier: Apache-2.0
// The order of tiles. A block of output positions, small enough for the second-level cache, meets one panel of weights
// after the other. Items of work are blocks, times groups, times parts of the panels; or, where a pool ends the chain,
// rows of that pool, whose outputs are made block by block. Hybrid nodes are integer ones whose input is quantized
// first, each batch with its own scale and zero point. Sums of int16 may come in pieces, which become outputs tile by
// tile.
#include "fast/convolve.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "abi/built_types.h"
#include "fast/chain.h"
#include "fast/depthwise.h"
#include "fast/fast.h"
#include "fast/quantize.h"
#include "fast/rows.h"

struct hl_convolve {
    struct hl_packed packed;
    struct hl_rows rows;
    struct hl_epilogue epilogue;
    struct hl_weights *shared;    // the memory of what these three have that is constant; NULL: the state's
    const struct hl_chain *chain; // that goes on with the outputs; NULL: none
    bool rounded;                 // floats, and so few products that none is fused, like the reference kernel's
    // Hybrid: the scales of the input's batches, of which rows.zeros are the zero points, and the quantized input.
    bool asymmetric;
    int input;                                          // the tensor; -1: a variable one
    float *x_scales;                                    // NULL: not hybrid
    int8_t *x_stored;                                   // NULL: the rows' source quantizes
    struct hl_scratch packed_rows, window, corrections; // of struct hl_row_block, for each worker
    struct hl_scratch pieces;                           // of int16, for each worker: [pieces][hl_piece_size] int32
    const void *depthwise;                              // makes the input (depthwise.h); NULL: it is there
    struct hl_scratch made;                             // then, for each worker: a block of the input
    int64_t made_positions; // then: of the lines that are best made at once; blocks are whole lines; else 0
    // How the work is cut.
    int64_t positions, block, blocks;
    int64_t lines;   // of the output, that blocks of at most `block` positions share evenly; 0: each block has so many
    int parts;       // of the panels
    int line_panels; // so many panels have the outputs of a cache line, and are not parted
    bool fetches;    // the output's lines before products that become them
    bool by_rows;    // blocks of a tile or more by run_rows
    int pool_rows;   // of the pool at the chain's end that an item makes, block by block; 0: there is none
};

// A block of packed rows has so many bytes, or is one tile; processors with a matrix unit have a second-level cache of
// 2 MB. (Int8 3x3 of 7x7, 512 to 512 channels: 206 us with 128 KB, 182 us so; 7x1 of 17x17, 160 to 192: 94, 87.) The
// integer sums of so many tiles become outputs at once, so that what is set up for their columns serves all of these
// rows. (1x1 of int8, 64 x 64 positions of 8 channels to 16: 34.0 us with one tile, 31.0 with four.)
enum { BLOCK_BYTES = 128 << 10, UNIT_BLOCK_BYTES = 256 << 10, FINISHED_TILES = 4 };
// A depthwise convolution makes the input of such blocks where all of it has so many bytes: about as many as the
// second-level cache, or fewer with threads, which would wait for each other between two nodes. (Time with it over time
// with nodes apart, all inputs of 256 KB and more. Xeon with 2 MB of that cache: face detection 0.88, hand landmarks
// 0.95, MobileNet v1 0.96, and with blocks of 128 KB the first 0.89; with 8 threads 0.85, 0.93, 0.96. Zen 4 with 1 MB
// of it, one thread: 0.97 to 1.02.)
enum { MIN_MADE_BYTES = 1 << 20, MIN_SHARED_MADE_BYTES = 1 << 18, MADE_BLOCK_BYTES = 48 << 10 };
// An output of floats that has so many bytes is written to lines outside of the second-level cache: the CPU is told of
// a tile's lines before its products. (One thread of a Zen 4, time with it over time without: super_resolution hybrid
// 0.93, 384 rows of 256 to 1024 0.99, ResNet-50 0.99. Smaller outputs, which the cache has, took up to 1.03.)
enum { MIN_FETCHED_BYTES = 1 << 20 };
// Then fewer tiles of sums are finished at once, before other lines have taken the place of those. (super_resolution
// hybrid: 0.98 with two in place of four. Blocks of fewer rows, whose outputs the second-level cache holds, gained
// nothing.)
enum { FINISHED_FETCHED_TILES = 2 };
// run_rows: the rows of a tile meet so many bytes of weights, a part of the second-level cache, before others do. (Of
// 64 KB to 1 MB of them none was faster.)
enum { ROW_WEIGHT_BYTES = 256 << 10 };
// Of a tile of any CPU level or matrix unit.
enum { MAX_TILE_ROWS = 32, MAX_TILE_COLUMNS = 32, SUMS = FINISHED_TILES * MAX_TILE_ROWS * MAX_TILE_COLUMNS };

// ---- making -------------------------------------------------------------------------------------

// Rows of the output and panels of weights that an item of work has.
struct item {
    int64_t rows, panels;
};

// Cycles of one item, fitted to layers cut in all ways on a Zen 5 (1x1 and 3x3 of 7 x 7 to 33 x 33 positions). There a
// byte that is read once more costs up to 1 / 20 of a cycle. BYTES_OF_CYCLE is assumed, not measured: it leaves room
// for processors whose threads share a slower cache.
static double cycles_of(const struct hl_convolve *c, double row_bytes, const struct item *item)
{
    enum { CYCLES_OF_ITEM = 300, CYCLES_OF_TILE = 40, CYCLES_OF_ROW = 2, MIN_ROWS = 4, BYTES_OF_CYCLE = 16 };
    const struct hl_packed *packed = &c->packed;
    const int64_t tiles = (item->rows - 1) / packed->rows + 1;
    int64_t rows = item->rows < tiles * MIN_ROWS ? tiles * MIN_ROWS : item->rows;
    double steps = (double)packed->steps;
    if (packed->unit) {
        rows = (rows + packed->unit->register_rows - 1) / packed->unit->register_rows * packed->unit->register_rows;
        steps /= packed->unit->steps;
    }
    const double panel = (double)(tiles * CYCLES_OF_TILE) + (double)rows * steps * CYCLES_OF_ROW;
    const double bytes = (double)item->panels * (double)hl_packed_panel_bytes(packed) + (double)item->rows * row_bytes;
    return CYCLES_OF_ITEM + (double)item->panels * panel + bytes / BYTES_OF_CYCLE;
}

// Rows of one of `blocks` blocks: as many as each other block has, or whole tiles.
static int64_t rows_of_block(const struct hl_convolve *c, int64_t positions, int64_t blocks, bool whole_tiles)
{
    const int64_t each = (positions - 1) / blocks + 1, width = c->rows.shape.out_width, rows = c->packed.rows;
    int64_t block = whole_tiles ? (each - 1) / rows * rows + rows : each;
    if (c->rows.source->by_lines && block >= width) block = (block + width / 2) / width * width; // where tiles end
    if (c->made_positions > 0) block = (block - 1) / c->made_positions * c->made_positions + c->made_positions;
    return block < positions ? block : positions;
}

// Cycles of `items` items that share so many lines evenly. A line that is made alone counts a tenth more than one of
// two that are made together, which is an estimate.
static double cycles_of_lines(const struct hl_convolve *c, double row_bytes, int64_t lines, int64_t items)
{
    const double more_alone = 0.1;
    const int64_t width = c->rows.shape.out_width, at_once = c->made_positions / width, least = lines / items;
    double cycles = 0;
    for (int more = 0; more < 2; more++) {
        const int64_t n = least + more, count = more ? lines % items : items - lines % items;
        const struct item item = {n * width, c->packed.panels};
        const double alone = n % at_once > 0 ? more_alone / (double)n : 0;
        if (n > 0) cycles += (double)count * (1 + alone) * cycles_of(c, row_bytes, &item);
    }
    return cycles;
}

// Cuts outputs whose input is made into blocks of whole lines, for several threads, of which none should have many more
// lines than the others: as many blocks for each. (Of 14 lines one of two threads had eight in blocks of two. Two
// threads of a Zen 4: MobileNet v1 float 5.91 ms, 5.67 so.)
static void cut_lines(struct hl_convolve *c, int64_t most_rows, int threads, double late, double row_bytes)
{
    const int64_t width = c->rows.shape.out_width, at_once = c->made_positions / width;
    const int64_t most = most_rows / width < at_once ? at_once : most_rows / width;
    double best = INFINITY;
    c->lines = c->positions / width;
    const int64_t share = (c->lines - 1) / threads + 1;
    for (int64_t items = (share - 1) / most + 1; items <= share; items++) {
        const double cycles = cycles_of_lines(c, row_bytes, share, items) * (1 + late / (double)items);
        if (cycles >= best) continue;
        best = cycles;
        c->blocks = items * threads < c->lines ? items * threads : c->lines;
        c->block = ((c->lines - 1) / c->blocks + 1) * width;
    }
    c->parts = 1;
}

// Cuts the outputs in two dimensions, blocks of rows and parts of the panels, so that the last thread is done as early
// as possible. An item reads its rows and its part of the weights, so blocks of one tile, which are many, would each
// read all weights, and parts of one panel all rows. A thread may come late by a part of an item, in which others help.
static void cut_work(const TfLiteContext *ctx, struct hl_convolve *c)
{
    enum { ITEMS_OF_THREAD = 4, LATE = 4, STEP = 8 };
    const struct hl_conv_shape *shape = &c->rows.shape;
    const int64_t groups = c->rows.groups, panels = (c->packed.panels - 1) / c->line_panels + 1;
    const bool copied = c->rows.source->by_lines;
    // As many products as the CPU level adds to one sum at once take as long as one of floats.
    const double products = hl_rows_products(&c->rows) * hl_conv_groups(shape) / c->packed.dot_width;
    const int threads = hl_pays_to_share(ctx, products, HL_MIN_SHARED_PRODUCTS) ? hl_thread_count(ctx) : 1;
    // Windows in a copy share most of their values.
    const int64_t shared = copied ? (int64_t)shape->kh * shape->kw : 1, read_at_once = copied ? groups : 1;
    int64_t row_bytes = 4 * c->packed.steps * read_at_once * c->rows.together / shared;
    if (row_bytes < 1) row_bytes = 1;
    int64_t most = (c->packed.unit ? UNIT_BLOCK_BYTES : BLOCK_BYTES) / row_bytes / c->packed.rows * c->packed.rows;
    if (c->made_positions > 0) most = MADE_BLOCK_BYTES / row_bytes;
    if (most < c->packed.rows) most = c->packed.rows;
    const int64_t least = (c->positions - 1) / most + 1, even = (least - 1) / threads * threads + threads;
    const int64_t items = threads > 1 ? (int64_t)threads * ITEMS_OF_THREAD : 1,
                  most_blocks = items > even ? items : even;
    const double late = threads > 1 ? 1.0 / LATE : 0;
    if (c->made_positions > 0 && threads > 1) {
        cut_lines(c, most, threads, late, (double)row_bytes);
        return;
    }
    double best = INFINITY;
    // Many blocks or parts differ little from one more, so not all are tried, but as many for each thread.
    for (int64_t blocks = least; blocks == least || (blocks <= most_blocks && blocks <= c->positions);
         blocks += blocks < even ? 1 : 1 + blocks / STEP)
        for (int64_t parts = 1; parts == 1 || (blocks * groups * parts <= items && parts <= panels);
             parts += 1 + parts / STEP)
            for (int whole = 0; whole < 2; whole++) {
                const int64_t block = rows_of_block(c, c->positions, blocks, whole),
                              count = (c->positions - 1) / block + 1;
                const struct item item = {block, ((panels - 1) / parts + 1) * c->line_panels};
                const double turns = (double)((count * groups * parts - 1) / threads + 1);
                const double cycles = (turns + late) * cycles_of(c, (double)row_bytes, &item);
                if (cycles >= best) continue;
                best = cycles;
                c->block = block;
                c->blocks = count;
                c->parts = (int)parts;
            }
}

// A matrix has the outputs of `together` groups.
static struct hl_matrix filter_matrix(const struct hl_conv_shape *shape, const struct hl_convolve_params *params,
                                      int together)
{
    const int groups = hl_conv_groups(shape);
    const int64_t depth = (int64_t)shape->kh * shape->kw * shape->filter_channels,
                  columns = (int64_t)shape->outputs / groups * together;
    return (struct hl_matrix){
        .type = params->filter->type,
        .data = hl_data(params->filter),
        .zero = params->filter_zero,
        .matrices = (groups + together - 1) / together,
        .depth = depth,
        .columns = columns,
        .all_columns = shape->outputs,
        .matrix_stride = columns * depth,
        .depth_stride = params->outputs_last ? columns : 1,
        .column_stride = params->outputs_last ? 1 : depth,
        .run = columns,
    };
}

static void list_parts(struct hl_convolve *c, const struct hl_convolve_params *params, int threads,
                       struct hl_parts *parts)
{
    const struct hl_conv_shape *shape = &c->rows.shape;
    const bool floats = c->packed.dot_width == 1, hybrid = params->results.filter_scales != NULL;
    const bool loads = c->rows.source->loads, to_copy = hybrid && !floats && hl_rows_can_quantize(&c->rows);
    hl_packed_parts(&c->packed, c->rows.groups, params->bias != NULL, hybrid, parts);
    c->epilogue.form->parts(&c->epilogue, hl_packed_column(&c->packed, c->rows.groups, 0), parts);
    hl_rows_parts(&c->rows, threads, parts);
    hl_parts_add(parts, &c->x_scales, hybrid ? shape->batches : 0, 1, sizeof *c->x_scales);
    hl_parts_add(parts, &c->rows.byte_scales, to_copy ? shape->batches : 0, 1, sizeof *c->rows.byte_scales);
    hl_parts_add(parts, &c->x_stored, hybrid && !to_copy ? hl_elements(params->input) : 0, 1, sizeof *c->x_stored);
    hl_parts_add_scratch(parts, &c->packed_rows, threads, loads ? c->block + c->rows.spare_rows : 0,
                         hl_rows_room(&c->rows), 1);
    hl_parts_add_scratch(parts, &c->window, threads, loads && !floats ? c->packed.depth : 0, 1, c->rows.words ? 2 : 1);
    hl_parts_add_scratch(parts, &c->pieces, threads, c->packed.pieces, hl_piece_size(c->packed.simd), sizeof(int32_t));
    hl_parts_add_scratch(parts, &c->made, c->depthwise ? threads : 0, c->block, shape->channels,
                         hl_type_size(params->input->type));
    hl_parts_add_scratch(parts, &c->corrections, threads, c->packed.w_zero != 0 ? c->block : 0, 1, sizeof(int32_t));
}

// Fills the arrays; `filled`: those that are constant are.
static void pack(const TfLiteContext *ctx, struct hl_convolve *c, const struct hl_convolve_params *params,
                 const struct hl_matrix *filter, bool filled)
{
    const bool hybrid = c->x_scales != NULL;
    const bool has_bias = params->bias && !hybrid && !c->rows.words;
    struct hl_initial initial = {.bias = has_bias ? hl_data(params->bias) : NULL};
    hl_rows_fill(&c->rows);
    if (c->rows.zeros) initial.x_zero = hl_rows_set_zero(&c->rows, hybrid ? 0 : hl_zero(params->input));
    if (filled) return;
    hl_packed_fill(ctx, &c->packed, filter, &initial);
    for (int64_t m = 0; m < filter->matrices; m++)
        for (int64_t n = 0; n < hl_packed_columns(&c->packed, m); n++)
            c->epilogue.form->set(&c->epilogue, &params->results, m * filter->columns + n,
                                  hl_packed_column(&c->packed, m, 0) + n);
}

struct hl_convolve_params hl_convolve_conv_params(TfLiteContext *ctx, const TfLiteNode *node,
                                                  const struct hl_conv *conv)
{
    const TfLiteTensor *filter = hl_input(ctx, node, 1), *bias = hl_input(ctx, node, 2);
    bool hybrid = conv->mode == HL_CONV_HYBRID, bytes = conv->mode == HL_CONV_8BIT;
    bool words = conv->mode == HL_CONV_INT16;
    return (struct hl_convolve_params){
        .input = hl_input(ctx, node, 0),
        .filter = filter,
        .bias = bias,
        .filter_zero = filter->type == kTfLiteUInt8 ? hl_zero(filter) : 0,
        .asymmetric = conv->asymmetric,
        .results = {.low_f32 = conv->low_f32,
                    .high_f32 = conv->high_f32,
                    .low = conv->low,
                    .high = conv->high,
                    .zero = bytes ? hl_zero(hl_output(ctx, node, 0)) : 0,
                    .rescales = conv->rescales,
                    .filter_scales = hybrid ? hl_affine(filter)->scale->data : NULL,
                    .filter_scale_step = hybrid && hl_affine(filter)->scale->size > 1,
                    .two_steps = conv->two_steps,
                    .bias = hybrid && bias ? HL_IN(float, bias) : NULL,
                    .words = words,
                    .bias_i64 = words && bias ? HL_IN(int64_t, bias) : NULL},
    };
}

// Hybrid nodes quantize the padded input. Windows of 1x1 are read without a look at the padding. With few products of
// floats the source of the rows, which depends on the padding, says whether they are rounded before they are added.
bool hl_fast_pads(TfLiteContext *ctx, const TfLiteNode *node, const struct hl_conv *conv, bool has_rows,
                  struct hl_conv_shape *shape)
{
    struct hl_border border;
    int top, left;
    const double products = (double)shape->batches * shape->out_height * shape->out_width * shape->outputs * shape->kh *
                            shape->kw * shape->filter_channels / hl_conv_groups(shape);
    const bool few = has_rows && conv->mode == HL_CONV_F32 && products <= HL_FEW_PRODUCTS;
    if (conv->mode == HL_CONV_HYBRID || (shape->kh == 1 && shape->kw == 1) || few) return false;
    if (!hl_find_pad(ctx, node, &border) || !hl_to_int((int64_t)shape->pad_top + border.top, &top) ||
        !hl_to_int((int64_t)shape->pad_left + border.left, &left))
        return false;
    shape->height = border.height;
    shape->width = border.width;
    shape->pad_top = top;
    shape->pad_left = left;
    return true;
}

// Few outputs fill a small part of a vector, and still lower CPU levels are slower. (64 x 64 positions of 16 channels
// to 2 outputs: int8 125 us with SSE2 and 45 with AVX-512 VNNI, float 100 and 56.) Narrow groups whose weights have a
// zero point are multiplied as int16, which lose it: bytes would keep it, and each row of each group need a correction.
// (uint8, 56 x 56, 128 channels in 32 groups: 10.4 ms as bytes, 0.83 as int16; 28 x 28, 96 in 2: 0.38 and 0.5.) So are
// few outputs of few products, whose corrections take longer than they do. (3x3 with stride 2 of 96 x 96, 3 channels to
// 8: 31.8 us as bytes, 19.7 as int16; 3x3 of 28 x 28, 8 to 16: 8.8 and 12.5.)
enum { MAX_FEW_DEPTH = 27 };
static const struct hl_simd *choose_level(const struct hl_conv_shape *shape, const struct hl_convolve_params *params)
{
    const struct hl_simd *best = hl_simd_best(INT_MAX), *pairs = hl_simd_best_of_pairs();
    const bool zero = params->filter->type == kTfLiteUInt8 && params->filter_zero != 128;
    const bool narrow = shape->outputs / hl_conv_groups(shape) < best->columns;
    const bool few = (int64_t)shape->kh * shape->kw * shape->filter_channels <= MAX_FEW_DEPTH;
    if (params->results.words) return pairs;
    return (hl_conv_groups(shape) == 1 && !few) || !narrow || !zero || !pairs ? best : pairs;
}

// Cycles of one row with a panel in a matrix unit, beside one for each step of four bytes in vectors. Up to 16 steps
// take the unit 3, and 4 where what it loads lies across two cache lines; all rows of a register take their time,
// whether they are there or not. To get a row's sums out of the unit takes 8. (74 layers of int8, each in all ways, on
// a Xeon with AMX that did nothing else. A step took 0.37 ns there, and a row with a panel 7.6 ns besides.)
static double cycles_of_unit(const struct hl_matrix_unit *unit, int64_t pieces, int64_t rows_together, bool in_lines)
{
    enum { LINE_CYCLES = 3, CROSSING_CYCLES = 4, CYCLES_OF_ROW = 8 };
    const int64_t registers = (rows_together - 1) / unit->register_rows + 1;
    const double filled = (double)rows_together / (double)(registers * unit->register_rows);
    return (in_lines ? LINE_CYCLES : CROSSING_CYCLES) * (double)pieces / filled + CYCLES_OF_ROW;
}

// Whether the level's matrix unit is faster for these rows than its vectors, and whether it is faster still with
// windows that are gathered from the copied input. (us in vectors, in the unit, and gathered: 3x3 of 7x7, 512 to 512
// channels 400, 310, 200; 1x3 of 8x8, 384 to 384 94, 52, 32; dilated 3x3 of 33x33, 320 to 256 2550, 856, 764; 5x5 of
// 35x35, 48 to 64 305, 132, 181; 3x3 with stride 2 of 299x299, 3 to 32 212, 254, 471.)
static const struct hl_matrix_unit *choose_unit(const struct hl_convolve *c, bool *regroups)
{
    enum { RUN_CYCLES = 8, BYTES_OF_CYCLE = 8 }; // of what is gathered
    const struct hl_rows *rows = &c->rows;
    const struct hl_conv_shape *s = &rows->shape;
    const struct hl_matrix_unit *unit = c->packed.simd->matrix_unit;
    if (!HL_MAY_HAVE_MATRIX_UNIT || !unit || c->packed.dot_width != 4 || rows->together > 1) return NULL;
    const int64_t pieces = rows->depth / rows->segment * ((rows->segment_steps - 1) / unit->steps + 1);
    const bool copied = rows->source->by_lines,
               in_lines = s->channels % HL_LINE == 0 && s->filter_channels % HL_LINE == 0;
    const double in_copy = cycles_of_unit(unit, pieces, copied ? s->out_width : c->positions, in_lines);
    const double runs = s->kh * (s->dilation_w == 1 ? 1.0 : s->kw);
    const double gathers = (runs * RUN_CYCLES + (double)rows->depth / BYTES_OF_CYCLE) / (double)c->packed.panels;
    const int64_t whole = (rows->depth - 1) / (unit->steps * c->packed.dot_width) + 1;
    const double gathered = cycles_of_unit(unit, whole, c->positions, true) + gathers;
    *regroups = rows->source == &hl_rows_copy && gathered < in_copy;
    return (*regroups ? gathered : in_copy) < (double)rows->steps ? unit : NULL;
}

// Whether the products of each output channel with any int16 fit int32 together.
static bool fits_one_piece(const struct hl_matrix *filter)
{
    enum { PART = 256, MAX_SUM = INT32_MAX >> 15 };
    int16_t values[PART];
    for (int64_t n = 0; n < filter->columns; n++) {
        int64_t sum = 0;
        for (int64_t k = 0; k < filter->depth; k += PART) {
            const int64_t count = filter->depth - k < PART ? filter->depth - k : PART;
            hl_widen(filter->type, filter->data, n * filter->column_stride + k, count, 0, values);
            for (int64_t i = 0; i < count; i++) sum += values[i] < 0 ? -values[i] : values[i];
        }
        if (sum > MAX_SUM) return false;
    }
    return true;
}

static bool makes_input(const TfLiteContext *ctx, const struct hl_convolve *c, const struct hl_convolve_params *params)
{
    const size_t least = hl_thread_count(ctx) > 1 ? MIN_SHARED_MADE_BYTES : MIN_MADE_BYTES;
    return params->depthwise && c->rows.groups == 1 && !c->rows.words && !params->results.filter_scales &&
           params->input->bytes >= least && hl_depthwise_lines_at_once(params->depthwise) > 0;
}

// Whether products make the floats of hybrid nodes themselves.
static bool finishes_floats(const struct hl_convolve *c, const struct hl_convolve_params *params)
{
    const struct hl_packed *packed = &c->packed;
    return HL_MAY_MULTIPLY_TO_FLOATS && packed->simd->multiply_to_floats && params->results.filter_scales &&
           !packed->unit && packed->rows == packed->simd->rows && packed->columns >= packed->simd->columns &&
           c->rows.together == 1 && !params->results.two_steps &&
           (c->epilogue.positions == 1 || c->rows.shape.batches == 1);
}

TfLiteStatus hl_convolve_create(TfLiteContext *ctx, const TfLiteNode *node, const struct hl_conv_shape *given,
                                const struct hl_convolve_params *params, void **state, size_t *bytes)
{
    // Rows of a depthwise convolution in front are lines of the node. (Int8, 3x1 of 100 rows, 16 to 16 channels: 2.3 us
    // as a column, 1.1 as a row; of 1,000 rows, 64 to 64 channels: 75.8, 62.4.)
    const struct hl_conv_shape turned = hl_conv_as_row(given);
    const struct hl_conv_shape *shape = hl_conv_is_column(given) && !params->depthwise ? &turned : given;
    const struct hl_simd *simd = choose_level(shape, params);
    struct hl_matrix filter = filter_matrix(shape, params, 1);
    struct hl_convolve made = {
        .asymmetric = params->asymmetric,
        .input = params->input->is_variable ? -1 : (int)(params->input - ctx->tensors),
        .positions = (int64_t)shape->batches * shape->out_height * shape->out_width,
    };
    struct hl_convolve *c = &made;
    hl_packed_init(&c->packed, simd, &filter, filter.depth);
    // Hybrid inputs become the bytes that the level multiplies.
    const bool to_bytes = params->results.filter_scales && c->packed.dot_width == 4;
    const uint8_t flip = to_bytes ? hl_simd_sign_offset(simd, false) : 0;
    hl_rows_init(&c->rows, simd, shape, c->packed.dot_width, c->packed.w_zero,
                 flip ? kTfLiteUInt8 : params->input->type);
    c->rows.flip = flip;
    filter = filter_matrix(shape, params, c->rows.together);
    hl_packed_init(&c->packed, simd, &filter, c->rows.segment);
    hl_rows_limit_tile(&c->rows, c->packed.rows);
    c->packed.rows = c->rows.tile_rows;
    bool regroups;
    const struct hl_matrix_unit *unit = choose_unit(c, &regroups);
    if (unit) {
        hl_rows_use(&c->rows, unit, regroups);
        hl_packed_init(&c->packed, simd, &filter, c->rows.segment);
        hl_packed_use(&c->packed, unit);
    }
    if (c->positions == 1 && c->rows.groups == 1 && !c->rows.source->segments) hl_packed_use_bytes(&c->packed, &filter);
    if (params->results.filter_scales) c->rows.zero_step = 1;
    struct hl_epilogue_params results = params->results;
    if (HL_HAS_WORDS && results.words) {
        hl_packed_use_pieces(&c->packed, fits_one_piece(&filter));
        results.pieces = c->packed.pieces;
    }
    hl_epilogue_init(&c->epilogue, simd, shape->outputs, (int64_t)shape->out_height * shape->out_width, &results);
    c->rounded = c->packed.dot_width == 1 && !c->rows.source->segments && hl_rows_products(&c->rows) <= HL_FEW_PRODUCTS;
    const int line = HL_LINE / (int)hl_type_size(hl_output(ctx, node, 0)->type);
    c->line_panels = line > simd->columns ? line / simd->columns : 1;
    if (makes_input(ctx, c, params)) {
        c->depthwise = params->depthwise;
        c->made_positions = (int64_t)shape->out_width * hl_depthwise_lines_at_once(c->depthwise);
    }
    cut_work(ctx, c);
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    c->fetches = y->type == kTfLiteFloat32 && y->bytes >= MIN_FETCHED_BYTES;
    c->by_rows = finishes_floats(c, params);

    struct hl_parts parts = {.weights = &made.shared};
    hl_digest_add(&parts.how, shape, sizeof *shape); // with the padding of a PAD that was taken over
    list_parts(c, params, hl_thread_count(ctx), &parts);
    HL_TRY(hl_fast_build(ctx, node, &parts, c, sizeof *c, state, bytes));
    c = *state;
    if (!c) return kTfLiteOk;
    pack(ctx, c, params, &filter, parts.filled);
    hl_fast_share(&parts, &made, c, bytes);
    c->epilogue.unquant.w_sums = c->packed.w_sums;
    return kTfLiteOk;
}

void hl_convolve_destroy(void *convolve)
{
    struct hl_convolve *c = convolve;
    if (!c) return;
    hl_weights_release(c->shared);
    free(c);
}

bool hl_convolve_has_depthwise(const void *convolve)
{
    const struct hl_convolve *c = convolve;
    return c && c->depthwise;
}

// ---- running ------------------------------------------------------------------------------------

struct run {
    const struct hl_convolve *c;
    const void *x;
    void *y;
    struct hl_chain_run chain;
};

static void fetch_outputs(const struct hl_convolve *c, const struct hl_output *output, int64_t position,
                          int64_t channel, const struct hl_tile *tile)
{
    const struct hl_output_tile to = {.position = position, .channel = channel};
    const int size = sizeof(float);
    c->packed.simd->kernels->fetch_rows(hl_epilogue_y(&c->epilogue, output, &to, size), c->epilogue.row_stride * size,
                                        tile->rows, tile->columns * size);
}

// Some panels for one tile of rows, which is located already. Layers of few products feel each instruction here
// (the ten layers of ToyADMOS int8 have 53 panels), so the sums of several panels become outputs at once.
static void run_one_tile(const struct hl_convolve *c, const struct hl_output *output, struct hl_tile *tile,
                         struct hl_output_tile *at, int group, int64_t first, int64_t end)
{
    enum { MAX_TOGETHER = 16 };
    const struct hl_packed *packed = &c->packed;
    const struct hl_epilogue *epilogue = &c->epilogue;
    const int columns = packed->simd->columns, all = (int)hl_packed_columns(packed, group);
    const int sums = tile->rows * columns;
    const bool is_row = tile->rows == 1 && packed->panels > 1 && packed->multiply_row && packed->initial &&
                        !tile->segments && !tile->lines && !tile->spread && !tile->rounded;
    // Sums of a row become bytes while the next panels' weights arrive.
    const bool at_once = is_row && epilogue->scales && !output->corrections;
    const int64_t together = at_once                       ? end - first
                             : sums <= SUMS / MAX_TOGETHER ? MAX_TOGETHER
                                                           : SUMS / sums; // divisions take long here
    struct hl_byte_tile bytes;
    at->rows = tile->rows;
    if (epilogue->form->finish) tile->y_stride = at->sums_stride = (ptrdiff_t)together * columns;
    for (int64_t panel = first, count; panel < end; panel += count) {
        count = end - panel < together ? end - panel : together;
        hl_packed_set_panel(packed, group, panel, tile);
        at->channel = group * packed->columns + panel * columns;
        at->column = hl_packed_column(packed, group, panel);
        tile->y = epilogue->form->finish ? output->sums : hl_epilogue_y(epilogue, output, at, sizeof(float));
        const int left = all - (int)panel * columns, done = left < count * columns ? left : (int)count * columns;
        if (at_once) {
            bytes = hl_epilogue_bytes(epilogue, output, at, done);
            tile->scaled = &bytes;
        }
        if (is_row) {
            tile->columns = done;
            packed->multiply_row(tile);
        }
        for (int64_t p = panel; p < panel + count && !is_row; p++, tile->y = (char *)tile->y + columns * 4) {
            if (p > panel) hl_packed_set_panel(packed, group, p, tile);
            packed->multiply(tile);
        }
        if (epilogue->form->finish && !at_once) epilogue->form->finish(epilogue, output, at, done);
    }
}

// Hybrid: the rows of a tile meet one panel after the other, and the products of whole tiles make floats themselves. So
// few rows of the output are written at once, each from its begin to its end. The first tile fetches the next panel.
// (One thread of a Zen 4, us: 384 rows of 256 to 1024 525, 498 so; 128 of 128 to 512 48.1, 46.1. With caches swept
// before each run, ms: 64 of 768 to 3072 0.861, 0.831 without that fetch, 0.779 with it.)
static void run_rows(const struct hl_convolve *c, const void *x, const struct hl_row_block *block,
                     const struct hl_output *output, int64_t first, int64_t end)
{
    const struct hl_packed *packed = &c->packed;
    const struct hl_epilogue *epilogue = &c->epilogue;
    const struct hl_unquantize *all = &epilogue->unquant;
    const int64_t columns = packed->simd->columns, panel_bytes = hl_packed_panel_bytes(packed);
    const int64_t together = panel_bytes < ROW_WEIGHT_BYTES ? ROW_WEIGHT_BYTES / panel_bytes : 1;
    struct hl_unquantize params = *all;
    struct hl_float_tile floats = {.params = &params,
                                   .y_stride = epilogue->row_stride,
                                   .x_step = epilogue->positions == 1};
    struct hl_tile tile = packed->tile;
    struct hl_output_tile at = {0};
    tile.floats = &floats;
    for (int64_t begin = first, stop; begin < end; begin = stop) {
        stop = end - begin < together ? end : begin + together;
        for (int r = 0; r < block->count; r += tile.rows) {
            int64_t panel = begin;
            tile.rows = block->count - r < packed->rows ? block->count - r : packed->rows;
            c->rows.source->locate(&c->rows, block, x, r, &tile);
            at.position = block->to + r;
            floats.x_scales = output->x_scales + at.position * floats.x_step;
            floats.x_zeros = output->x_zeros + at.position * floats.x_step;
            for (; tile.rows == packed->rows && panel < stop; panel++) {
                hl_packed_set_panel(packed, block->group, panel, &tile);
                if (tile.columns < columns) break;
                at.channel = block->group * packed->columns + panel * columns;
                at.column = hl_packed_column(packed, block->group, panel);
                params.scales = all->scales + at.column, params.bias = all->bias + at.column;
                params.w_sums = all->w_sums + at.column;
                floats.y = hl_epilogue_y(epilogue, output, &at, sizeof(float));
                tile.prefetch = r == 0 && panel + 1 < packed->panels ? panel_bytes : 0;
                if (c->fetches) fetch_outputs(c, output, at.position, at.channel, &tile);
                packed->simd->multiply_to_floats(&tile);
            }
            run_one_tile(c, output, &tile, &at, block->group, panel, stop);
        }
    }
}

// Some panels of a block, one tile after the other.
static void run_panels(const struct hl_convolve *c, const void *x, const struct hl_row_block *block,
                       const struct hl_output *output, int64_t first, int64_t end)
{
    const struct hl_packed *packed = &c->packed;
    const struct hl_epilogue *epilogue = &c->epilogue;
    const bool finishes = epilogue->form->finish != NULL;
    const struct hl_even_tiles even = hl_even_tiles(block->count, packed->rows),
                               full = {.rows = packed->rows, .large = block->count};
    const struct hl_even_tiles *tiles = packed->unit ? &full : &even;
    const int rows = tiles->rows, finished = c->fetches ? FINISHED_FETCHED_TILES : FINISHED_TILES;
    const int64_t next_panel = hl_packed_panel_bytes(packed);
    struct hl_tile tile = packed->tile;
    struct hl_output_tile at = {.sums_stride = packed->simd->columns};
    tile.rounded = c->rounded;
    if (c->rows.together > 1) tile.spread = c->rows.spread;
    epilogue->form->begin(epilogue, output, &tile);
    tile.rows = block->count < rows ? block->count : rows;
    c->rows.source->locate(&c->rows, block, x, 0, &tile);
    if (tile.rows == block->count) {
        at.position = block->to;
        run_one_tile(c, output, &tile, &at, block->group, first, end);
        return;
    }
    for (int64_t panel = first; panel < end; panel++) {
        hl_packed_set_panel(packed, block->group, panel, &tile);
        at.channel = block->group * packed->columns + panel * packed->simd->columns;
        at.column = hl_packed_column(packed, block->group, panel);
        for (int r = 0, next, begun = 0; r < block->count; r = next) {
            tile.rows = hl_even_tile_rows(tiles, r, block->count);
            // The second tile fetches the next panel, while the first one waits for its own.
            tile.prefetch = r > 0 && r <= rows && panel + 1 < packed->panels ? next_panel : 0;
            c->rows.source->locate(&c->rows, block, x, r, &tile);
            next = r + tile.rows;
            at.position = block->to + begun, at.row = begun, at.rows = next - begun;
            if (finishes)
                tile.y = output->sums + (ptrdiff_t)(r - begun) * tile.y_stride;
            else
                tile.y = hl_epilogue_y(epilogue, output, &at, sizeof(float));
            if (c->fetches) fetch_outputs(c, output, block->to + r, at.channel, &tile);
            packed->multiply(&tile);
            if (finishes && next < block->count && at.rows <= (finished - 1) * rows) continue;
            if (finishes) epilogue->form->finish(epilogue, output, &at, tile.columns);
            begun = next;
        }
    }
}

// The same of int16, whose sums come in pieces.
static void run_words(const struct hl_convolve *c, const void *x, const struct hl_row_block *block,
                      const struct hl_output *output, int64_t first, int64_t end)
{
    const struct hl_packed *packed = &c->packed;
    const int columns = packed->simd->columns;
    struct hl_tile tile = packed->tile;
    struct hl_output_tile at = {.sums_stride = columns};
    c->epilogue.form->begin(&c->epilogue, output, &tile);
    for (int64_t panel = first; panel < end; panel++) {
        hl_packed_set_panel(packed, 0, panel, &tile);
        at.channel = at.column = panel * columns;
        for (int r = 0; r < block->count; r += tile.rows) {
            tile.rows = block->count - r < packed->rows ? block->count - r : packed->rows;
            c->rows.source->locate(&c->rows, block, x, r, &tile);
            at.position = block->to + r, at.rows = tile.rows;
            hl_gemm_pieces(packed, &tile);
            c->epilogue.form->finish(&c->epilogue, output, &at, tile.columns);
        }
    }
}

// What an item of work is.
struct piece {
    int64_t first, count; // output positions
    int group;
    int64_t first_panel, end_panel;
};

static int64_t first_of_block(const struct hl_convolve *c, int64_t block)
{
    return c->lines > 0 ? c->lines * block / c->blocks * c->rows.shape.out_width : block * c->block;
}

static struct piece piece_of(const struct hl_convolve *c, int64_t item)
{
    const int64_t panels = c->packed.panels;
    if (c->blocks == 1 && c->parts == 1)
        return (struct piece){.count = c->positions, .group = (int)item, .end_panel = panels};
    const int64_t part = item % c->parts, block = item / c->parts, lines = (panels - 1) / c->line_panels + 1;
    const int64_t end = lines * (part + 1) / c->parts * c->line_panels;
    const int64_t number = block / c->rows.groups, first = first_of_block(c, number);
    const int64_t next = number + 1 < c->blocks ? first_of_block(c, number + 1) : c->positions;
    return (struct piece){
        .first = first,
        .count = next - first,
        .group = (int)(block % c->rows.groups),
        .first_panel = lines * part / c->parts * c->line_panels,
        .end_panel = end < panels ? end : panels,
    };
}

// The block's part of the input, with which the block then begins.
static const void *make_input(const struct run *run, struct hl_row_block *block, int worker)
{
    const struct hl_convolve *c = run->c;
    const int width = c->rows.shape.out_width;
    void *made = hl_scratch_of(&c->made, worker);
    hl_depthwise_lines(c->depthwise, run->x, block->first / width, block->count / width, made, worker);
    block->first = 0;
    return made;
}

// to: where the outputs lie in y, in positions.
static void run_piece(const struct run *run, const struct piece *piece, void *y, int64_t to, int worker)
{
    const struct hl_convolve *c = run->c;
    _Alignas(HL_LINE) int32_t sums[SUMS];
    assert(c->packed.rows <= MAX_TILE_ROWS && c->packed.simd->columns <= MAX_TILE_COLUMNS);
    struct hl_row_block block = {
        .first = piece->first,
        .to = to,
        .count = (int)piece->count,
        .group = piece->group,
        .packed = hl_scratch_of(&c->packed_rows, worker),
        .window = hl_scratch_of(&c->window, worker),
        .corrections = hl_scratch_of(&c->corrections, worker),
    };
    const bool words = HL_HAS_WORDS && c->rows.words;
    struct hl_output output = {
        .y = y,
        .sums = words ? hl_scratch_of(&c->pieces, worker) : sums,
        .corrections = block.corrections,
        .x_scales = c->x_scales,
        .x_zeros = c->rows.zeros,
    };
    const void *x = c->depthwise ? make_input(run, &block, worker) : run->x;
    if (c->rows.source->load) c->rows.source->load(&c->rows, &block, x);
    if (c->packed.unit) c->packed.unit->begin();
    if (words)
        run_words(c, x, &block, &output, piece->first_panel, piece->end_panel);
    else if (HL_MAY_MULTIPLY_TO_FLOATS && c->by_rows && block.count >= c->packed.rows)
        run_rows(c, x, &block, &output, piece->first_panel, piece->end_panel);
    else
        run_panels(c, x, &block, &output, piece->first_panel, piece->end_panel);
    if (c->packed.unit) c->packed.unit->end();
}

static void run_item(void *arg, int64_t item, int worker)
{
    const struct run *run = arg;
    const struct piece piece = piece_of(run->c, item);
    run_piece(run, &piece, run->y, piece.first, worker);
    hl_chain_rows(&run->chain, piece.first, piece.count);
}

// Blocks of outputs for some rows of the pool at the chain's end.
static void run_pooled_item(void *arg, int64_t item, int worker)
{
    const struct run *run = arg;
    const struct hl_convolve *c = run->c;
    const struct hl_chain_lines lines = hl_chain_lines_of(c->chain, c->pool_rows, item);
    char *made = hl_scratch_of(&c->chain->lines, worker);
    struct piece piece = {.first = lines.first, .end_panel = c->packed.panels};
    for (int64_t left = lines.count; left > 0; left -= piece.count, piece.first += piece.count) {
        piece.count = left < c->block ? left : c->block;
        run_piece(run, &piece, made, piece.first - lines.first, worker);
        hl_chain_made(&run->chain, &lines, made, piece.first, piece.count);
    }
    hl_chain_pool(&run->chain, &lines, made);
}

// An item has as many rows of the pool as a block has without it, or one. Hybrid nodes find the scales of batches by
// positions of the whole output, and with int16 pools were not measured.
static bool lead_to_pool(struct hl_convolve *c, const struct hl_chain *chain)
{
    if (c->x_scales || c->rows.words) return false;
    const int64_t each = hl_chain_positions_of_row(chain), fit = c->block / each;
    c->chain = chain;
    c->fetches = false;
    c->pool_rows = fit < 1 ? 1 : fit < chain->most_rows ? (int)fit : chain->most_rows;
    const int64_t count = c->pool_rows * each, block = rows_of_block(c, count, (count - 1) / c->block + 1, true);
    if (block < c->block) c->block = block;
    c->blocks = hl_chain_items(chain, c->pool_rows);
    return true;
}

// Outputs that a chain goes on with should still be in the second-level cache. Parts of rows would be many short runs:
// MobileNet v3 uint8 with two threads took 1.06 of its time with them.
bool hl_convolve_lead(void *convolve, const struct hl_chain *chain)
{
    struct hl_convolve *c = convolve;
    if (c->parts > 1 || c->rows.groups > 1) return false;
    if (chain->pool) return lead_to_pool(c, chain);
    const int64_t row_bytes = chain->channels * chain->size, rows = c->packed.rows;
    int64_t most = BLOCK_BYTES / row_bytes / rows * rows;
    if (most < rows) most = rows;
    if (c->made_positions > 0)
        most = most < c->made_positions ? c->made_positions : most / c->made_positions * c->made_positions;
    c->chain = chain;
    if (c->block <= most) return true;
    c->block = most;
    c->blocks = (c->positions - 1) / c->block + 1;
    c->lines = 0;
    return true;
}

// The epilogue writes each row where it belongs. A chain goes on with whole blocks, and a pool writes its own rows.
// (Tried and refused: a chain's blocks made in a worker's memory and copied from there. One thread of a Zen 4, time
// over time without rows that lie apart: YOLOX nano, which joins the swishes of 20 convolutions, 0.993, and 0.995 with
// all chains left alone; its hybrid form 1.02; hair segmentation 1.00.)
bool hl_convolve_set_row_stride(void *convolve, int64_t stride)
{
    struct hl_convolve *c = convolve;
    if (c->chain) return false;
    c->epilogue.row_stride = (ptrdiff_t)stride;
    return true;
}

// Whether another node has quantized the same rows in the same way.
static bool has_same_rows(const struct hl_convolve *c, const struct hl_convolve *other)
{
    const struct hl_conv_shape *a = &c->rows.shape, *b = &other->rows.shape;
    return c->input >= 0 && c->input == other->input && c->asymmetric == other->asymmetric &&
           c->rows.flip == other->rows.flip && a->batches == b->batches && a->height == b->height &&
           a->width == b->width && a->channels == b->channels;
}

// The quantized input; or what the rows' source must know to do it. Queries, keys and values are often made of the same
// rows, which one of their layers quantizes. (transformer_128 hybrid on a Zen 4: 0.97 of its time.)
static const void *quantize(const TfLiteContext *ctx, const struct hl_convolve *c, const float *x)
{
    const struct hl_row_kernels *kernels = &c->packed.simd->kernels->row_kernels;
    const struct hl_rows *rows = &c->rows;
    const struct hl_conv_shape *shape = &rows->shape;
    const size_t batches = (size_t)shape->batches;
    const int64_t size = (int64_t)shape->height * shape->width * shape->channels;
    if (!rows->byte_scales) {
        const void **left = hl_left_for_others(ctx);
        const struct hl_convolve *other = *left;
        if (other && has_same_rows(c, other)) {
            memcpy(c->x_scales, other->x_scales, batches * sizeof *c->x_scales);
            memcpy(rows->zeros, other->rows.zeros, batches * sizeof *rows->zeros);
            return other->x_stored;
        }
        hl_quantize_rows(ctx, kernels, c->asymmetric, x, shape->batches, size, rows->flip, c->x_stored, c->x_scales,
                         rows->zeros);
        *left = c;
        return c->x_stored;
    }
    hl_find_row_scales(ctx, kernels, c->asymmetric, x, shape->batches, size, rows->byte_scales);
    for (int b = 0; b < shape->batches; b++) {
        c->x_scales[b] = rows->byte_scales[b].scale;
        rows->zeros[b] = rows->byte_scales[b].zero + rows->flip;
    }
    return x;
}

void hl_convolve_run(TfLiteContext *ctx, const void *convolve, const void *x, void *y)
{
    const struct hl_convolve *c = convolve;
    struct run run;
    run.c = c, run.x = HL_HAS_BYTES && c->x_scales ? quantize(ctx, c, x) : x, run.y = y;
    hl_chain_begin(ctx, c->chain, y, &run.chain);
    if (c->rows.source->start) c->rows.source->start(ctx, &c->rows, run.x);
    hl_parallel(ctx, c->blocks * c->rows.groups * c->parts, c->pool_rows > 0 ? run_pooled_item : run_item, &run);
}
