// SPDX-License-Identifier: Apache-2.0
// Adds rows of a matrix product to output positions that may overlap (struct hl_scatter_add of simd.h), as transposed
// convolutions do.
#ifndef HALITE_FAST_SIMD_SCATTER_ADD_TMPL_H
#define HALITE_FAST_SIMD_SCATTER_ADD_TMPL_H

#include "fast/simd/simd.h"
#include "fast/simd/vector.h"

// The rest of a row, fewer than LANES columns.
static inline void add_rest_f32(float *y, const float *sums, int columns)
{
    if (HAS_MASKS) {
        store_first(y, (u32_vector)(load_first_f32(y, columns) + load_first_f32(sums, columns)), columns);
        return;
    }
    for (int c = 0; c < columns; c++) y[c] += sums[c];
}

static inline void add_rest_integer(uint32_t *y, const uint32_t *sums, uint32_t correction, int columns)
{
    if (HAS_MASKS) {
        store_first(y, load_first(y, columns) + load_first(sums, columns) - correction, columns);
        return;
    }
    for (int c = 0; c < columns; c++) y[c] += sums[c] - correction;
}

static void scatter_add_f32(const struct hl_scatter_add *scatter)
{
    const float *sums = scatter->sums;
    float *y = scatter->y;
    int columns = scatter->columns;
    for (int64_t r = 0; r < scatter->rows; r++, sums += scatter->stride, y += scatter->y_stride) {
        int c = 0;
        for (; c + LANES <= columns; c += LANES) store_f32(y + c, load_f32(y + c) + load_f32(sums + c));
        if (c < columns) add_rest_f32(y + c, sums + c, columns - c);
    }
}

static void scatter_add_integer(const struct hl_scatter_add *scatter)
{
    const uint32_t *sums = scatter->sums;
    uint32_t *y = scatter->y;
    int columns = scatter->columns;
    for (int64_t r = 0; r < scatter->rows; r++, sums += scatter->stride, y += scatter->y_stride) {
        uint32_t correction = (uint32_t)scatter->corrections[r];
        int c = 0;
        for (; c + LANES <= columns; c += LANES) {
            const u32_vector sum = load_u32(y + c) + load_u32(sums + c) - correction;
            memcpy(y + c, &sum, sizeof sum);
        }
        if (c < columns) add_rest_integer(y + c, sums + c, correction, columns - c);
    }
}

#endif
