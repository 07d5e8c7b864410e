// SPDX-License-Identifier: Apache-2.0
// Matrix products of integers: one tile (struct hl_tile of simd.h) of x times a panel of w, plus an initial value for
// each column, as sums of 32 bits. In: steps of DOT_WIDTH values that one instruction multiplies and adds to a lane.
#ifndef HALITE_FAST_SIMD_MULTIPLY_INTEGER_TMPL_H
#define HALITE_FAST_SIMD_MULTIPLY_INTEGER_TMPL_H

#include "fast/simd/level_tmpl.h"
#include "fast/simd/scale_tmpl.h"
#include "fast/simd/simd.h"
#include "fast/simd/tile_tmpl.h"
#include "fast/simd/vector.h"

// ---- tiles --------------------------------------------------------------------------------------

// An addition to a sum waits for the one before. A tile with few sums therefore has several chains of each, which are
// added at the end. (Floats must not do so: their sums would be rounded in another order than the reference kernels'.)
#define CHAINS(rows, vectors) ((rows) * (vectors) <= 2 ? 4 : (rows) * (vectors) <= 4 ? 2 : 1)
enum { MAX_SUMS = ROWS > 8 ? ROWS : 8 };

// Where products of int16 fill two vectors of int32, sums are in two as well, and are added up at the end.
#if HAS_DOT2_HALVES
enum { HALVES = 2 };
INLINE void add_to(u32_vector *sum, u32_vector w, u32_vector x)
{
    sum[0] = add_dot2_low(sum[0], w, x), sum[1] = add_dot2_high(sum[1], w, x);
}
#else
enum { HALVES = 1 };
INLINE void add_to(u32_vector *sum, u32_vector w, u32_vector x)
{
    *sum = add_dots(*sum, w, x);
}
INLINE u32_vector join_dots(u32_vector low, u32_vector high)
{
    return low + high;
}
#endif
enum { PARTS = 2 * HALVES };

// Adds one step, DOT_WIDTH values of each row times the weights of each column.
INLINE void step_integer(const char *const bases[BASES], ptrdiff_t stride, const int32_t *w, int rows, int vectors,
                         const u32_vector *spread, u32_vector (*sums)[PARTS])
{
    u32_vector w0 = load_i32(w), w1 = vectors == 2 ? load_i32(w + LANES) : w0;
    UNROLL for (int r = 0; r < rows; r++)
    {
        const char *at = row_of(bases, stride, r);
        int32_t dot;
        memcpy(&dot, at, sizeof dot);
        u32_vector value = spread ? spread_step(at, spread) : splat_i32(dot);
        add_to(&sums[r][0], w0, value);
        if (vectors == 2) add_to(&sums[r][HALVES], w1, value);
    }
}

#if HAS_LANE_PRODUCTS && HAS_DOT4
// Four steps, whose values of a row are one load. Each step adds to the next chain of sums.
INLINE void four_steps_integer(const char *const bases[BASES], ptrdiff_t stride, const int32_t *w, int rows,
                               int vectors, int chains, u32_vector (*sums)[PARTS])
{
    u32_vector x[ROWS];
    UNROLL for (int r = 0; r < rows; r++) x[r] = load_quad(row_of(bases, stride, r));
    UNROLL for (int lane = 0; lane < 4; lane++, w += COLUMNS)
    {
        const u32_vector w0 = load_i32(w), w1 = vectors == 2 ? load_i32(w + LANES) : w0;
        u32_vector(*chain)[PARTS] = sums + lane % chains * rows;
        UNROLL for (int r = 0; r < rows; r++)
        {
            chain[r][0] = add_dot4_by_lane(chain[r][0], w0, x[r], lane);
            if (vectors == 2) chain[r][1] = add_dot4_by_lane(chain[r][1], w1, x[r], lane);
        }
    }
}
#endif

