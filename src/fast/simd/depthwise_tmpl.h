// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution of integers for a run of neighboring output positions (struct hl_depthwise_run of simd.h). In:
// a pointer to the input for each tap. Out: bytes or floats.
// A block is BYTES channels, or the few channels of `parts` neighboring positions. The bytes of DOT_WIDTH taps are
// interleaved within each 16 bytes, so that a lane holds those of one channel and one instruction multiplies and adds
// them. The four vectors of sums hold channels in the order of hl_depthwise_channel, which narrow() undoes.
#ifndef HALITE_FAST_SIMD_DEPTHWISE_TMPL_H
#define HALITE_FAST_SIMD_DEPTHWISE_TMPL_H

#include "fast/simd/level_tmpl.h"
#include "fast/simd/simd.h"
#include "fast/simd/vector.h"

// BYTES / parts bytes of each of `parts` positions, from channel c on.
INLINE u8_vector load_parts(const void *const *x, ptrdiff_t step, int c, int parts)
{
    const uint8_t *first = (const uint8_t *)x[0] + c;
    u8_vector bytes;
#if MAX_PARTS >= 4
    if (parts == 4) return load_quarters(first, x[step], x[2 * step], x[3 * step]);
#endif
#if MAX_PARTS >= 2
    if (parts == 2) return load_halves(first, x[step]);
#endif
    (void)step, (void)parts;
    memcpy(&bytes, first, sizeof bytes);
    return bytes;
}

// Interleaves the bytes of DOT_WIDTH taps, so that add_dots can multiply them.
INLINE void depthwise_values(const u8_vector bytes[DOT_WIDTH], u32_vector values[4])
{
    const u8_vector low = interleave_low_8(bytes[0], bytes[1]), high = interleave_high_8(bytes[0], bytes[1]);
#if HAS_DOT4
    const u8_vector low2 = interleave_low_8(bytes[2], bytes[3]), high2 = interleave_high_8(bytes[2], bytes[3]);
    values[0] = (u32_vector)interleave_low_16(low, low2), values[1] = (u32_vector)interleave_high_16(low, low2);
    values[2] = (u32_vector)interleave_low_16(high, high2), values[3] = (u32_vector)interleave_high_16(high, high2);
#else
    const u8_vector zero = {0};
    values[0] = (u32_vector)interleave_low_8(low, zero), values[1] = (u32_vector)interleave_high_8(low, zero);
    values[2] = (u32_vector)interleave_low_8(high, zero), values[3] = (u32_vector)interleave_high_8(high, zero);
#endif
}

// The sums of one block. Its first position has the pointers x, and its first channel is c.
INLINE void depthwise_sums(const struct hl_depthwise_run *run, const void *const *x, int c, int block, int parts,
                           int dots, int layers, u32_vector sums[4])
{
    const int32_t *initial = (const int32_t *)run->initial + (ptrdiff_t)block * BYTES;
    const int32_t *w = (const int32_t *)run->w + (ptrdiff_t)block * dots * layers * BYTES;
    u8_vector sign_offset = (u8_vector){0} + run->sign_offset;
    UNROLL for (int v = 0; v < 4; v++) sums[v] = load_i32(initial + v * LANES);
    for (int t = 0; t < dots * DOT_WIDTH; t += DOT_WIDTH) {
        u8_vector bytes[DOT_WIDTH];
        u32_vector values[4];
        UNROLL for (int i = 0; i < DOT_WIDTH; i++) bytes[i] =
            load_parts(x + run->tap[t + i], run->x_step, c, parts) ^ sign_offset;
        depthwise_values(bytes, values);
        for (int layer = 0; layer < layers; layer++, w += BYTES)
            UNROLL for (int v = 0; v < 4; v++) sums[v] = add_dots(sums[v], load_i32(w + v * LANES), values[v]);
    }
}

// How the sums of a block become bytes: by what it has in registers, or by struct hl_requantize.
struct block_rescale {
    bool floats;
#if HAS_RESCALE_FLOATS
    struct float_rescale to_bytes[4];
#endif
};

INLINE struct block_rescale block_rescale_of(const struct hl_depthwise_run *run, int block)
{
    struct block_rescale rescale = {.floats = HAS_RESCALE_FLOATS && run->to_bytes};
    (void)block;
#if HAS_RESCALE_FLOATS
    if (!run->to_bytes) return rescale;
    UNROLL for (int v = 0; v < 4; v++)
    {
        const ptrdiff_t i = (ptrdiff_t)block * BYTES + v * LANES;
        const u32_vector right = load_i32(run->to_bytes->right + i);
        rescale.floats &= fits_float_rescale(right, LANES);
        rescale.to_bytes[v] = float_rescale_of(load_i32(run->to_bytes->multiplier + i), right);
    }
#endif
    return rescale;
}

