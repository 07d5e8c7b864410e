// SPDX-License-Identifier: Apache-2.0
// Matrix products of floats: one tile (struct hl_tile of simd.h) of x times a panel of w, plus an initial value for
// each column, clamped to a range.
#ifndef HALITE_FAST_SIMD_MULTIPLY_F32_TMPL_H
#define HALITE_FAST_SIMD_MULTIPLY_F32_TMPL_H

#include "fast/simd/level_tmpl.h"
#include "fast/simd/simd.h"
#include "fast/simd/tile_tmpl.h"
#include "fast/simd/vector.h"

// Adds one step, a value of each row times the weights of each column.
INLINE void step_f32(const char *const bases[BASES], ptrdiff_t stride, const float *w, int rows, int vectors,
                     const u32_vector *spread, f32_vector sums[NARROW_ROWS][2])
{
    f32_vector w0 = load_f32(w), w1 = vectors == 2 ? load_f32(w + LANES) : w0;
    UNROLL for (int r = 0; r < rows; r++)
    {
        const char *at = row_of(bases, stride, r);
        float x;
        memcpy(&x, at, sizeof x);
        f32_vector value = spread ? (f32_vector)spread_step(at, spread) : splat_f32(x);
        sums[r][0] = add_product(sums[r][0], w0, value);
        if (vectors == 2) sums[r][1] = add_product(sums[r][1], w1, value);
    }
}

#if HAS_LANE_PRODUCTS
// Four steps, whose values of a row are one load. (MobileNet v1: 218 million instructions, and 316 with a load for each
// value.)
INLINE void four_steps_f32(const char *const bases[BASES], ptrdiff_t stride, const float *w, int rows, int vectors,
                           f32_vector sums[ROWS][2])
{
    u32_vector x[ROWS];
    UNROLL for (int r = 0; r < rows; r++) x[r] = load_quad(row_of(bases, stride, r));
    UNROLL for (int lane = 0; lane < 4; lane++, w += COLUMNS)
    {
        const f32_vector w0 = load_f32(w), w1 = vectors == 2 ? load_f32(w + LANES) : w0;
        UNROLL for (int r = 0; r < rows; r++)
        {
            sums[r][0] = add_product_by_lane(sums[r][0], w0, x[r], lane);
            if (vectors == 2) sums[r][1] = add_product_by_lane(sums[r][1], w1, x[r], lane);
        }
    }
}
#endif

INLINE void tile_f32(const struct hl_tile *tile, int rows, int vectors, const u32_vector *spread)
{
    const int unrolled = rows > FEW_ROWS ? UNROLLED_STEPS : 1;
    const float *w = tile->w, *initial = tile->initial;
    const ptrdiff_t stride = tile->x_stride * 4;
    const char *bases[BASES];
    f32_vector sums[NARROW_ROWS][2];
    set_bases(tile, stride, rows, bases);
    UNROLL for (int r = 0; r < rows; r++) sums[r][0] = sums[r][1] = splat_f32(0);
    for (int line = 0; line <= tile->lines; line++) {
        for (int segment = 0; segment <= tile->segments; segment++) {
            int64_t k = 0;
#if HAS_LANE_PRODUCTS
            for (; k + 4 <= tile->steps; k += 4, w += 4 * COLUMNS) {
                if (rows > FEW_ROWS && tile->prefetch) prefetch_steps((const char *)w + tile->prefetch, 4);
                four_steps_f32(bases, stride, w, rows, vectors, sums);
                move_bases(16, rows, bases);
            }
#endif
            for (; k + unrolled <= tile->steps; k += unrolled) {
                if (rows > FEW_ROWS && tile->prefetch) prefetch_steps((const char *)w + tile->prefetch, unrolled);
                UNROLL for (int u = 0; u < unrolled; u++, w += COLUMNS)
                {
                    step_f32(bases, stride, w, rows, vectors, spread, sums);
                    move_bases(4, rows, bases);
                }
            }
            for (; k < tile->steps; k++, w += COLUMNS) {
                step_f32(bases, stride, w, rows, vectors, spread, sums);
                move_bases(4, rows, bases);
            }
            move_bases((tile->x_segment - tile->steps) * 4, rows, bases);
        }
        move_bases(tile->x_line * 4, rows, bases);
    }
    // Copies, because stored floats might alias the originals. (1x1, 112x112, 32 to 64 channels: 226 us,
    // 207 so; 64x64, 8 to 16: 9.7, 7.5.)
    const float low = tile->low, high = tile->high;
    const ptrdiff_t y_stride = tile->y_stride;
    const int columns = tile->columns;
    const f32_vector initial0 = load_f32(initial), initial1 = vectors == 2 ? load_f32(initial + LANES) : initial0;
    float *y = tile->y;
    UNROLL for (int r = 0; r < rows; r++, y += y_stride)
    {
        const f32_vector first = clamp_f32(sums[r][0] + initial0, low, high);
        if (vectors == 2) {
            store_f32(y, first);
            store_first_f32(y + LANES, clamp_f32(sums[r][1] + initial1, low, high), columns - LANES);
        } else {
            store_first_f32(y, first, columns);
        }
    }
}