// Adds the products of a tile to its sums: those of each row, chain after chain.
INLINE void add_products(const struct hl_tile *tile, int rows, int vectors, const u32_vector *spread,
                         u32_vector (*sums)[PARTS])
{
    const int chains = CHAINS(rows, vectors), unrolled = chains > 1 || !HAS_DOT4 ? chains : UNROLLED_STEPS;
    const int32_t *w = tile->w;
    const ptrdiff_t stride = tile->x_stride;
    const char *bases[BASES];
    set_bases(tile, stride, rows, bases);
    for (int line = 0; line <= tile->lines; line++) {
        for (int segment = 0; segment <= tile->segments; segment++) {
            int64_t k = 0;
#if HAS_LANE_PRODUCTS && HAS_DOT4
            for (; k + 4 <= tile->steps; k += 4, w += 4 * COLUMNS) {
                if (rows > FEW_ROWS && tile->prefetch) prefetch_steps((const char *)w + tile->prefetch, 4);
                four_steps_integer(bases, stride, w, rows, vectors, chains, sums);
                move_bases(16, rows, bases);
            }
#endif
            for (; k + unrolled <= tile->steps; k += unrolled) {
                if (rows > FEW_ROWS && tile->prefetch) prefetch_steps((const char *)w + tile->prefetch, unrolled);
                UNROLL for (int u = 0; u < unrolled; u++, w += COLUMNS)
                {
                    step_integer(bases, stride, w, rows, vectors, spread, sums + (chains > 1 ? u : 0) * rows);
                    move_bases(4, rows, bases);
                }
            }
            for (; k < tile->steps; k++, w += COLUMNS) {
                step_integer(bases, stride, w, rows, vectors, spread, sums);
                move_bases(4, rows, bases);
            }
            move_bases(tile->x_segment - 4 * tile->steps, rows, bases);
        }
        move_bases(tile->x_line, rows, bases);
    }
}

INLINE void tile_integer(const struct hl_tile *tile, int rows, int vectors, const u32_vector *spread)
{
    const int chains = CHAINS(rows, vectors);
    const int32_t *initial = tile->initial;
    u32_vector sums[MAX_SUMS][PARTS];
    UNROLL for (int s = 0; s < chains * rows; s++) UNROLL for (int i = 0; i < vectors * HALVES; i++) sums[s][i] =
        s < rows && HALVES == 1 ? load_i32(initial + i * LANES) : splat_i32(0);
    add_products(tile, rows, vectors, spread, sums);
    const ptrdiff_t y_stride = tile->y_stride;
    int32_t *y = tile->y;
    UNROLL for (int r = 0; r < rows; r++, y += y_stride) UNROLL for (int v = 0; v < vectors; v++)
    {
        u32_vector *const sum = &sums[r][v * HALVES];
        UNROLL for (int chain = 1; chain < chains; chain++) UNROLL for (int i = 0; i < HALVES; i++) sum[i] +=
            sums[chain * rows + r][v * HALVES + i];
        if (HALVES == 2) *sum = join_dots(sum[0], sum[HALVES - 1]) + load_i32(initial + v * LANES);
        memcpy(y + v * LANES, sum, sizeof *sum);
    }
}

#if HAS_FLOAT_SUMS
// A whole tile whose sums become floats in registers, as unquantize_tile does it. (Zero points come last: with initial
// accumulators that differ by row a compiler keeps sums in memory while it multiplies, in 1.5 of the time.)
void SYMBOL(hl_multiply_to_floats_, LEVEL)(const struct hl_tile *tile)
{
    const struct hl_float_tile *floats = tile->floats;
    const struct hl_unquantize *params = floats->params;
    const int32_t *initial = tile->initial, *zeros = floats->x_zeros;
    u32_vector sums[MAX_SUMS][PARTS], w_sums[2];
    f32_vector scale[2], bias[2];
    UNROLL for (int r = 0; r < ROWS; r++) UNROLL for (int v = 0; v < 2; v++) sums[r][v] = load_i32(initial + v * LANES);
    add_products(tile, ROWS, 2, NULL, sums);
    UNROLL for (int v = 0; v < 2; v++)
    {
        scale[v] = load_f32(params->scales + v * LANES), bias[v] = load_f32(params->bias + v * LANES);
        w_sums[v] = load_u32(params->w_sums + v * LANES);
    }
    const float low = params->low, high = params->high, *x_scales = floats->x_scales;
    const ptrdiff_t y_stride = floats->y_stride, step = floats->x_step;
    float *y = floats->y;
    UNROLL for (int r = 0; r < ROWS; r++, y += y_stride) UNROLL for (int v = 0; v < 2; v++)
    {
        const u32_vector sum = sums[r][v] - w_sums[v] * (uint32_t)zeros[r * step];
        const f32_vector value = __builtin_convertvector((i32_vector)sum, f32_vector);
        store_f32(y + v * LANES, clamp_f32(value * (scale[v] * x_scales[r * step]) + bias[v], low, high));
    }
}
#endif

