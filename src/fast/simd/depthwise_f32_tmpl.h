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

// Two output rows at once: depthwise_pair_channels_f32 for a vector of channels, and _half for half of one. (24
// channels by a vector and a half, where 8 of them were computed twice, on a Zen 4, us: 3x3 of 64x64 28.7, 25.5; with
// stride 2 of 128x128 64.4, 60.5. Windows of 5x5 gain 3 % and are 14 KB of code.)
#define PAIR(word) word
#define PAIR_VECTOR f32_vector
#include "fast/simd/depthwise_pair_tmpl.h"
#if HAS_HALVES
enum { MAX_HALF_SIZE = 3 };
#define PAIR(word) word##_half
#define PAIR_VECTOR f32_half
#include "fast/simd/depthwise_pair_tmpl.h"
#endif

// The largest such windows. (28 layers, before over after: AVX-512 1.36. 3x3 with AVX2 1.19, 5x5 1.05. With SSE2, whose
// registers hold neither the weights nor all sums, 0.97 and 0.66.)
enum { MAX_PAIR_SIZE = REGISTERS >= 32 ? MAX_KW : BYTES >= 32 ? 3 : 0 };

// Few positions take all of their channels in turn, where weights are read from memory at each product in either case:
// a row of positions does not stay in the first-level cache until the second half of a line of channels is read. (AVX2
// on a Zen 3, us, by rows and so: 3x3 of 56x56, 128 channels 301, 157; with stride 2 of 112x112, 64 channels 218, 128;
// of 28x28, 256 channels 176, 121.) With weights in registers that pays only for positions half a page apart, which
// have two sets of that cache for one vector of their channels.
INLINE void depthwise_pair_run_f32(const struct hl_depthwise_run *run, int size, int stride)
{
    enum { ALIAS = 2048 };
    const bool few = REGISTERS < 32 || run->channels * (int)sizeof(float) % ALIAS == 0;
    const int step = few ? POSITIONS : run->count;
    for (int at = 0; at < run->count; at += step) {
        const int first = at + step <= run->count ? at : run->count - step;
        for (int c = 0; c < run->channels; c += LANES) {
            const int left = run->channels - c; // of the last vector some channels may be computed twice
#if HAS_HALVES
            if (size <= MAX_HALF_SIZE && left <= LANES / 2) {
                depthwise_pair_channels_f32_half(run, first, first + step, run->channels - LANES / 2, size, stride);
                continue;
            }
#endif
            depthwise_pair_channels_f32(run, first, first + step, left >= LANES ? c : run->channels - LANES, size,
                                        stride);
        }
    }
}

static int depthwise_takes_pair(int channels, int count, int size, int stride)
{
    return size <= MAX_PAIR_SIZE && channels >= LANES && count >= POSITIONS && (size == 3 || size == 5) &&
           (stride == 1 || stride == 2);
}

static void depthwise_pair_f32(const struct hl_depthwise_run *run)
{
    if (MAX_PAIR_SIZE >= 3 && run->kw == 3 && run->stride == 1) depthwise_pair_run_f32(run, 3, 1);
    if (MAX_PAIR_SIZE >= 3 && run->kw == 3 && run->stride == 2) depthwise_pair_run_f32(run, 3, 2);
    if (MAX_PAIR_SIZE >= 5 && run->kw == 5 && run->stride == 1) depthwise_pair_run_f32(run, 5, 1);
    if (MAX_PAIR_SIZE >= 5 && run->kw == 5 && run->stride == 2) depthwise_pair_run_f32(run, 5, 2);
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