// Rounds each product before it is added, as the reference kernels do. The rows of x, so many from row r on, are in one
// piece.
enum { ROUNDED_ROWS = 4 };
INLINE void rounded_rows(const struct hl_tile *tile, int r, int rows)
{
    const float *x = (const float *)tile->x + r * tile->x_stride;
    float *y = (float *)tile->y + r * tile->y_stride;
    for (int c = 0; c < tile->columns; c += LANES) {
        const float *w = (const float *)tile->w + c;
        f32_vector sums[ROUNDED_ROWS];
        UNROLL for (int i = 0; i < rows; i++) sums[i] = splat_f32(0);
        for (int64_t k = 0; k < tile->steps; k++, w += COLUMNS)
            UNROLL for (int i = 0; i < rows; i++) sums[i] += load_f32(w) * x[i * tile->x_stride + k];
        const f32_vector initial = load_f32((const float *)tile->initial + c);
        UNROLL for (int i = 0; i < rows; i++)
            store_first_f32(y + i * tile->y_stride + c, clamp_f32(sums[i] + initial, tile->low, tile->high),
                            tile->columns - c);
    }
}

// A few rows go together, because each addition waits for the one before. (3x3 of 4 x 4, 4 channels to 4: 601 ns row by
// row, 440 so.)
static void multiply_rounded(const struct hl_tile *tile)
{
    int r = 0;
    for (; r + ROUNDED_ROWS <= tile->rows; r += ROUNDED_ROWS) rounded_rows(tile, r, ROUNDED_ROWS);
    for (; r < tile->rows; r++) rounded_rows(tile, r, 1);
}

#if HAS_HALVES
// A tile of all rows with one and a half vectors of columns, as the 24, 88 or 120 channels of small networks leave
// them. (Zen 4, us with two vectors, and so: 3x3, 38 x 38, 512 to 24 channels 1901, 1640; 1x1, 64 x 64, 24 to 24 69.2,
// 59.6.)
static void tile_f32_and_half(const struct hl_tile *tile)
{
    const float *w = tile->w, *initial = tile->initial;
    const ptrdiff_t stride = tile->x_stride * 4;
    const char *bases[BASES];
    f32_vector sums[ROWS];
    f32_half halves[ROWS];
    set_bases(tile, stride, ROWS, bases);
    UNROLL for (int r = 0; r < ROWS; r++) sums[r] = splat_f32(0), halves[r] = low_half(splat_f32(0));
    for (int line = 0; line <= tile->lines; line++) {
        for (int segment = 0; segment <= tile->segments; segment++) {
            for (int64_t k = 0; k < tile->steps; k++, w += COLUMNS) {
                const f32_vector w0 = load_f32(w);
                f32_half w1;
                memcpy(&w1, w + LANES, sizeof w1);
                UNROLL for (int r = 0; r < ROWS; r++)
                {
                    float x;
                    memcpy(&x, row_of(bases, stride, r), sizeof x);
                    const f32_vector value = splat_f32(x);
                    sums[r] = add_product(sums[r], w0, value);
                    halves[r] = add_product_half(halves[r], w1, low_half(value));
                }
                move_bases(4, ROWS, bases);
            }
            move_bases((tile->x_segment - tile->steps) * 4, ROWS, bases);
        }
        move_bases(tile->x_line * 4, ROWS, bases);
    }
    const float low = tile->low, high = tile->high;
    const ptrdiff_t y_stride = tile->y_stride;
    const int columns = tile->columns;
    const f32_vector initial0 = load_f32(initial), initial1 = load_f32(initial + LANES);
    float *y = tile->y;
    UNROLL for (int r = 0; r < ROWS; r++, y += y_stride)
    {
        store_f32(y, clamp_f32(sums[r] + initial0, low, high));
        store_first_f32(y + LANES, clamp_f32(widen_half(halves[r]) + initial1, low, high), columns - LANES);
    }
}
#endif

