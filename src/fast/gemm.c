// SPDX-License-Identifier: Apache-2.0
// Packing of weights, and products with them. Panels have as many columns as a tile; the last one is padded with zeros.
// Integers of x keep their zero point zx in a product of bytes, and weights may keep theirs, zw. What both add is taken
// away: sum (x - zx)(w - zw) = sum x w - zx sum (w - zw) - zw sum x, modulo 2^32. The second term is known in prepare
// and goes into the initial accumulators; the third one, of each row, is the epilogue's.
#include "fast/gemm.h"

#include <math.h>

#include "abi/built_types.h"
#include "ops/common/copy.h"
#include "ops/common/dot.h"

enum { MAX_COLUMNS = 64 }; // as many as any tile has, and more
static const float zeros[MAX_COLUMNS] = {0};

static void set_tile(struct hl_packed *packed)
{
    packed->tile = (struct hl_tile){
        .steps = packed->segment_steps,
        .segments = (int)(packed->depth / packed->segment) - 1,
        .x_segment = packed->segment_steps * (packed->dot_width == 1 ? 1 : 4),
        .initial = zeros,
        .low = -INFINITY,
        .high = INFINITY,
    };
}

void hl_packed_init(struct hl_packed *packed, const struct hl_simd *simd, const struct hl_matrix *matrix,
                    int64_t segment)
{
    bool floats = !HL_HAS_BYTES || matrix->type == kTfLiteFloat32; // words need bytes, too (HL_HAS_WORDS)
    const bool narrow = floats && simd->narrow_rows > 0 && matrix->columns <= simd->bytes / (int)sizeof(float);
    *packed = (struct hl_packed){
        .simd = simd,
        .rows = narrow ? simd->narrow_rows : simd->rows,
        .multiply = floats ? simd->multiply_f32 : simd->multiply_integer,
        .multiply_row = floats ? simd->multiply_row_f32 : simd->multiply_row_integer,
        .dot_width = floats ? 1 : simd->dot_width,
        .columns = matrix->columns,
        .all_columns = matrix->all_columns > 0 ? matrix->all_columns : INT64_MAX,
        .panels = (matrix->columns - 1) / simd->columns + 1,
        .depth = matrix->depth,
        .segment = segment,
        .step_bytes = 4,
        .layers = matrix->type == kTfLiteInt16 ? 2 : 1,
    };
    packed->segment_steps = (segment + packed->dot_width - 1) / packed->dot_width;
    packed->steps = packed->depth / segment * packed->segment_steps;
    if (packed->dot_width == 4) packed->w_zero = matrix->zero - (matrix->type == kTfLiteUInt8 ? 128 : 0);
    set_tile(packed);
}

void hl_packed_use(struct hl_packed *packed, const struct hl_matrix_unit *unit)
{
    packed->unit = unit;
    packed->rows = unit->rows;
    packed->multiply = unit->multiply;
    packed->multiply_row = NULL;
    packed->segment_steps = (packed->segment_steps + unit->steps - 1) / unit->steps * unit->steps;
    packed->steps = packed->depth / packed->segment * packed->segment_steps;
    set_tile(packed);
}

void hl_packed_use_bytes(struct hl_packed *packed, const struct hl_matrix *matrix)
{
    if (matrix->type != kTfLiteInt8 || matrix->zero != 0 || packed->dot_width != 2 || packed->depth > packed->segment ||
        !packed->simd->multiply_row_bytes)
        return;
    packed->step_bytes = 2;
    packed->multiply = packed->multiply_row = packed->simd->multiply_row_bytes;
}

void hl_packed_use_pieces(struct hl_packed *packed, bool fits)
{
    enum { MAX_STEPS = 255 }; // of two products, each of which is 2^22 at most
    const int64_t segments = packed->depth / packed->segment;
    const bool whole = fits || packed->steps <= MAX_STEPS;
    packed->piece_steps = whole ? packed->steps : MAX_STEPS;
    packed->pieces = packed->layers * (whole ? 1 : (int)(segments * ((packed->segment_steps - 1) / MAX_STEPS + 1)));
}