#if HAS_RESCALE
// The stored bytes of a block, with the channels in their own order.
INLINE u8_vector depthwise_stored(const struct hl_requantize *params, const struct block_rescale *rescale, int block,
                                  const u32_vector sums[4])
{
    const bool right_only = SETS_RESCALE_RIGHT && params->right_only;
    u32_vector values[4];
#if HAS_RESCALE_FLOATS
    if (rescale->floats) {
        UNROLL for (int v = 0; v < 4; v++) values[v] = rescale_doubled(sums[v], &rescale->to_bytes[v]);
        return narrow_doubled(values, params->zero, params->low, params->high);
    }
#else
    (void)rescale;
#endif
    UNROLL for (int v = 0; v < 4; v++)
    {
        const ptrdiff_t i = (ptrdiff_t)block * BYTES + v * LANES;
        const u32_vector multiplier = load_i32(params->multiplier + i), right = load_i32(params->right + i);
        if (right_only) {
            const struct right_rescale to_right = right_rescale_of(multiplier, right);
            values[v] = rescale_right(sums[v], &to_right);
        } else {
            values[v] = rescale_lanes(sums[v], multiplier, load_i32(params->left + i), right);
        }
    }
    return narrow(values, params->zero, params->low, params->high);
}
#endif

// The sums with the channels in their own order. `ordered` has room for BYTES of them and one vector more, because
// readers load whole vectors from wherever a position's sums begin.
INLINE void depthwise_ordered(const u32_vector sums[4], int32_t *ordered)
{
    enum { QUAD = 4 * sizeof(int32_t) };
    UNROLL for (int q = 0; q < LANES / 4; q++) UNROLL for (int v = 0; v < 4; v++)
        memcpy(ordered + q * 16 + v * 4, (const char *)&sums[v] + q * QUAD, QUAD);
}

OUTLINE void depthwise_store_floats(const struct hl_depthwise_run *run, int at, int positions, int c, int count,
                                    const int32_t *sums, int width)
{
    struct hl_unquantize params = *run->to_floats;
    params.scales += c, params.bias += c, params.w_sums += c;
    const struct hl_float_tile tile = {
        .params = &params,
        .rows = positions,
        .columns = count,
        .sums = sums,
        .sums_stride = width,
        .y = (float *)run->y + (ptrdiff_t)at * run->channels + c,
        .y_stride = run->channels,
    };
    LEVEL_KERNELS.unquantize_tile(&tile);
}

// Stores the outputs of one block: `count` channels of each of the positions [at, at + positions).
INLINE void depthwise_store(const struct hl_depthwise_run *run, int at, int positions, int c, int count, int block,
                            int parts, const struct block_rescale *rescale, const u32_vector sums[4])
{
    int width = BYTES / parts;
    if (run->to_floats) {
        int32_t ordered[BYTES + LANES];
        depthwise_ordered(sums, ordered);
        depthwise_store_floats(run, at, positions, c, count, ordered, width);
        return;
    }
    uint8_t *y = (uint8_t *)run->y + (ptrdiff_t)at * run->channels + c;
#if HAS_RESCALE
    u8_vector bytes = depthwise_stored(run->to_bytes, rescale, block, sums);
    if (count == width && positions == parts) {
        memcpy(y, &bytes, sizeof bytes);
        return;
    }
    uint8_t out[BYTES];
    memcpy(out, &bytes, sizeof bytes);
    for (int p = 0; p < positions; p++) memcpy(y + (ptrdiff_t)p * run->channels, out + p * width, (size_t)count);
#else
    int32_t ordered[BYTES + LANES];
    (void)rescale;
    depthwise_ordered(sums, ordered);
    for (int p = 0; p < positions; p++)
        LEVEL_KERNELS.requantize(run->to_bytes, ordered + p * width, 0, (int64_t)block * BYTES + p * width, count,
                                 y + (ptrdiff_t)p * run->channels);
#endif
}

// How many dot products the taps of a 3x3 window take.
enum { DOTS_3X3 = (9 + DOT_WIDTH - 1) / DOT_WIDTH };

// A vector of x is loaded from `loads` addresses. Callers pass constants for `dots` (dot products for each sum) and
// `layers` where that pays.
INLINE void depthwise_all(const struct hl_depthwise_run *shared, int loads, int dots, int layers)
{
    const struct hl_depthwise_run run = *shared; // a copy, because stored bytes might alias the original
    int parts = loads > 1 ? loads : run.parts;
    int channels = run.channels, last = channels < BYTES ? 0 : channels - BYTES,
        count = channels < BYTES ? channels : BYTES;
    for (int block = 0, c = 0; c < channels; block++, c += BYTES) {
        const int first = c < last ? c : last; // the last block computes some channels again
        const struct block_rescale rescale = block_rescale_of(&run, block);
        for (int at = 0; at < run.count; at += parts) {
            const int positions = run.count - at < parts ? run.count - at : parts;
            u32_vector sums[4];
            depthwise_sums(&run, run.x + (ptrdiff_t)at * run.x_step, first, block, loads, dots, layers, sums);
            depthwise_store(&run, at, positions, first, count, block, parts, &rescale, sums);
        }
    }
}

