// SPDX-License-Identifier: Apache-2.0
// Matrix products of bytes where eight bytes of a row are multiplied with eight of a column (struct hl_tile of simd.h;
// HAS_OCTETS), as panels with struct hl_simd.step_pairs have them. The products of each column are a vector of sums,
// which are added up at the end. (MobileNet v1 int8, instructions: 190 million, and 325 with pairs of int16.)
#ifndef HALITE_FAST_SIMD_OCTETS_TMPL_H
#define HALITE_FAST_SIMD_OCTETS_TMPL_H

#include "fast/simd/level_tmpl.h"
#include "fast/simd/simd.h"
#include "fast/simd/tile_tmpl.h"
#include "fast/simd/vector.h"

// Rows that share the weights: as many as registers hold sums for. Each has a pointer of its own, because the bases of
// tile_tmpl.h, which spare registers, cost three instructions in 65 here.
enum { OCTET_ROWS = 2, OCTET_BYTES = COLUMNS * 8 };

// Adds four steps, 16 bytes of each row. narrow: struct hl_tile.narrow.
INLINE void add_four_steps(const char *const x[OCTET_ROWS], const char *w, int rows, int columns, bool narrow,
                           u32_vector sums[OCTET_ROWS][COLUMNS])
{
    octet values[OCTET_ROWS][2];
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int i = 0; i < 2; i++) values[r][i] = load_octet(x[r] + i * 8);
    UNROLL for (int c = 0; c < columns; c++)
    {
        const octet w0 = load_octet(w + c * 8), w1 = load_octet(w + OCTET_BYTES + c * 8);
        UNROLL for (int r = 0; r < rows; r++)
        {
            if (narrow)
                sums[r][c] = add_narrow_products(sums[r][c], w0, values[r][0], w1, values[r][1]);
            else
                sums[r][c] = add_octet_products(add_octet_products(sums[r][c], w0, values[r][0]), w1, values[r][1]);
        }
    }
}

// Adds two steps; or one, the last of an odd number, whose octets end in zeros.
INLINE void add_last_steps(const char *const x[OCTET_ROWS], const char *w, int steps, int rows, int columns,
                           u32_vector sums[OCTET_ROWS][COLUMNS])
{
    octet values[OCTET_ROWS];
    UNROLL for (int r = 0; r < rows; r++) values[r] = steps == 2 ? load_octet(x[r]) : load_half_octet(x[r]);
    UNROLL for (int c = 0; c < columns; c++)
    {
        const octet weights = steps == 2 ? load_octet(w + c * 8) : load_half_octet(w + c * 4);
        UNROLL for (int r = 0; r < rows; r++) sums[r][c] = add_octet_products(sums[r][c], weights, values[r]);
    }
}

INLINE void tile_octets(const struct hl_tile *tile, int rows, int columns, bool narrow)
{
    const int32_t *initial = tile->initial;
    const char *x[OCTET_ROWS], *w = tile->w;
    u32_vector sums[OCTET_ROWS][COLUMNS];
    UNROLL for (int r = 0; r < rows; r++) x[r] = (const char *)tile->x + r * tile->x_stride;
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int c = 0; c < columns; c++) sums[r][c] = splat_i32(0);
    for (int line = 0; line <= tile->lines; line++) {
        for (int segment = 0; segment <= tile->segments; segment++) {
            int64_t left = tile->steps;
            for (; left >= 4; left -= 4, w += 2 * OCTET_BYTES) {
                add_four_steps(x, w, rows, columns, narrow, sums);
                UNROLL for (int r = 0; r < rows; r++) x[r] += 16;
            }
            if (left >= 2) {
                add_last_steps(x, w, 2, rows, columns, sums);
                UNROLL for (int r = 0; r < rows; r++) x[r] += 8;
                left -= 2, w += OCTET_BYTES;
            }
            if (left > 0) {
                add_last_steps(x, w, 1, rows, columns, sums);
                UNROLL for (int r = 0; r < rows; r++) x[r] += 4;
                w += OCTET_BYTES / 2;
            }
            UNROLL for (int r = 0; r < rows; r++) x[r] += tile->x_segment - 4 * tile->steps;
        }
        UNROLL for (int r = 0; r < rows; r++) x[r] += tile->x_line;
    }
    int32_t *y = tile->y;
    UNROLL for (int r = 0; r < rows; r++, y += tile->y_stride) UNROLL for (int c = 0; c < columns; c += LANES)
    {
        const u32_vector sum = add_up(&sums[r][c]) + load_i32(initial + c);
        memcpy(y + c, &sum, sizeof sum);
    }
}

INLINE void rows_of_octets(const struct hl_tile *tile, int columns, bool narrow)
{
    struct hl_tile piece = *tile;
    for (int left = tile->rows; left > 0; left -= piece.rows) {
        if (left >= OCTET_ROWS)
            tile_octets(&piece, piece.rows = OCTET_ROWS, columns, narrow);
        else
            tile_octets(&piece, piece.rows = 1, columns, narrow);
        next_rows(&piece, piece.x_stride);
    }
}

void MULTIPLY_INTEGER(const struct hl_tile *tile)
{
    if (tile->columns > LANES) {
        if (tile->narrow)
            rows_of_octets(tile, COLUMNS, true);
        else
            rows_of_octets(tile, COLUMNS, false);
    } else {
        rows_of_octets(tile, LANES, false);
    }
}

#endif