void hl_packed_parts(struct hl_packed *packed, int64_t matrices, bool has_bias, bool keep_sums, struct hl_parts *parts)
{
    int64_t columns = packed->panels * packed->simd->columns, integers = packed->dot_width > 1;
    hl_parts_add_constant(parts, &packed->weights, matrices * columns * packed->layers, packed->steps,
                          (size_t)packed->step_bytes);
    hl_parts_add_constant(parts, &packed->initial, integers || has_bias ? matrices : 0, columns, 4);
    hl_parts_add_constant(parts, &packed->narrow, packed->dot_width == 4 && packed->simd->asks_narrow ? matrices : 0,
                          packed->panels, sizeof *packed->narrow);
    hl_parts_add_constant(parts, &packed->w_sums, keep_sums ? matrices : 0, columns, 4);
}

// ---- packing ------------------------------------------------------------------------------------

static int64_t element_of(const struct hl_matrix *matrix, int64_t m, int64_t n)
{
    return m * matrix->matrix_stride + n / matrix->run * matrix->run_stride + n % matrix->run * matrix->column_stride;
}

void hl_pack_panel(const struct hl_packed *packed, const struct hl_matrix *matrix, int64_t matrix_index, int64_t panel,
                   void *to)
{
    enum { MAX_DEPTH = 1 << 30 };
    int64_t first = panel * packed->simd->columns, left = hl_packed_columns(packed, matrix_index) - first;
    int64_t end = first + (left < packed->simd->columns ? left : packed->simd->columns);
    for (int64_t n = first, count; n < end; n += count) {
        count = matrix->run - n % matrix->run;
        if (count > end - n) count = end - n;
        for (int64_t k = 0; k < packed->depth; k += MAX_DEPTH) {
            int64_t depth = packed->depth - k < MAX_DEPTH ? packed->depth - k : MAX_DEPTH;
            const int dims[2] = {(int)depth, (int)count};
            const struct hl_layout to_layout = {.offset = k * packed->simd->columns + n - first,
                                                .stride = {packed->simd->columns, 1}};
            const struct hl_layout from_layout = {.offset =
                                                      element_of(matrix, matrix_index, n) + k * matrix->depth_stride,
                                                  .stride = {matrix->depth_stride, matrix->column_stride}};
            hl_copy(32, 2, dims, to, &to_layout, matrix->data, &from_layout);
        }
    }
}

// One layer of a column of int16: the first rounds to the nearest multiple of 256, and the second is what that leaves,
// the lower byte as a signed number.
static void pack_int16(const int16_t *from, int64_t stride, int64_t count, int layer, int16_t *restrict to)
{
    const int half = layer == 0 ? 128 : 0, up = layer == 0 ? 0 : 24, down = layer == 0 ? 8 : 24;
    for (int64_t k = 0; k < count; k++) to[k] = (int16_t)((int32_t)((uint32_t)(from[k * stride] + half) << up) >> down);
}

// `count` integers of a column, from element `from` of the matrix on, as they are multiplied.
static void pack_column(const struct hl_packed *packed, const struct hl_matrix *matrix, int layer, int64_t from,
                        int64_t count, void *to)
{
    const struct hl_microkernels *kernels = packed->simd->kernels;
    const bool is_unsigned = matrix->type == kTfLiteUInt8;
    if (matrix->type == kTfLiteInt16) {
        pack_int16((const int16_t *)matrix->data + from, matrix->depth_stride, count, layer, to);
        return;
    }
    if (matrix->depth_stride == 1 && (is_unsigned || matrix->type == kTfLiteInt8)) {
        const uint8_t *bytes = (const uint8_t *)matrix->data + from;
        if (packed->step_bytes == 2)
            memcpy(to, bytes, (size_t)count);
        else if (packed->dot_width == 4)
            kernels->xor_bytes(bytes, is_unsigned ? 0x80 : 0, count, to);
        else
            kernels->widen(bytes, is_unsigned, matrix->zero, count, to);
        return;
    }
    for (int64_t k = 0; k < count; k++) {
        int16_t value;
        hl_widen(matrix->type, matrix->data, from + k * matrix->depth_stride, 1, matrix->zero, &value);
        if (packed->dot_width == 4 || packed->step_bytes == 2)
            ((int8_t *)to)[k] = (int8_t)(value + packed->w_zero);
        else
            ((int16_t *)to)[k] = value;
    }
}