INLINE void depthwise_any(const struct hl_depthwise_run *run, int loads)
{
    if (run->taps == DOTS_3X3 * DOT_WIDTH && run->layers == 1)
        depthwise_all(run, loads, DOTS_3X3, 1);
    else
        depthwise_all(run, loads, run->taps / DOT_WIDTH, run->layers);
}

#if HAS_DOT4
// Loads a column of a 3x3 window; the fourth byte of each dot product is 0.
INLINE void depthwise_column(const struct hl_depthwise_run *run, int column, int c, u32_vector values[4])
{
    const void *const *x = run->x + (ptrdiff_t)column * 3;
    u8_vector sign_offset = (u8_vector){0} + run->sign_offset, bytes[4] = {{0}, {0}, {0}, {0}};
    UNROLL for (int i = 0; i < 3; i++) bytes[i] = load_parts(x + i, 0, c, 1) ^ sign_offset;
    depthwise_values(bytes, values);
}

// sums = from + w * values. `more` is the second layer, which is the same for all weights, or NULL.
INLINE void depthwise_add(u32_vector sums[4], const u32_vector from[4], const u32_vector w[4], const u32_vector *more,
                          const u32_vector values[4])
{
    UNROLL for (int v = 0; v < 4; v++) sums[v] = add_dot4(from[v], w[v], values[v]);
    if (more) UNROLL for (int v = 0; v < 4; v++) sums[v] = add_dot4(sums[v], *more, values[v]);
}

// 3x3 windows next to each other: the weights stay in registers, and each column is interleaved once for the sums of
// all windows that it belongs to. (MobileNet v1 int8: 0.8 ms, with depthwise_all 1.2 ms.)
INLINE void depthwise_3x3(const struct hl_depthwise_run *shared, int stride, int layers)
{
    const struct hl_depthwise_run run = *shared;
    int channels = run.channels, last = channels < BYTES ? 0 : channels - BYTES,
        count = channels < BYTES ? channels : BYTES;
    for (int block = 0, c = 0; c < channels; block++, c += BYTES) {
        int first = c < last ? c : last;
        const struct block_rescale rescale = block_rescale_of(&run, block);
        const int32_t *weights = (const int32_t *)run.w + (ptrdiff_t)block * 3 * layers * BYTES;
        u32_vector w[3][4], initial[4], sums[4], next[4], values[4], second = load_i32(weights + (layers - 1) * BYTES);
        const u32_vector *more = layers == 2 ? &second : NULL;
        UNROLL for (int v = 0; v < 4; v++)
        {
            initial[v] = load_i32((const int32_t *)run.initial + (ptrdiff_t)block * BYTES + v * LANES);
            UNROLL for (int l = 0; l < 3; l++) w[l][v] = load_i32(weights + l * layers * BYTES + v * LANES);
        }
        depthwise_column(&run, 0, first, values);
        depthwise_add(sums, initial, w[0], more, values);
        if (stride == 1) {
            depthwise_column(&run, 1, first, values);
            depthwise_add(sums, sums, w[1], more, values);
            depthwise_add(next, initial, w[0], more, values);
        }
        for (int at = 0; at < run.count; at++) {
            u32_vector done[4];
            if (stride == 2) {
                depthwise_column(&run, 2 * at + 1, first, values);
                depthwise_add(sums, sums, w[1], more, values);
            }
            depthwise_column(&run, stride * at + 2, first, values);
            depthwise_add(done, sums, w[2], more, values);
            if (stride == 1) {
                depthwise_add(sums, next, w[1], more, values);
                depthwise_add(next, initial, w[0], more, values);
            } else {
                depthwise_add(sums, initial, w[0], more, values);
            }
            depthwise_store(&run, at, 1, first, count, block, 1, &rescale, done);
        }
    }
}

// Whether it was a run of such windows.
static int depthwise_3x3_done(const struct hl_depthwise_run *run)
{
    if (run->parts > 1) return 0;
    switch (run->stride_3x3 * 4 + run->layers) {
    case 5: depthwise_3x3(run, 1, 1); return 1;
    case 6: depthwise_3x3(run, 1, 2); return 1;
    case 9: depthwise_3x3(run, 2, 1); return 1;
    case 10: depthwise_3x3(run, 2, 2); return 1;
    default: return 0;
    }
}
#endif

void SYMBOL(hl_depthwise_integer_, LEVEL)(const struct hl_depthwise_run *run)
{
#if HAS_DOT4
    if (depthwise_3x3_done(run)) return;
#endif
    switch (run->side_by_side ? 1 : run->parts) {
#if MAX_PARTS >= 4
    case 4: depthwise_any(run, 4); break;
#endif
#if MAX_PARTS >= 2
    case 2: depthwise_any(run, 2); break;
#endif
    default: depthwise_any(run, 1);
    }
}

#endif
