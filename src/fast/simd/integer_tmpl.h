// SPDX-License-Identifier: Apache-2.0
// The microkernels that depend on how integers are multiplied, and the CPU level's struct hl_simd. Each level_*.c
// includes this file after it has defined LEVEL, the name of the level, and KERNELS, the name of the level whose
// microkernels (microkernels_tmpl.h) it uses.
#ifndef HALITE_FAST_SIMD_INTEGER_TMPL_H
#define HALITE_FAST_SIMD_INTEGER_TMPL_H

#include "fast/simd/depthwise_tmpl.h"
#include "fast/simd/level_tmpl.h"
#include "fast/simd/simd.h"
#include "fast/simd/tile_tmpl.h"
#include "fast/simd/vector.h"

// ---- matrix products ----------------------------------------------------------------------------

// An addition to a sum waits for the one before. A tile with few sums therefore has several chains of each, which are
// added at the end. (Floats must not do so: their sums would be rounded in another order than the reference kernels'.)
#define CHAINS(rows, vectors) ((rows) * (vectors) <= 2 ? 4 : (rows) * (vectors) <= 4 ? 2 : 1)
enum { MAX_SUMS = ROWS > 8 ? ROWS : 8 };

INLINE void tile_integer(const struct hl_tile *tile, int rows, int vectors)
{
    const int chains = CHAINS(rows, vectors);
    const char *x = tile->x;
    const int32_t *w = tile->w, *initial = tile->initial;
    const ptrdiff_t stride = tile->x_stride;
    const int64_t steps = tile->steps;
    u32_vector sums[MAX_SUMS][2];
    UNROLL for (int s = 0; s < chains * rows; s++)
    {
        sums[s][0] = s < rows ? load_i32(initial) : splat_i32(0);
        if (vectors == 2) sums[s][1] = s < rows ? load_i32(initial + LANES) : splat_i32(0);
    }
    for (int segment = 0; segment <= tile->segments; segment++, x += tile->x_segment - 4 * steps)
        for (int64_t k = 0; k < steps; k += chains) UNROLL for (int chain = 0; chain < chains; chain++)
            {
                if (chain > 0 && k + chain >= steps) continue;
                u32_vector w0 = load_i32(w), w1 = vectors == 2 ? load_i32(w + LANES) : w0;
                if (rows > FEW_ROWS) prefetch_step((const char *)w + tile->prefetch);
                UNROLL for (int r = 0; r < rows; r++)
                {
                    int32_t dot;
                    memcpy(&dot, x + r * stride, sizeof dot);
                    u32_vector value = splat_i32(dot), *to = sums[chain * rows + r];
                    to[0] = add_dots(to[0], w0, value);
                    if (vectors == 2) to[1] = add_dots(to[1], w1, value);
                }
                w += COLUMNS;
                x += 4;
            }
    UNROLL for (int r = 0; r < rows; r++)
    {
        UNROLL for (int chain = 1; chain < chains; chain++) UNROLL for (int v = 0; v < vectors; v++) sums[r][v] +=
            sums[chain * rows + r][v];
        memcpy((int32_t *)tile->y + r * tile->y_stride, sums[r], (size_t)vectors * sizeof *sums[r]);
    }
}

static void multiply_integer(const struct hl_tile *tile)
{
    TILE_CALL(tile_integer)
}

// ---- sums of bytes ------------------------------------------------------------------------------

// Bytes are summed as unsigned; signed bytes are first shifted up by 128.
static uint32_t sum_bytes(const uint8_t *x, int64_t count)
{
    enum { QUAD = 16, WORD = 8 };
    const uint8_t offset = SIGNED_X ? 0x80 : 0;
    u32_quad sums = {0};
    int64_t i = 0;
    for (; i + QUAD <= count; i += QUAD) sums = add_16_bytes(sums, x + i, offset);
    for (; i + WORD <= count; i += WORD) sums = add_8_bytes(sums, x + i, offset);
    uint32_t all = sums[0] + sums[1] + sums[2] + sums[3];
    for (; i < count; i++) all += x[i] ^ offset;
    return all - (uint32_t)count * offset;
}

// ---- the level ----------------------------------------------------------------------------------

const struct hl_simd LEVEL_SIMD = {
    .name = LEVEL_NAME,
    .rows = ROWS,
    .columns = COLUMNS,
    .bytes = BYTES,
    .dot_width = DOT_WIDTH,
    .signed_x = SIGNED_X,
    .sum_bytes = sum_bytes,
    .multiply_integer = multiply_integer,
    .depthwise_integer = depthwise_integer,
    .kernels = &LEVEL_KERNELS,
};

#endif