// Neighboring steps of a panel are packed at once: first each column as a row of its own, then these rows transposed.
// The memory of both stays in the first-level cache. (AllocateTensors of MobileNet v1 int8, 4.2 million weights, with
// AVX-512 VNNI: 7 ms of CPU time, a third of it page faults; weight by weight 135 ms on the same busy machine.)
enum { PIECE_STEPS = 64 };

struct piece {
    int64_t matrix, first; // the panel's first column
    int columns, layer;
    int64_t k, count; // the values of each column, within a segment
    char *to;         // the first step
};

// Rows of PIECE_STEPS steps become columns, `together` steps at a time.
static void transpose_steps(const struct hl_packed *packed, int together, const int dims[2], const char *from, char *to)
{
    const struct hl_layout to_layout = {.stride = {packed->simd->columns, 1}};
    const int size = packed->step_bytes * together;
    const struct hl_layout from_layout = {.stride = {1, PIECE_STEPS * 4 / size}};
    if (dims[0] > 0) hl_copy(8 * size, 2, dims, to, &to_layout, from, &from_layout);
}

// Bytes of neighboring columns that lie side by side are turned first, PIECE_STEPS * 4 from column to column, because
// columns are packed faster where theirs do. (A transformer of 1024 tokens, int8, one thread: 1.5 of 19.2 ms, 0.2 so.)
static bool turn_columns(const struct hl_matrix *matrix, const struct piece *piece, char *to)
{
    const bool bytes = matrix->type == kTfLiteInt8 || matrix->type == kTfLiteUInt8;
    if (!bytes || matrix->depth_stride == 1 || matrix->column_stride != 1 || matrix->run < matrix->columns)
        return false;
    const int dims[2] = {piece->columns, (int)piece->count};
    const struct hl_layout to_layout = {.stride = {PIECE_STEPS * 4, 1}};
    const struct hl_layout from_layout = {.offset = element_of(matrix, piece->matrix, piece->first) +
                                                    piece->k * matrix->depth_stride,
                                          .stride = {1, matrix->depth_stride}};
    hl_copy(8, 2, dims, to, &to_layout, matrix->data, &from_layout);
    return true;
}

static void pack_piece(const struct hl_packed *packed, const struct hl_matrix *matrix, const struct piece *piece)
{
    _Alignas(HL_LINE) char rows[MAX_COLUMNS][PIECE_STEPS * 4], bytes[MAX_COLUMNS][PIECE_STEPS * 4];
    const int dims[2] = {(int)((piece->count + packed->dot_width - 1) / packed->dot_width), piece->columns};
    struct hl_matrix columns = {.type = matrix->type, .data = bytes, .zero = matrix->zero, .depth_stride = 1};
    const bool turns = turn_columns(matrix, piece, bytes[0]);
    for (int n = 0; n < piece->columns; n++) {
        const int64_t from =
            turns ? (int64_t)n * PIECE_STEPS * 4
                  : element_of(matrix, piece->matrix, piece->first + n) + piece->k * matrix->depth_stride;
        // The last step may be filled in part.
        memset(rows[n] + (dims[0] - 1) * packed->step_bytes, 0, (size_t)packed->step_bytes);
        pack_column(packed, turns ? &columns : matrix, piece->layer, from, piece->count, rows[n]);
    }
    const int pairs = packed->dot_width > 1 && packed->simd->step_pairs ? dims[0] / 2 : 0;
    transpose_steps(packed, 2, (int[]){pairs, dims[1]}, rows[0], piece->to);
    transpose_steps(packed, 1, (int[]){dims[0] - 2 * pairs, dims[1]}, rows[0] + pairs * 8,
                    piece->to + (int64_t)pairs * packed->simd->columns * 8);
}

