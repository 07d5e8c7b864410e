// SPDX-License-Identifier: Apache-2.0
// Matrix products of bytes by a matrix unit: struct hl_matrix_unit, and a CPU level that has it and is the level
// VECTORS in all else. level_*.c defines LEVEL, VECTORS, and KERNELS, whose microkernels both use, before it includes
// this file.
#ifndef HALITE_FAST_SIMD_MATRIX_TMPL_H
#define HALITE_FAST_SIMD_MATRIX_TMPL_H

#include "abi/built_types.h"
#include "fast/simd/level_tmpl.h"
#include "fast/simd/simd.h"
#include "fast/simd/tile_tmpl.h"
#include "fast/simd/x86_amx.h"

enum {
    UNIT_ROWS = 2 * MATRIX_ROWS,
    UNIT_COLUMNS = COLUMNS,
    UNIT_STEPS = MATRIX_BYTES / 4,
    LEAST_ROWS = 3, // fewer are as fast in vectors
};

// Sums of two by two registers, or fewer. Rows of x that the tile does not have are read and multiplied too. Steps are
// 16 at a time: weights are 0 where a segment has fewer.
INLINE void multiply_registers(const struct hl_tile *tile, bool both_rows, bool both_columns)
{
    const char *x = tile->x, *w = tile->w;
    const int32_t *initial = tile->initial;
    const ptrdiff_t stride = tile->x_stride, lower = stride * MATRIX_ROWS, step = UNIT_COLUMNS * 4;
    MATRIX_LOAD(0, initial, 0); // each row
    if (both_columns) MATRIX_LOAD(1, initial + LANES, 0);
    if (both_rows) MATRIX_LOAD(2, initial, 0);
    if (both_rows && both_columns) MATRIX_LOAD(3, initial + LANES, 0);
    for (int line = 0; line <= tile->lines; line++) {
        for (int segment = 0; segment <= tile->segments; segment++) {
            for (int64_t k = 0; k < tile->steps; k += UNIT_STEPS, x += MATRIX_BYTES, w += UNIT_STEPS * step) {
                if (tile->prefetch) prefetch_steps(w + tile->prefetch, UNIT_STEPS);
                MATRIX_LOAD(4, x, stride);
                MATRIX_LOAD(6, w, step);
                MATRIX_ADD_PRODUCTS(0, 4, 6);
                if (both_columns) {
                    MATRIX_LOAD(7, w + LANES * 4, step);
                    MATRIX_ADD_PRODUCTS(1, 4, 7);
                }
                if (both_rows) {
                    MATRIX_LOAD(5, x + lower, stride);
                    MATRIX_ADD_PRODUCTS(2, 5, 6);
                }
                if (both_rows && both_columns) MATRIX_ADD_PRODUCTS(3, 5, 7);
            }
            x += tile->x_segment - 4 * tile->steps;
        }
        x += tile->x_line;
    }
}

// Stores `rows` rows of two registers, of which the second has the right half of a panel; fewer rows than a register
// has by way of a copy.
#define STORE_REGISTERS(left, right, y, y_stride, rows, both_columns)                         \
    do {                                                                                      \
        int32_t sums[MATRIX_ROWS][UNIT_COLUMNS];                                              \
        const bool all = (rows) == MATRIX_ROWS;                                               \
        int32_t *const to = all ? (y) : sums[0];                                              \
        const ptrdiff_t stride = all ? (y_stride) : UNIT_COLUMNS;                             \
        MATRIX_STORE(left, to, stride * 4);                                                   \
        if (both_columns) MATRIX_STORE(right, to + LANES, stride * 4);                        \
        for (int r = 0; r < (rows) && !all; r++)                                              \
            memcpy((y) + r * (y_stride), sums[r], (both_columns) ? sizeof *sums : LANES * 4); \
    } while (0)

INLINE void multiply_tile(const struct hl_tile *tile, bool both_rows, bool both_columns)
{
    int32_t *y = tile->y;
    const int upper = both_rows ? MATRIX_ROWS : tile->rows;
    multiply_registers(tile, both_rows, both_columns);
    STORE_REGISTERS(0, 1, y, tile->y_stride, upper, both_columns);
    if (!both_rows) return;
    y += MATRIX_ROWS * tile->y_stride;
    STORE_REGISTERS(2, 3, y, tile->y_stride, tile->rows - MATRIX_ROWS, both_columns);
}

static void unit_multiply(const struct hl_tile *tile)
{
    if (tile->rows < LEAST_ROWS) {
        SYMBOL(hl_multiply_integer_, VECTORS)(tile);
        return;
    }
    switch ((tile->rows > MATRIX_ROWS) * 2 + (tile->columns > LANES)) {
    case 0: multiply_tile(tile, false, false); break;
    case 1: multiply_tile(tile, false, true); break;
    case 2: multiply_tile(tile, true, false); break;
    default: multiply_tile(tile, true, true);
    }
}

static void unit_begin(void)
{
    matrix_begin();
}

static void unit_end(void)
{
    matrix_end();
}

static const struct hl_matrix_unit unit = {
    .rows = UNIT_ROWS,
    .register_rows = MATRIX_ROWS,
    .steps = UNIT_STEPS,
    .begin = unit_begin,
    .end = unit_end,
    .multiply = unit_multiply,
};

// ---- the level ----------------------------------------------------------------------------------

const struct hl_simd LEVEL_SIMD = {
    .name = LEVEL_NAME,
    .rows = TILE_ROWS,
    .columns = UNIT_COLUMNS,
    .spread_columns = HAS_SPREAD ? LANES : 0,
    .bytes = BYTES,
    .dot_width = DOT_WIDTH,
    .signed_x = SIGNED_X,
    .asks_wide = HAS_WIDE_TABLES && HAS_DOT4,
    .sum_rows = HL_WHERE(HL_HAS_BYTES, SYMBOL(hl_sum_rows_, VECTORS)),
    .multiply_f32 = HL_WHERE(HL_HAS_FLOATS, SYMBOL(hl_multiply_f32_, KERNELS)),
    .multiply_integer = HL_WHERE(HL_HAS_BYTES, SYMBOL(hl_multiply_integer_, VECTORS)),
#if HAS_FLOAT_SUMS
    .multiply_to_floats = HL_WHERE(HL_HAS_BYTES, SYMBOL(hl_multiply_to_floats_, VECTORS)),
#endif
    ROW_PRODUCTS(KERNELS, VECTORS).depthwise_integer =
        HL_WHERE(HL_HAS_OP(DEPTHWISE_CONV_2D) && HL_HAS_BYTES, SYMBOL(hl_depthwise_integer_, VECTORS)),
    .multiply_blocks = HL_WHERE(HL_HAS_BLOCKS, SYMBOL(hl_multiply_blocks_, VECTORS)),
    .block_columns = COLUMNS,
    .kernels = &LEVEL_KERNELS,
    .matrix_unit = HL_WHERE(HL_HAS_BYTES, &unit),
};

#endif
