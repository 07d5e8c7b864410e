// SPDX-License-Identifier: Apache-2.0
// Products with weights of 4 bits that have a scale for each block of columns (struct hl_block_tile of simd.h). In:
// rows of int8 and one panel of weights. Out: rows of floats. The sums of a block are integers; they become floats and
// are scaled block by block.
#ifndef HALITE_FAST_SIMD_BLOCKS_TMPL_H
#define HALITE_FAST_SIMD_BLOCKS_TMPL_H

#include "fast/simd/level_tmpl.h"
#include "fast/simd/simd.h"
#include "fast/simd/tile_tmpl.h"
#include "fast/simd/vector.h"

// An octet is one vector of weights for each vector of columns, and so many steps of DOT_WIDTH values. Rows that share
// the weights keep two vectors of integers and two of floats each. (11 rows of 1024 x 1024, us, one row at a time and
// so: AVX-512 VNNI 88, 64. With pairs of int16 AVX2 has 223 and 208, which is not worth its code. Four rows took 67.)
enum { OCTET_STEPS = 8 / DOT_WIDTH, BLOCK_ROWS = HAS_DOT4 ? 2 : 1 };

// The weights of one step are the nibbles at one position of each byte, or of each int16. They are never negative, so
// that it does not matter whether a level takes bytes of its second operand as signed.
INLINE u32_vector nibbles_of(u32_vector octet, int step)
{
    return octet >> (uint32_t)(4 * step) & (DOT_WIDTH == 4 ? 0x0f0f0f0f : 0x000f000f);
}

INLINE void add_octet(const char *const x[BLOCK_ROWS], const uint8_t *w, int rows, u32_vector (*sums)[2])
{
    const u32_vector octets[2] = {load_u32(w), load_u32(w + BYTES)};
    UNROLL for (int step = 0; step < OCTET_STEPS; step++)
    {
        const u32_vector w0 = nibbles_of(octets[0], step), w1 = nibbles_of(octets[1], step);
        UNROLL for (int r = 0; r < rows; r++)
        {
            int32_t values;
            memcpy(&values, x[r] + step * 4, sizeof values);
            const u32_vector value = splat_i32(values);
            sums[r][0] = add_dots(sums[r][0], value, w0), sums[r][1] = add_dots(sums[r][1], value, w1);
        }
    }
}

INLINE void block_rows(const struct hl_block_tile *tile, int first, int rows)
{
    const char *x[BLOCK_ROWS];
    const int32_t *corrections = tile->corrections + (int64_t)first * tile->blocks;
    const uint8_t *w = tile->w;
    const float *scales = tile->scales;
    const int blocks = tile->blocks, octets = tile->octets;
    f32_vector values[BLOCK_ROWS][2];
    UNROLL for (int r = 0; r < rows; r++)
    {
        x[r] = (const char *)tile->x + (first + r) * tile->x_stride;
        values[r][0] = values[r][1] = splat_f32(0);
    }
    for (int b = 0; b < blocks; b++, corrections++, scales += COLUMNS) {
        u32_vector sums[BLOCK_ROWS][2];
        UNROLL for (int r = 0; r < rows; r++) sums[r][0] = sums[r][1] = splat_i32(corrections[(int64_t)r * blocks]);
        for (int o = 0; o < octets; o++, w += 2 * BYTES) {
            add_octet(x, w, rows, sums);
            UNROLL for (int r = 0; r < rows; r++) x[r] += OCTET_STEPS * 4;
        }
        UNROLL for (int v = 0; v < 2; v++)
        {
            const f32_vector scale = load_f32(scales + v * LANES);
            UNROLL for (int r = 0; r < rows; r++) values[r][v] =
                add_product(values[r][v], __builtin_convertvector((i32_vector)sums[r][v], f32_vector), scale);
        }
    }
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < 2; v++)
    {
        const f32_vector zeros = load_f32(tile->w_sums + v * LANES) * (float)tile->zeros[first + r];
        const f32_vector y = (values[r][v] - zeros) * tile->x_scales[first + r] + load_f32(tile->bias + v * LANES);
        if (tile->columns > v * LANES)
            store_first_f32(tile->y + (first + r) * tile->y_stride + v * LANES, clamp_f32(y, tile->low, tile->high),
                            tile->columns - v * LANES);
    }
}

void SYMBOL(hl_multiply_blocks_, LEVEL)(const struct hl_block_tile *tile)
{
    int r = 0;
    for (; r + BLOCK_ROWS <= tile->rows && BLOCK_ROWS > 1; r += BLOCK_ROWS) block_rows(tile, r, BLOCK_ROWS);
    for (; r < tile->rows; r++) block_rows(tile, r, 1);
}

#endif