#if HAS_HALVES && HAS_DOT4
// As tile_f32_and_half, and the same with half a vector alone, of which a CPU may do two at once. (Zen 4, us with two
// vectors, and so: 3x3, 38 x 38, 512 to 24 channels 933, 858; 1x1, 64 x 64, 24 to 24 33.4, 29.5. With one vector, and
// half of it: 3x3, 128 x 128, 64 to 3 743, 519; 96 x 96, 16 to 1 130, 108; 1x1, 64 x 64, 128 to 6 61, 50. Floats took
// 1.05 to 1.09 of their time with half a vector alone.)
INLINE void step_halves(const char *const bases[BASES], ptrdiff_t stride, const int32_t *w, int vectors,
                        u32_vector sums[ROWS], u32_half halves[ROWS])
{
    const u32_vector w0 = load_i32(w);
    u32_half w1;
    memcpy(&w1, w + vectors * LANES, sizeof w1);
    UNROLL for (int r = 0; r < ROWS; r++)
    {
        int32_t dot;
        memcpy(&dot, row_of(bases, stride, r), sizeof dot);
        const u32_vector value = splat_i32(dot);
        if (vectors == 1) sums[r] = add_dot4(sums[r], w0, value);
        halves[r] = add_dot4_half(halves[r], w1, (u32_half)low_half((f32_vector)value));
    }
}

INLINE void tile_integer_halves(const struct hl_tile *tile, int vectors)
{
    const int32_t *w = tile->w, *initial = tile->initial;
    const ptrdiff_t stride = tile->x_stride;
    const char *bases[BASES];
    u32_vector sums[ROWS];
    u32_half halves[ROWS];
    set_bases(tile, stride, ROWS, bases);
    UNROLL for (int r = 0; r < ROWS; r++)
    {
        sums[r] = load_i32(initial);
        memcpy(&halves[r], initial + vectors * LANES, sizeof halves[r]);
    }
    for (int line = 0; line <= tile->lines; line++) {
        for (int segment = 0; segment <= tile->segments; segment++) {
            int64_t k = 0;
            for (; k + UNROLLED_STEPS <= tile->steps; k += UNROLLED_STEPS)
                UNROLL for (int u = 0; u < UNROLLED_STEPS; u++, w += COLUMNS)
                {
                    step_halves(bases, stride, w, vectors, sums, halves);
                    move_bases(4, ROWS, bases);
                }
            for (; k < tile->steps; k++, w += COLUMNS) {
                step_halves(bases, stride, w, vectors, sums, halves);
                move_bases(4, ROWS, bases);
            }
            move_bases(tile->x_segment - 4 * tile->steps, ROWS, bases);
        }
        move_bases(tile->x_line, ROWS, bases);
    }
    const ptrdiff_t y_stride = tile->y_stride;
    int32_t *y = tile->y;
    UNROLL for (int r = 0; r < ROWS; r++, y += y_stride)
    {
        if (vectors == 1) memcpy(y, &sums[r], sizeof sums[r]);
        memcpy(y + vectors * LANES, &halves[r], sizeof halves[r]);
    }
}

static void tile_integer_and_half(const struct hl_tile *tile)
{
    tile_integer_halves(tile, 1);
}

static void tile_integer_half(const struct hl_tile *tile)
{
    tile_integer_halves(tile, 0);
}
#endif

#if HAS_DOT2_HALVES
// Registers hold the sums of half as many rows. (MobileNet v1 int8, instructions: 329 million, and 462 with pairs that
// are added up at each step.)
static void multiply_rows(const struct hl_tile *tile)
{
    switch (tile->rows) {
        CASES_4(tile_integer)
    }
}