void SYMBOL(hl_multiply_f32_, LEVEL)(const struct hl_tile *tile)
{
    if (tile->rounded) {
        multiply_rounded(tile);
        return;
    }
    SPREAD_CALL(tile_f32, tile->x_stride * 4)
#if HAS_HALVES
    if (tile->rows == ROWS && tile->columns > LANES && tile->columns <= LANES + LANES / 2) {
        tile_f32_and_half(tile);
        return;
    }
#endif
#if NARROW_TILE_ROWS > TILE_ROWS
    switch (tile->rows) {
    case ROWS + 1: tile_f32(tile, ROWS + 1, 1, NULL); return;
    case ROWS + 2: tile_f32(tile, ROWS + 2, 1, NULL); return;
    case ROWS + 3: tile_f32(tile, ROWS + 3, 1, NULL); return;
    case ROWS + 4: tile_f32(tile, ROWS + 4, 1, NULL); return;
    case ROWS + 5: tile_f32(tile, ROWS + 5, 1, NULL); return;
    case ROWS + 6: tile_f32(tile, ROWS + 6, 1, NULL); return;
    default: break;
    }
#endif
    TILE_CALL(tile_f32)
}

#if HAS_ROW_PANELS
// One row with some panels side by side. Each sum adds up in the order of tile_f32.
INLINE void row_f32(const struct hl_tile *tile, const float *w, const float *initial, float *y, int columns)
{
    const ptrdiff_t panel = tile->steps * COLUMNS;
    const float low = tile->low, high = tile->high, *x = tile->x;
    f32_vector sums[ROW_PANELS_F32][2];
    UNROLL for (int p = 0; p < ROW_PANELS_F32; p++) sums[p][0] = sums[p][1] = splat_f32(0);
    for (const float *end = x + tile->steps; x < end; x++, w += COLUMNS) {
        const f32_vector value = splat_f32(*x);
        UNROLL for (int p = 0; p < ROW_PANELS_F32; p++) UNROLL for (int v = 0; v < 2; v++) sums[p][v] =
            add_product(sums[p][v], load_f32(w + p * panel + v * LANES), value);
    }
    UNROLL for (int p = 0; p < ROW_PANELS_F32; p++) UNROLL for (int v = 0; v < 2; v++)
    {
        const int at = p * COLUMNS + v * LANES;
        if (at >= columns) break;
        store_first_f32(y + at, clamp_f32(sums[p][v] + load_f32(initial + at), low, high), columns - at);
    }
}

void SYMBOL(hl_multiply_row_f32_, LEVEL)(const struct hl_tile *tile)
{
    enum { TOGETHER = ROW_PANELS_F32 * COLUMNS };
    const float *w = tile->w, *initial = tile->initial;
    float *y = tile->y;
    int left = tile->columns;
    for (; left > TOGETHER - COLUMNS; left -= TOGETHER, w += tile->steps * TOGETHER, initial += TOGETHER, y += TOGETHER)
        row_f32(tile, w, initial, y, left);
    if (left <= 0) return;
    struct hl_tile panel = *tile;
    for (; left > 0; left -= COLUMNS, w += tile->steps * COLUMNS, initial += COLUMNS, y += COLUMNS) {
        panel.w = w, panel.initial = initial, panel.y = y;
        panel.columns = left < COLUMNS ? left : COLUMNS;
        SYMBOL(hl_multiply_f32_, LEVEL)(&panel);
    }
}
#endif

#endif
