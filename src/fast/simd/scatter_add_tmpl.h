// SPDX-License-Identifier: Apache-2.0
// The microkernels of struct hl_scatter_add. microkernels_tmpl.h includes them, once for each CPU level.
#ifndef HALITE_FAST_SIMD_SCATTER_ADD_TMPL_H
#define HALITE_FAST_SIMD_SCATTER_ADD_TMPL_H

#include "fast/simd/simd.h"
#include "fast/simd/vector.h"

// What is left of a row, fewer than LANES.
static inline void add_rest_f32(float *y, const float *sums, int columns)
{
#if defined __AVX512F__
    __mmask16 these = (__mmask16)((1u << columns) - 1);
    _mm512_mask_storeu_ps(y, these, _mm512_add_ps(_mm512_maskz_loadu_ps(these, y), _mm512_maskz_loadu_ps(these, sums)));
#else
    for (int c = 0; c < columns; c++) y[c] += sums[c];
#endif
}

static inline void add_rest_integer(uint32_t *y, const uint32_t *sums, uint32_t less, int columns)
{
#if defined __AVX512F__
    __mmask16 these = (__mmask16)((1u << columns) - 1);
    __m512i sum = _mm512_add_epi32(_mm512_maskz_loadu_epi32(these, y), _mm512_maskz_loadu_epi32(these, sums));
    _mm512_mask_storeu_epi32(y, these, _mm512_sub_epi32(sum, _mm512_set1_epi32((int32_t)less)));
#else
    for (int c = 0; c < columns; c++) y[c] += sums[c] - less;
#endif
}

static void scatter_add_f32(const struct hl_scatter_add *scatter)
{
    const float *sums = scatter->sums;
    float *y = scatter->y;
    int columns = scatter->columns;
    for (int64_t r = 0; r < scatter->rows; r++, sums += scatter->stride, y += scatter->y_stride) {
        int c = 0;
        for (; c + LANES <= columns; c += LANES) {
            f32_vector sum = load_f32(y + c) + load_f32(sums + c);
            memcpy(y + c, &sum, sizeof sum);
        }
        if (c < columns) add_rest_f32(y + c, sums + c, columns - c);
    }
}

static void scatter_add_integer(const struct hl_scatter_add *scatter)
{
    const uint32_t *sums = scatter->sums;
    uint32_t *y = scatter->y;
    int columns = scatter->columns;
    for (int64_t r = 0; r < scatter->rows; r++, sums += scatter->stride, y += scatter->y_stride) {
        uint32_t less = (uint32_t)scatter->less[r];
        int c = 0;
        for (; c + LANES <= columns; c += LANES) {
            u32_vector a, b;
            memcpy(&a, y + c, sizeof a);
            memcpy(&b, sums + c, sizeof b);
            a += b - less;
            memcpy(y + c, &a, sizeof a);
        }
        if (c < columns) add_rest_integer(y + c, sums + c, less, columns - c);
    }
}

#endif
