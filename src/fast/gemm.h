// SPDX-License-Identifier: Apache-2.0
// A matrix product with packed weights: y[r][n] = initial[n] + sum over k of x[r][k] * w[k][n]. In: weights of any type
// and strides. Out: the weights in panels, as the tiles of one CPU level read them, each panel's initial accumulators,
// and struct hl_tile for the product of a few rows with one panel.
#ifndef HALITE_FAST_GEMM_H
#define HALITE_FAST_GEMM_H

#include "fast/fast.h"
#include "fast/simd/simd.h"

// One or several matrices of weights. Element (k, n) of matrix m is at
// m * matrix_stride + k * depth_stride + n / run * run_stride + n % run * column_stride.
struct hl_matrix {
    TfLiteType type;
    const void *data;
    int zero; // the zero point of integers
    int64_t matrices, depth, columns;
    int64_t all_columns;                                // of all matrices: the last one may have fewer. 0: it has not
    int64_t matrix_stride, depth_stride, column_stride; // in elements
    int64_t run, run_stride;                            // run: `columns` where all columns are equally far apart
};

struct hl_packed {
    const struct hl_simd *simd;
    const struct hl_matrix_unit *unit; // that multiplies; NULL: `simd` itself
    int rows;                          // of a tile
    void (*multiply)(const struct hl_tile *tile), (*multiply_row)(const struct hl_tile *tile); // of struct hl_simd
    // So many neighboring k are one step of a tile, and 4 bytes of a packed row: 1 float, 2 int16, or 4 bytes.
    int dot_width;
    int64_t columns, panels; // of one matrix
    int64_t all_columns;     // of all matrices: the last one may have fewer
    int64_t depth;           // products of one sum
    // Rows of x may come in several segments of equal length, each of which begins with a new step.
    int64_t segment, segment_steps;
    int64_t steps; // of all segments
    // The zero point of the weights as they are packed. Bytes (dot width 4) keep it, so that the sum of each row of x,
    // times this, must be taken from the products of that row; int16 have lost it, and so have the zero points of x.
    int w_zero;
    // Of a column's weights a step has so many bytes: 4, or 2 where bytes become int16 as they are read.
    int step_bytes;
    // int16 weights are two layers, 256 times the first plus the second, each of which fits a signed byte or is 128.
    int layers;
    // Products of int16: sums of so many steps fit int32, and those of a tile come in so many pieces, layer by layer.
    int64_t piece_steps;
    int pieces;
    char *weights;    // [matrices][panels][layers][steps][simd->columns][step_bytes]
    char *initial;    // [matrices][panels][simd->columns], float or int32. NULL: zeros
    uint8_t *narrow;  // [matrices][panels]: 1 for struct hl_tile.narrow. NULL: none is
    uint32_t *w_sums; // the same order: sums of a column's weights, less their zero points. NULL: not kept
    // A tile without its panel, its rows, whose segments follow each other, and y. Floats are not bounded. (Made for
    // each block, and returned with a byte just written, it took a tenth of the time of small networks.)
    struct hl_tile tile;
};

// What hl_packed_fill adds to the accumulators.
struct hl_initial {
    const void *bias; // [matrices][columns], float or int32; NULL: none
    uint32_t x_zero;  // the value in a product of a byte of x that means 0; 0 for floats and int16
};

// Everything but the memory.
void hl_packed_init(struct hl_packed *packed, const struct hl_simd *simd, const struct hl_matrix *matrix,
                    int64_t segment);
// Then, for dot width 4: `unit` multiplies.
void hl_packed_use(struct hl_packed *packed, const struct hl_matrix_unit *unit);
// The arrays for so many matrices (0: weights are packed later, hl_pack_panel).
void hl_packed_parts(struct hl_packed *packed, int64_t matrices, bool has_bias, bool keep_sums, struct hl_parts *parts);
// Packs all matrices. The interpreter's threads share the panels; ctx NULL: this thread does it alone.
void hl_packed_fill(const TfLiteContext *ctx, const struct hl_packed *packed, const struct hl_matrix *matrix,
                    const struct hl_initial *initial);
// Packs one of them, on this thread.
void hl_packed_fill_matrix(const struct hl_packed *packed, const struct hl_matrix *matrix,
                           const struct hl_initial *initial, int64_t matrix_index);