// Sums of a panel's columns: its product with a row of ones.
static void sum_columns(const struct hl_packed *packed, const char *panel, uint32_t sums[MAX_COLUMNS])
{
    enum { ONE_BYTES = 0x01010101, ONE_INT16 = 0x00010001 };
    uint32_t ones[PIECE_STEPS];
    struct hl_tile tile = {.rows = 1, .x = ones, .initial = sums, .y = sums, .columns = packed->simd->columns};
    for (int i = 0; i < PIECE_STEPS; i++) ones[i] = packed->dot_width == 4 ? ONE_BYTES : ONE_INT16;
    memset(sums, 0, MAX_COLUMNS * sizeof *sums);
    for (int64_t segment = 0; segment < packed->steps; segment += packed->segment_steps)
        for (int64_t step = 0; step < packed->segment_steps; step += tile.steps) {
            const int64_t left = packed->segment_steps - step;
            tile.w = panel + (segment + step) * packed->simd->columns * packed->step_bytes;
            tile.steps = left < PIECE_STEPS ? left : PIECE_STEPS;
            packed->multiply(&tile);
        }
}

static void pack_steps(const struct hl_packed *packed, const struct hl_matrix *matrix, int64_t matrix_index,
                       int64_t panel, void *panel_memory)
{
    const int64_t piece_values = PIECE_STEPS * packed->dot_width, first = panel * packed->simd->columns;
    const int64_t left = hl_packed_columns(packed, matrix_index) - first;
    const int64_t step = packed->simd->columns * packed->step_bytes;
    struct piece piece = {.matrix = matrix_index, .first = first};
    char *to = panel_memory;
    piece.columns = left < packed->simd->columns ? (int)left : packed->simd->columns;
    for (; piece.layer < packed->layers; piece.layer++, to += packed->steps * step)
        for (int64_t segment = 0; segment < packed->depth / packed->segment; segment++)
            for (int64_t k = 0; k < packed->segment; k += piece.count) {
                piece.k = segment * packed->segment + k;
                piece.count = packed->segment - k < piece_values ? packed->segment - k : piece_values;
                piece.to = to + (segment * packed->segment_steps + k / packed->dot_width) * step;
                pack_piece(packed, matrix, &piece);
            }
}

void hl_pack_integers(const struct hl_packed *packed, const struct hl_matrix *matrix, const struct hl_initial *initial,
                      int64_t matrix_index, int64_t panel, void *to, uint32_t *initial_to)
{
    const int64_t column = hl_packed_column(packed, matrix_index, panel), first = panel * packed->simd->columns;
    const int64_t left = hl_packed_columns(packed, matrix_index) - first;
    pack_steps(packed, matrix, matrix_index, panel, to);
    uint32_t sums[MAX_COLUMNS] = {0};
    if (packed->layers == 1) sum_columns(packed, to, sums); // int16 have no zero point
    const uint32_t *bias = initial->bias, zeros_of_depth = (uint32_t)packed->depth * (uint32_t)packed->w_zero;
    for (int n = 0; n < left && n < packed->simd->columns; n++) {
        const uint32_t sum = sums[n] - zeros_of_depth;
        initial_to[n] = (bias ? bias[matrix_index * packed->columns + first + n] : 0) - initial->x_zero * sum;
        if (packed->w_sums) packed->w_sums[column + n] = sum;
    }
}

