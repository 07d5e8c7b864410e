// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution of floats for a run of neighboring output positions (struct hl_depthwise_run of simd.h). In: a
// pointer to the input for each tap. Out: floats.
#ifndef HALITE_FAST_SIMD_DEPTHWISE_F32_TMPL_H
#define HALITE_FAST_SIMD_DEPTHWISE_F32_TMPL_H

#include "fast/simd/simd.h"
#include "fast/simd/vector.h"

// So many positions and vectors of channels are computed at once: their sums fit the registers, and weights are loaded
// once for all positions.
enum { POSITIONS = 4, VECTORS = REGISTERS >= 32 ? 4 : 2 };

// The bias is added last, as the reference kernel does; only fused products make a difference to it.
INLINE void depthwise_block_f32(const struct hl_depthwise_run *run, int at, int c, int positions, int vectors)
{
    const float *w = (const float *)run->w + c, *initial = (const float *)run->initial + c;
    const void *const *x = run->x + (ptrdiff_t)at * run->x_step;
    f32_vector sums[POSITIONS][VECTORS];
    UNROLL for (int p = 0; p < positions; p++) UNROLL for (int v = 0; v < vectors; v++) sums[p][v] = (f32_vector){0};
    for (int t = 0; t < run->taps; t++, w += run->channels) {
        const void *const *in = x + run->tap[t];
        f32_vector weights[VECTORS];
        UNROLL for (int v = 0; v < vectors; v++) weights[v] = load_f32(w + v * LANES);
        UNROLL for (int p = 0; p < positions; p++)
        {
            const float *values = (const float *)in[(ptrdiff_t)p * run->x_step] + c;
            UNROLL for (int v = 0; v < vectors; v++) sums[p][v] =
                add_product(sums[p][v], weights[v], load_f32(values + v * LANES));
        }
    }
    float *y = (float *)run->y + (ptrdiff_t)at * run->channels + c;
    UNROLL for (int p = 0; p < positions; p++) UNROLL for (int v = 0; v < vectors; v++)
    {
        store_f32(y + (ptrdiff_t)p * run->channels + v * LANES,
                  clamp_f32(sums[p][v] + load_f32(initial + v * LANES), run->low, run->high));
    }
}

// The same for windows whose columns lie next to each other. A row of weights stays in registers, and each input
// position is loaded once for all windows that it belongs to, which add in the same order as above.
enum { MAX_KW = 5, SHARED_VECTORS = REGISTERS >= 32 ? 2 : 1 };

INLINE void depthwise_shared_f32(const struct hl_depthwise_run *run, int at, int c, int vectors, int kw, int stride)
{
    const int kh = run->taps / kw;
    const float *w = (const float *)run->w + c, *initial = (const float *)run->initial + c;
    const void *const *x = run->x + (ptrdiff_t)at * run->x_step;
    f32_vector sums[POSITIONS][SHARED_VECTORS];
    UNROLL for (int p = 0; p < POSITIONS; p++) UNROLL for (int v = 0; v < vectors; v++) sums[p][v] = (f32_vector){0};
    for (int k = 0; k < kh; k++) {
        f32_vector weights[MAX_KW][SHARED_VECTORS];
        UNROLL for (int l = 0; l < kw; l++, w += run->channels) UNROLL for (int v = 0; v < vectors; v++) weights[l][v] =
            load_f32(w + v * LANES);
        UNROLL for (int column = 0; column < (POSITIONS - 1) * stride + kw; column++)
        {
            const float *values = (const float *)x[(ptrdiff_t)column * kh + k] + c;
            UNROLL for (int v = 0; v < vectors; v++)
            {
                const f32_vector value = load_f32(values + v * LANES);
                UNROLL for (int p = 0; p < POSITIONS; p++)
                {
                    const int l = column - p * stride;
                    if (l >= 0 && l < kw) sums[p][v] = add_product(sums[p][v], weights[l][v], value);
                }
            }
        }
    }
    float *y = (float *)run->y + (ptrdiff_t)at * run->channels + c;
    UNROLL for (int p = 0; p < POSITIONS; p++) UNROLL for (int v = 0; v < vectors; v++)
    {
        store_f32(y + (ptrdiff_t)p * run->channels + v * LANES,
                  clamp_f32(sums[p][v] + load_f32(initial + v * LANES), run->low, run->high));
    }
}

