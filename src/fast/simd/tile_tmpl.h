// SPDX-License-Identifier: Apache-2.0
// How matrix products are cut into tiles (struct hl_tile of simd.h). A tile keeps TILE_ROWS x 2 vectors of sums in
// registers. Each value of x is read where it lies and splat to all lanes. TILE_ROWS is as large as the register file
// allows beside two vectors of weights, so that the loads of weights are shared by many rows.
#ifndef HALITE_FAST_SIMD_TILE_TMPL_H
#define HALITE_FAST_SIMD_TILE_TMPL_H

#include "fast/simd/simd.h"
#include "fast/simd/vector.h"

// Floats of one vector of columns may have twice the rows: six sums wait for the additions before them, twelve do not.
// (AVX2 on a Zen 3, us: 3x3 with stride 2 of 56x56, 7 groups of 8 channels 243, 193; of 128x128, 3 to 8 69, 57; 1x1 of
// 256x256, 16 to 2 493, 456.)
#if !defined NARROW_TILE_ROWS
#define NARROW_TILE_ROWS TILE_ROWS
#endif
enum { ROWS = TILE_ROWS, NARROW_ROWS = NARROW_TILE_ROWS, COLUMNS = 2 * LANES };

// The rows of x are read from few pointers, each with ROWS_OF_BASE rows at 0 to 3 times the stride from it, and loops
// over steps do UNROLLED_STEPS at once: a pointer for each row does not fit the registers of a CPU, and what is then
// moved about costs as much as products do. (AVX-512 VNNI, 14 rows: 242 products a nanosecond with 14 pointers, 290
// with 4, of 305 that the CPU can do at most.)
enum { ROWS_OF_BASE = 4, BASES = (NARROW_ROWS + ROWS_OF_BASE - 1) / ROWS_OF_BASE, UNROLLED_STEPS = 2 };

// Sums of bytes that fill vectors become floats where they are.
#define HAS_FLOAT_SUMS (HAS_DOT4 && HAS_MASKS)

// Tiles of at most FEW_ROWS do not prefetch: they wait for memory as it is.
enum { FEW_ROWS = 2 };

// So many panels of one row of floats are multiplied side by side, where each value of x is splat: they share the
// values, and do not wait for an addition. (Ten layers of one row: 12.4 us panel by panel, 11.6 so.) Integers have so
// many chains of each sum, and sums that become bytes at once, while the next panel's weights are on their way. (The
// same in int8, 264 KB of weights, which the second-level cache of a Zen 4 gives in 2.29 us: 3.62 us two panels at a
// time and bytes when a layer's sums are done, 3.12 so.)
enum { ROW_PANELS_F32 = 4, ROW_CHAINS = 4 };
#define HAS_ROW_PANELS (!HAS_LANE_PRODUCTS && !HAS_DOT2_HALVES)
#if HAS_ROW_PANELS
#define ROW_PRODUCTS(floats, integers)                                                 \
    .multiply_row_f32 = HL_WHERE(HL_HAS_FLOATS, SYMBOL(hl_multiply_row_f32_, floats)), \
    .multiply_row_integer = HL_WHERE(HL_HAS_BYTES, SYMBOL(hl_multiply_row_integer_, integers)),
#else
#define ROW_PRODUCTS(floats, integers)
#endif

// Prefetches the weights of some steps into the second-level cache.
INLINE void prefetch_steps(const char *at, int steps)
{
    enum { LINE = 64 };
    UNROLL for (int i = 0; i < steps * COLUMNS * 4; i += LINE) __builtin_prefetch(at + i, 0, 2);
}

// The bases of a tile's rows, `stride` bytes apart.
INLINE void set_bases(const struct hl_tile *tile, ptrdiff_t stride, int rows, const char *bases[BASES])
{
    UNROLL for (int r = 0; r < rows; r += ROWS_OF_BASE) bases[r / ROWS_OF_BASE] = (const char *)tile->x + r * stride;
}

INLINE void move_bases(ptrdiff_t bytes, int rows, const char *bases[BASES])
{
    UNROLL for (int r = 0; r < rows; r += ROWS_OF_BASE) bases[r / ROWS_OF_BASE] += bytes;
}

INLINE const char *row_of(const char *const bases[BASES], ptrdiff_t stride, int row)
{
    return bases[row / ROWS_OF_BASE] + row % ROWS_OF_BASE * stride;
}

// The rows behind those of a piece of a tile. `stride` is that of x in bytes.
INLINE void next_rows(struct hl_tile *piece, ptrdiff_t stride)
{
    piece->x = (const char *)piece->x + piece->rows * stride;
    piece->y = (char *)piece->y + piece->rows * piece->y_stride * (ptrdiff_t)4;
}

#if HAS_SPREAD
// What each lane reads of one step of a row.
INLINE u32_vector spread_step(const char *x, const u32_vector *spread)
{
    return permute(load_u32(x), *spread);
}

// Does a tile with struct hl_tile.spread, a few rows at a time, and returns. Such a tile has one vector of sums for
// each row. `stride` is that of x in bytes.
enum { SPREAD_ROWS = ROWS > 8 ? ROWS / 2 : ROWS, FEW_SPREAD_ROWS = 3 };
#define SPREAD_CALL(function, stride)                                       \
    if (tile->spread) {                                                     \
        const u32_vector spread = load_i32(tile->spread);                   \
        struct hl_tile piece = *tile;                                       \
        for (int left = tile->rows; left > 0; left -= piece.rows) {         \
            if (left >= SPREAD_ROWS)                                        \
                function(&piece, piece.rows = SPREAD_ROWS, 1, &spread);     \
            else if (left >= FEW_SPREAD_ROWS)                               \
                function(&piece, piece.rows = FEW_SPREAD_ROWS, 1, &spread); \
            else                                                            \
                function(&piece, piece.rows = 1, 1, &spread);               \
            next_rows(&piece, stride);                                      \
        }                                                                   \
        return;                                                             \
    }

#else
INLINE u32_vector spread_step(const char *x, const u32_vector *spread)
{
    (void)x;
    return *spread;
}
#define SPREAD_CALL(function, stride)
#endif

// Calls function(tile, rows, vectors, NULL) with constant rows and vectors, so that the compiler unrolls their loops. A
// panel of few columns needs only the first of its two vectors, which halves the time.
#define TILE_CALL(function)                 \
    switch (tile->rows) {                   \
        SYMBOL(CASES_, TILE_ROWS)(function) \
    }
#define CASE(function, count)               \
    case count:                             \
        if (tile->columns > LANES)          \
            function(tile, count, 2, NULL); \
        else                                \
            function(tile, count, 1, NULL); \
        break;
// clang-format off
#define CASES_1(function) CASE(function, 1)
#define CASES_2(function) CASES_1(function) CASE(function, 2)
#define CASES_3(function) CASES_2(function) CASE(function, 3)
#define CASES_4(function) CASES_3(function) CASE(function, 4)
#define CASES_5(function) CASES_4(function) CASE(function, 5)
#define CASES_6(function) CASES_5(function) CASE(function, 6)
#define CASES_7(function) CASES_6(function) CASE(function, 7)
#define CASES_8(function) CASES_7(function) CASE(function, 8)
#define CASES_9(function) CASES_8(function) CASE(function, 9)
#define CASES_10(function) CASES_9(function) CASE(function, 10)
#define CASES_11(function) CASES_10(function) CASE(function, 11)
#define CASES_12(function) CASES_11(function) CASE(function, 12)
#define CASES_13(function) CASES_12(function) CASE(function, 13)
#define CASES_14(function) CASES_13(function) CASE(function, 14)
// clang-format on

#endif