void MULTIPLY_INTEGER(const struct hl_tile *tile)
{
    struct hl_tile piece = *tile;
    for (int left = tile->rows; left > 0; left -= piece.rows) {
        piece.rows = left < ROWS / 2 ? left : ROWS / 2;
        multiply_rows(&piece);
        next_rows(&piece, piece.x_stride);
    }
}
#else
void MULTIPLY_INTEGER(const struct hl_tile *tile)
{
    SPREAD_CALL(tile_integer, tile->x_stride)
#if HAS_HALVES && HAS_DOT4
    if (tile->rows == ROWS && tile->columns > LANES && tile->columns <= LANES + LANES / 2) {
        tile_integer_and_half(tile);
        return;
    }
    if (tile->rows == ROWS && tile->columns <= LANES / 2) {
        tile_integer_half(tile);
        return;
    }
#endif
    TILE_CALL(tile_integer)
}
#endif

// ---- one row ------------------------------------------------------------------------------------

#if HAS_ROW_PANELS
// The first `left` sums of a panel, which begins at this column of the tile, or what becomes of them.
INLINE void store_row_sums(const struct hl_tile *tile, int column, int left, const u32_vector sums[2])
{
    if (!tile->scaled) {
        int32_t *y = (int32_t *)tile->y + column;
        UNROLL for (int v = 0; v < 2; v++) memcpy(y + v * LANES, &sums[v], sizeof sums[v]);
        return;
    }
    const struct hl_byte_tile scaled = *tile->scaled; // a copy, because stored bytes might alias the original
    const struct byte_range range = byte_range_of(scaled.params);
    const double *scales = scaled.scales + scaled.first + column;
    store_scaled(sums[0], scales, &range, left, scaled.y + column);
    if (left > LANES) store_scaled(sums[1], scales + LANES, &range, left - LANES, scaled.y + column + LANES);
}

// One step of a panel. Weights have 4 bytes a lane; or 2, which are widened.
INLINE void row_step(const char *x, const char *w, bool bytes, u32_vector sums[2])
{
    int32_t dot;
    memcpy(&dot, x, sizeof dot);
    const u32_vector value = splat_i32(dot);
    UNROLL for (int v = 0; v < 2; v++) sums[v] =
        add_dots(sums[v], bytes ? load_i8_as_i16((const int8_t *)w + v * LANES * 2) : load_u32(w + v * LANES * 4),
                 value);
}

INLINE void multiply_row(const struct hl_tile *tile, bool bytes)
{
    const ptrdiff_t step = COLUMNS * (bytes ? 2 : 4);
    const int64_t steps = tile->steps;
    const char *w = tile->w;
    for (int column = 0; column < tile->columns; column += COLUMNS) {
        const int32_t *initial = (const int32_t *)tile->initial + column;
        const char *x = tile->x;
        u32_vector sums[ROW_CHAINS][2] = {{load_i32(initial), load_i32(initial + LANES)}};
        int64_t k = 0;
        for (; k + ROW_CHAINS <= steps; k += ROW_CHAINS)
            UNROLL for (int chain = 0; chain < ROW_CHAINS; chain++, x += 4, w += step)
                row_step(x, w, bytes, sums[chain]);
        for (; k < steps; k++, x += 4, w += step) row_step(x, w, bytes, sums[0]);
        UNROLL for (int chain = 1; chain < ROW_CHAINS; chain++) UNROLL for (int v = 0; v < 2; v++) sums[0][v] +=
            sums[chain][v];
        store_row_sums(tile, column, tile->columns - column, sums[0]);
    }
}

void MULTIPLY_ROW_INTEGER(const struct hl_tile *tile)
{
    multiply_row(tile, false);
}

#if !HAS_DOT4
// Reads half as much: rows of one wait for their weights. (Ten layers of one row, 264 KB of int8 weights, of which the
// second-level cache of a Zen 3 does not hold the int16: 11.4 us, 9.3 so.)
static void multiply_row_bytes(const struct hl_tile *tile)
{
    multiply_row(tile, true);
}
#endif
#endif

#endif