static void pack_integers(const struct hl_packed *packed, const struct hl_matrix *matrix,
                          const struct hl_initial *initial, int64_t matrix_index, int64_t panel)
{
    const int64_t column = hl_packed_column(packed, matrix_index, panel);
    char *const to = packed->weights + column * packed->layers * packed->steps * packed->step_bytes;
    hl_pack_integers(packed, matrix, initial, matrix_index, panel, to, (uint32_t *)packed->initial + column);
    if (packed->narrow)
        packed->narrow[matrix_index * packed->panels + panel] =
            !memchr(to, 0x80, (size_t)hl_packed_panel_bytes(packed));
}

static void pack_floats(const struct hl_packed *packed, const struct hl_matrix *matrix,
                        const struct hl_initial *initial, int64_t matrix_index, int64_t panel)
{
    const int64_t column = hl_packed_column(packed, matrix_index, panel), first = panel * packed->simd->columns;
    hl_pack_panel(packed, matrix, matrix_index, panel, (float *)packed->weights + column * packed->steps);
    const int64_t columns = hl_packed_columns(packed, matrix_index);
    const float *bias = initial->bias;
    for (int64_t n = 0; bias && n < packed->simd->columns && first + n < columns; n++)
        ((float *)packed->initial)[column + n] = bias[matrix_index * packed->columns + first + n];
}

struct fill {
    const struct hl_packed *packed;
    const struct hl_matrix *matrix;
    const struct hl_initial *initial;
};

static void fill_panel(void *arg, int64_t item, int worker)
{
    const struct fill *fill = arg;
    (void)worker;
    (!HL_HAS_BYTES || fill->packed->dot_width == 1 ? pack_floats : pack_integers)(fill->packed, fill->matrix,
                                                                                  fill->initial,
                                                                                  item / fill->packed->panels,
                                                                                  item % fill->packed->panels);
}

void hl_packed_fill(const TfLiteContext *ctx, const struct hl_packed *packed, const struct hl_matrix *matrix,
                    const struct hl_initial *initial)
{
    enum { MIN_SHARED = 64 << 10 };
    struct fill fill = {packed, matrix, initial};
    const int64_t panels = matrix->matrices * packed->panels;
    if (ctx && panels * hl_packed_panel_bytes(packed) >= MIN_SHARED)
        hl_parallel(ctx, panels, fill_panel, &fill);
    else
        for (int64_t item = 0; item < panels; item++) fill_panel(&fill, item, 0);
}

void hl_packed_fill_matrix(const struct hl_packed *packed, const struct hl_matrix *matrix,
                           const struct hl_initial *initial, int64_t matrix_index)
{
    struct fill fill = {packed, matrix, initial};
    for (int64_t panel = 0; panel < packed->panels; panel++)
        fill_panel(&fill, matrix_index * packed->panels + panel, 0);
}

// ---- products -----------------------------------------------------------------------------------

void hl_gemm_pieces(const struct hl_packed *packed, const struct hl_tile *whole)
{
    struct hl_tile tile = *whole;
    int32_t *y = whole->y;
    const int64_t size = hl_piece_size(packed->simd), step = packed->simd->columns * 4;
    for (int layer = 0; layer < packed->layers && packed->pieces == packed->layers; layer++, y += size) {
        tile.y = y;
        packed->multiply(&tile);
        tile.w = (const char *)tile.w + packed->steps * step;
    }
    if (packed->pieces == packed->layers) return;
    tile.segments = tile.lines = 0;
    for (int layer = 0; layer < packed->layers; layer++) {
        const char *segment = whole->x;
        for (int line = 0; line <= whole->lines; line++, segment += whole->x_line)
            for (int i = 0; i <= whole->segments; i++, segment += whole->x_segment)
                for (int64_t k = 0; k < whole->steps; k += tile.steps, y += size) {
                    const int64_t left = whole->steps - k;
                    tile.steps = left < packed->piece_steps ? left : packed->piece_steps;
                    tile.x = segment + k * 4;
                    tile.y = y;
                    packed->multiply(&tile);
                    tile.w = (const char *)tile.w + tile.steps * step;
                }
    }
}
