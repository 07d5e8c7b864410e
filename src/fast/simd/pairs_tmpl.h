// SPDX-License-Identifier: Apache-2.0
// Matrix products of bytes by an instruction that multiplies two rows with two columns, and a CPU level that has it and
// is the level VECTORS in all else of integers. level_*.c defines LEVEL, VECTORS, KERNELS, and MULTIPLY_F32, the level
// whose product of floats it uses, before it includes this file.
// Each 16 bytes of a vector of x are 8 of each of two rows; those of w are 8 of each of two columns, as panels have
// them with struct hl_simd.step_pairs; those of sums are the two of the first row, then the two of the second.
#ifndef HALITE_FAST_SIMD_PAIRS_TMPL_H
#define HALITE_FAST_SIMD_PAIRS_TMPL_H

#include "abi/built_types.h"
#include "fast/simd/level_tmpl.h"
#include "fast/simd/simd.h"
#include "fast/simd/tile_tmpl.h"
#include "fast/simd/vector.h"

enum {
    MAX_PAIRS = TILE_ROWS / 2, // of rows
    PARTS = 4,                 // vectors that hold two steps of a panel, or the sums of a pair of rows
    PAIR_BYTES = COLUMNS * 8,
    VECTOR_BYTES = 16, // of the level VECTORS
};

// A pair of rows of a tile; the last row of an odd number is its own neighbor.
INLINE void rows_of_pair(const struct hl_tile *tile, const char *const bases[BASES], int pair, int pairs,
                         const char *rows[2])
{
    const bool alone = pair == pairs - 1 && tile->rows % 2 == 1;
    rows[0] = row_of(bases, tile->x_stride, 2 * pair);
    rows[1] = rows[0] + (alone ? 0 : tile->x_stride);
}

// Adds two steps: `parts` vectors of weights times the pairs of rows.
INLINE void add_two_steps(const u32_vector *w, const u32_vector *x, int pairs, int parts, u32_vector (*sums)[PARTS])
{
    UNROLL for (int p = 0; p < pairs; p++) UNROLL for (int i = 0; i < parts; i++) sums[p][i] =
        add_dot8(sums[p][i], x[p], w[i]);
}

INLINE void load_two_steps(const char *from, int parts, u32_vector w[PARTS])
{
    UNROLL for (int i = 0; i < parts; i++) w[i] = load_u32(from + i * BYTES);
}

// Up to 8 bytes of each row, less than 16 of which may be read.
INLINE u32_vector load_rows(const char *const rows[2], size_t bytes)
{
    uint64_t first = 0, second = 0;
    memcpy(&first, rows[0], bytes), memcpy(&second, rows[1], bytes);
    return interleave_low_u64(splat_u64(first), splat_u64(second));
}

// The steps of one segment; the bases move behind them.
INLINE const char *segment_pairs(const struct hl_tile *tile, const char *bases[BASES], const char *w, int pairs,
                                 int vectors, int chains, u32_vector (*sums)[PARTS])
{
    const int parts = 2 * vectors;
    const char *rows[2];
    u32_vector x[2][MAX_PAIRS], weights[PARTS];
    int64_t left = tile->steps;
    for (; left >= 4; left -= 4, w += 2 * PAIR_BYTES) {
        if (pairs > 1 && tile->prefetch) prefetch_steps(w + tile->prefetch, 4);
        UNROLL for (int p = 0; p < pairs; p++)
        {
            rows_of_pair(tile, bases, p, pairs, rows);
            const u32_vector first = load_quad(rows[0]), second = load_quad(rows[1]);
            x[0][p] = interleave_low_u64(first, second), x[1][p] = interleave_high_u64(first, second);
        }
        UNROLL for (int i = 0; i < 2; i++)
        {
            load_two_steps(w + i * PAIR_BYTES, parts, weights);
            add_two_steps(weights, x[i], pairs, parts, sums + i % chains * pairs);
        }
        move_bases(16, 2 * pairs, bases);
    }
    if (left >= 2) {
        UNROLL for (int p = 0; p < pairs; p++)
        {
            rows_of_pair(tile, bases, p, pairs, rows);
            x[0][p] = load_rows(rows, 8);
        }
        load_two_steps(w, parts, weights);
        add_two_steps(weights, x[0], pairs, parts, sums);
        move_bases(8, 2 * pairs, bases);
        left -= 2, w += PAIR_BYTES;
    }
    if (left > 0) {
        UNROLL for (int p = 0; p < pairs; p++)
        {
            rows_of_pair(tile, bases, p, pairs, rows);
            x[0][p] = load_rows(rows, 4);
        }
        UNROLL for (int v = 0; v < vectors; v++)
        {
            const u32_vector step = load_u32(w + v * BYTES), zero = {0};
            weights[2 * v] = zip_low_u32(step, zero), weights[2 * v + 1] = zip_high_u32(step, zero);
        }
        add_two_steps(weights, x[0], pairs, parts, sums);
        move_bases(4, 2 * pairs, bases);
        w += PAIR_BYTES / 2;
    }
    return w;
}