// All channels of POSITIONS positions; there is at least a vector of them, and some may be computed twice.
INLINE void depthwise_shared_positions_f32(const struct hl_depthwise_run *run, int at, int kw, int stride)
{
    enum { WIDTH = SHARED_VECTORS * LANES };
    int c = 0, channels = run->channels;
    for (; c + WIDTH <= channels; c += WIDTH) depthwise_shared_f32(run, at, c, SHARED_VECTORS, kw, stride);
    for (; c + LANES <= channels; c += LANES) depthwise_shared_f32(run, at, c, 1, kw, stride);
    if (c < channels) depthwise_shared_f32(run, at, channels - LANES, 1, kw, stride);
}

INLINE void depthwise_shared_run_f32(const struct hl_depthwise_run *run, int kw, int stride)
{
    for (int at = 0; at + POSITIONS <= run->count; at += POSITIONS) depthwise_shared_positions_f32(run, at, kw, stride);
    if (run->count % POSITIONS != 0) depthwise_shared_positions_f32(run, run->count - POSITIONS, kw, stride);
}

// Whether it was a run of such windows.
static int depthwise_shared_done(const struct hl_depthwise_run *run)
{
    if (run->channels < LANES || run->count < POSITIONS) return 0;
    switch (run->kw * 4 + run->stride) {
    case 3 * 4 + 1: depthwise_shared_run_f32(run, 3, 1); return 1;
    case 3 * 4 + 2: depthwise_shared_run_f32(run, 3, 2); return 1;
    case 5 * 4 + 1: depthwise_shared_run_f32(run, 5, 1); return 1;
    case 5 * 4 + 2: depthwise_shared_run_f32(run, 5, 2); return 1;
    default: return 0;
    }
}

// All channels of some positions. Where they do not fill vectors, some channels are computed twice.
INLINE void depthwise_positions_f32(const struct hl_depthwise_run *run, int at, int positions)
{
    int c = 0, channels = run->channels;
    for (; c + VECTORS * LANES <= channels; c += VECTORS * LANES) depthwise_block_f32(run, at, c, positions, VECTORS);
    for (; c + LANES <= channels; c += LANES) depthwise_block_f32(run, at, c, positions, 1);
    if (c == channels) return;
    if (channels >= LANES) {
        depthwise_block_f32(run, at, channels - LANES, positions, 1);
        return;
    }
    const float *w = run->w, *initial = run->initial;
    for (int p = at; p < at + positions; p++) {
        float *y = (float *)run->y + (ptrdiff_t)p * channels;
        for (c = 0; c < channels; c++) {
            float sum = 0;
            for (int t = 0; t < run->taps; t++)
                sum += ((const float *)run->x[(ptrdiff_t)p * run->x_step + run->tap[t]])[c] *
                       w[(ptrdiff_t)t * channels + c];
            sum += initial[c];
            y[c] = sum < run->low ? run->low : sum > run->high ? run->high : sum;
        }
    }
}

static void depthwise_f32(const struct hl_depthwise_run *run)
{
    int at = 0;
    if (depthwise_shared_done(run)) return;
    for (; at + POSITIONS <= run->count; at += POSITIONS) depthwise_positions_f32(run, at, POSITIONS);
    if (at == run->count) return;
    if (run->count >= POSITIONS) { // computes some positions twice
        depthwise_positions_f32(run, run->count - POSITIONS, POSITIONS);
        return;
    }
    for (; at < run->count; at++) depthwise_positions_f32(run, at, 1);
}

#endif
