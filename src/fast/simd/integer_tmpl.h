// SPDX-License-Identifier: Apache-2.0
// The microkernels that depend on how integers are multiplied, and the CPU level's struct hl_simd. Each level_*.c
// includes this file after it has defined LEVEL, the name of the level, and KERNELS, the name of the level whose
// microkernels (microkernels_tmpl.h) it uses.
#ifndef HALITE_FAST_SIMD_INTEGER_TMPL_H
#define HALITE_FAST_SIMD_INTEGER_TMPL_H

#include "fast/simd/simd.h"
#include "fast/simd/tile_tmpl.h"
#include "fast/simd/vector.h"

extern const struct hl_microkernels SYMBOL(hl_microkernels_, KERNELS);

#if defined __AVX512VNNI__
enum { DOT_WIDTH = 4 };
#define ADD_DOTS add_quads
#else
enum { DOT_WIDTH = 2 };
#define ADD_DOTS add_pairs
#endif

// ---- matrix products ----------------------------------------------------------------------------

// Products that are added to one sum wait for each other: where a tile has few sums there are `chains` of each, added
// at the end. (Not so floats, whose sums would no longer be rounded as the reference kernels' are.)
#define CHAINS(rows, vectors) ((rows) * (vectors) <= 2 ? 4 : (rows) * (vectors) <= 4 ? 2 : 1)
enum { MOST_SUMS = ROWS > 8 ? ROWS : 8 };

INLINE void tile_integer(const struct hl_tile *tile, int rows, int vectors)
{
    const int chains = CHAINS(rows, vectors);
    const char *x = tile->x;
    const int32_t *w = tile->w, *start = tile->start;
    const ptrdiff_t stride = tile->x_stride;
    const int64_t steps = tile->steps;
    u32_vector sums[MOST_SUMS][2];
    UNROLL for (int s = 0; s < chains * rows; s++)
    {
        sums[s][0] = s < rows ? load_i32(start) : splat_i32(0);
        if (vectors == 2) sums[s][1] = s < rows ? load_i32(start + LANES) : splat_i32(0);
    }
    for (int segment = 0; segment <= tile->segments; segment++, x += tile->x_segment - 4 * steps)
        for (int64_t k = 0; k < steps; k += chains) UNROLL for (int chain = 0; chain < chains; chain++)
            {
                if (chain > 0 && k + chain >= steps) continue;
                u32_vector w0 = load_i32(w), w1 = vectors == 2 ? load_i32(w + LANES) : w0;
                if (rows > FEW_ROWS) fetch((const char *)w + tile->ahead);
                UNROLL for (int r = 0; r < rows; r++)
                {
                    int32_t group;
                    memcpy(&group, x + r * stride, sizeof group);
                    u32_vector value = splat_i32(group), *to = sums[chain * rows + r];
                    to[0] = ADD_DOTS(to[0], w0, value);
                    if (vectors == 2) to[1] = ADD_DOTS(to[1], w1, value);
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
    switch (tile->rows) {
        CASES(tile_integer)
    }
}

static uint32_t sum_bytes(const uint8_t *x, int64_t count)
{
    uint32_t all = 0;
    int64_t i = 0;
#if defined __SSE2__
    __m128i sums = _mm_setzero_si128(), zero = sums;
    for (; i + 16 <= count; i += 16)
        sums = _mm_add_epi64(sums, _mm_sad_epu8(_mm_loadu_si128((const __m128i *)(x + i)), zero));
    for (; i + 8 <= count; i += 8)
        sums = _mm_add_epi64(sums, _mm_sad_epu8(_mm_loadl_epi64((const __m128i *)(x + i)), zero));
    all = (uint32_t)_mm_cvtsi128_si32(sums) + (uint32_t)_mm_cvtsi128_si32(_mm_srli_si128(sums, 8));
#endif
    for (; i < count; i++) all += x[i];
    return all;
}

#include "fast/simd/depthwise_tmpl.h"

#define TEXT(word) #word
#define NAME(word) TEXT(word)
extern const struct hl_simd SYMBOL(hl_simd_, LEVEL);
const struct hl_simd SYMBOL(hl_simd_, LEVEL) = {
    .name = NAME(LEVEL),
    .rows = ROWS,
    .columns = COLUMNS,
    .bytes = BYTES,
    .dot_width = DOT_WIDTH,
    .sum_bytes = sum_bytes,
    .multiply_integer = multiply_integer,
    .depthwise_integer = depthwise_integer,
    .kernels = &SYMBOL(hl_microkernels_, KERNELS),
};

#endif