INLINE void store_pairs(const struct hl_tile *tile, int pairs, int vectors, u32_vector (*sums)[PARTS])
{
    UNROLL for (int p = 0; p < pairs; p++) UNROLL for (int v = 0; v < vectors; v++)
    {
        int32_t *y = (int32_t *)tile->y + 2 * p * tile->y_stride + v * LANES;
        const u32_vector first = unzip_even_u64(sums[p][2 * v], sums[p][2 * v + 1]);
        const u32_vector second = unzip_odd_u64(sums[p][2 * v], sums[p][2 * v + 1]);
        memcpy(y, &first, sizeof first);
        if (p < pairs - 1 || tile->rows % 2 == 0) memcpy(y + tile->y_stride, &second, sizeof second);
    }
}

// An addition to a sum waits for the one before: few sums come in two chains.
INLINE void tile_pairs(const struct hl_tile *tile, int pairs, int vectors)
{
    const int chains = pairs * vectors <= 2 ? 2 : 1;
    const int32_t *initial = tile->initial;
    const char *bases[BASES], *w = tile->w;
    u32_vector sums[MAX_PAIRS][PARTS];
    set_bases(tile, tile->x_stride, 2 * pairs, bases);
    UNROLL for (int p = 0; p < chains * pairs; p++) UNROLL for (int v = 0; v < vectors; v++)
    {
        const u32_vector columns = p < pairs ? load_i32(initial + v * LANES) : splat_i32(0);
        sums[p][2 * v] = zip_low_u64(columns, columns), sums[p][2 * v + 1] = zip_high_u64(columns, columns);
    }
    for (int line = 0; line <= tile->lines; line++) {
        for (int segment = 0; segment <= tile->segments; segment++) {
            w = segment_pairs(tile, bases, w, pairs, vectors, chains, sums);
            move_bases(tile->x_segment - 4 * tile->steps, 2 * pairs, bases);
        }
        move_bases(tile->x_line, 2 * pairs, bases);
    }
    UNROLL for (int p = 0; p < pairs && chains == 2; p++) UNROLL for (int i = 0; i < 2 * vectors; i++) sums[p][i] +=
        sums[pairs + p][i];
    store_pairs(tile, pairs, vectors, sums);
}

static void multiply_pairs(const struct hl_tile *tile)
{
    switch ((tile->rows + 1) / 2 * 2 + (tile->columns > LANES)) {
    case 2: tile_pairs(tile, 1, 1); break;
    case 3: tile_pairs(tile, 1, 2); break;
    case 4: tile_pairs(tile, 2, 1); break;
    case 5: tile_pairs(tile, 2, 2); break;
    case 6: tile_pairs(tile, 3, 1); break;
    case 7: tile_pairs(tile, 3, 2); break;
    case 8: tile_pairs(tile, 4, 1); break;
    default: tile_pairs(tile, 4, 2);
    }
}

const struct hl_simd LEVEL_SIMD = {
    .name = LEVEL_NAME,
    .rows = ROWS,
    .columns = COLUMNS,
    .bytes = VECTOR_BYTES,
    .dot_width = 4,
    .step_pairs = true,
    .signed_x = true,
    .sum_rows = HL_WHERE(HL_HAS_BYTES, SYMBOL(hl_sum_rows_, VECTORS)),
    .multiply_f32 = HL_WHERE(HL_HAS_FLOATS, SYMBOL(hl_multiply_f32_, MULTIPLY_F32)),
    .multiply_integer = HL_WHERE(HL_HAS_BYTES, multiply_pairs),
    .depthwise_integer = HL_WHERE(HL_HAS_OP(DEPTHWISE_CONV_2D) && HL_HAS_BYTES, SYMBOL(hl_depthwise_integer_, VECTORS)),
    .multiply_blocks = HL_WHERE(HL_HAS_BLOCKS, SYMBOL(hl_multiply_blocks_, VECTORS)),
    .block_columns = 2 * VECTOR_BYTES / 4,
    .kernels = &LEVEL_KERNELS,
};

#endif