// The steps of one panel of integers, and its initial accumulators, behind whose last column nothing is written.
void hl_pack_integers(const struct hl_packed *packed, const struct hl_matrix *matrix, const struct hl_initial *initial,
                      int64_t matrix_index, int64_t panel, void *to, uint32_t *initial_to);
// Packs one panel of floats. What lies behind the last column stays as it is.
void hl_pack_panel(const struct hl_packed *packed, const struct hl_matrix *matrix, int64_t matrix_index, int64_t panel,
                   void *to);

// Then, for one row alone, which waits for its weights: int8 stay bytes where the CPU level multiplies int16.
void hl_packed_use_bytes(struct hl_packed *packed, const struct hl_matrix *matrix);
// Then, where x is int16: the tiles of a dot width of 2 are multiplied in pieces. fits: all sums of a layer fit int32.
void hl_packed_use_pieces(struct hl_packed *packed, bool fits);

// Bytes of a packed panel, and of a packed row of x.
static inline int64_t hl_packed_panel_bytes(const struct hl_packed *packed)
{
    return packed->layers * packed->steps * packed->simd->columns * packed->step_bytes;
}
static inline int64_t hl_packed_row_bytes(const struct hl_packed *packed)
{
    return packed->steps * 4;
}
// Where a panel begins in arrays of one value for each column.
static inline int64_t hl_packed_column(const struct hl_packed *packed, int64_t matrix, int64_t panel)
{
    return (matrix * packed->panels + panel) * packed->simd->columns;
}

static inline int64_t hl_packed_columns(const struct hl_packed *packed, int64_t matrix)
{
    const int64_t left = packed->all_columns - matrix * packed->columns;
    return left < packed->columns ? left : packed->columns;
}

// Moves a copy of packed->tile to a panel, the first or another one.
static inline void hl_packed_set_panel(const struct hl_packed *packed, int64_t matrix, int64_t panel,
                                       struct hl_tile *tile)
{
    const int64_t left = hl_packed_columns(packed, matrix) - panel * packed->simd->columns;
    const int64_t column = hl_packed_column(packed, matrix, panel);
    tile->columns = left < packed->simd->columns ? (int)left : packed->simd->columns;
    if (packed->weights) tile->w = packed->weights + column * packed->layers * packed->steps * packed->step_bytes;
    if (packed->initial) tile->initial = packed->initial + column * 4;
    if (packed->narrow) tile->narrow = packed->narrow[matrix * packed->panels + panel] != 0;
}
// The sums of a tile, of at most packed->rows rows, in pieces that lie so far apart: hl_piece_size int32.
void hl_gemm_pieces(const struct hl_packed *packed, const struct hl_tile *tile);
static inline int64_t hl_piece_size(const struct hl_simd *simd)
{
    return (int64_t)simd->rows * simd->columns;
}
// Rows in tiles that differ by one at most: a tile of few takes as long as one of four, whose additions wait for each
// other. (1x1, 14x14, 512 to 512 channels, AVX2: 1170 us with
// blocks of 49 rows as eight tiles of six and one of one, 1110 so.)
struct hl_even_tiles {
    int rows;      // of a tile
    int64_t large; // row from which tiles have one less
};
static inline struct hl_even_tiles hl_even_tiles(int64_t rows, int most)
{
    const int64_t tiles = rows <= most ? 1 : (rows - 1) / most + 1, each = tiles == 1 ? rows : (rows - 1) / tiles + 1;
    return (struct hl_even_tiles){(int)each, (rows - tiles * (each - 1)) * each};
}
static inline int hl_even_tile_rows(const struct hl_even_tiles *tiles, int64_t row, int64_t end)
{
    const int rows = row < tiles->large ? tiles->rows : tiles->rows - 1;
    return end - row < rows ? (int)(end - row) : rows;
}
// The product of `rows` rows. The tile says where the first row of x lies, and that of y; the others are its strides
// apart.
static inline void hl_gemm(const struct hl_packed *packed, struct hl_tile *tile, int64_t rows)
{
    const ptrdiff_t x_row = tile->x_stride * (packed->dot_width == 1 ? 4 : 1), y_row = tile->y_stride * 4;
    for (int64_t r = 0; r < rows; r += tile->rows) {
        tile->rows = rows - r < packed->rows ? (int)(rows - r) : packed->rows;
        packed->multiply(tile);
        tile->x = (const char *)tile->x + tile->rows * x_row;
        tile->y = (char *)tile->y + tile->rows * y_row;
    }
}

#endif
