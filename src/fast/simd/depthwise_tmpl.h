// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution of integers, for a run of output positions (struct hl_depthwise_run of simd.h): pointers to the
// input in, one for each tap, outputs out. Included by integer_tmpl.h.
// A block is BYTES channels, or the few channels of `parts` neighboring positions. The bytes of a group of taps
// are interleaved within each 16 bytes, so that lanes hold one channel's and one instruction multiplies and adds them;
// the four vectors of sums hold channels in the order of hl_depthwise_channel, which narrowing undoes.
#ifndef HALITE_FAST_SIMD_DEPTHWISE_TMPL_H
#define HALITE_FAST_SIMD_DEPTHWISE_TMPL_H

// BYTES / parts bytes of each of `parts` positions, from channel c on.
INLINE u8_vector load_parts(const void *const *x, ptrdiff_t step, int c, int parts)
{
    const uint8_t *first = (const uint8_t *)x[0] + c;
    u8_vector bytes;
#if defined __AVX512F__
    if (parts == 4) {
        __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const void *)first)),
                                              _mm_loadu_si128(x[step]), 1);
        __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(x[2 * step])),
                                               _mm_loadu_si128(x[3 * step]), 1);
        return (u8_vector)_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
    }
    if (parts == 2)
        return (u8_vector)_mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256((const void *)first)),
                                             _mm256_loadu_si256(x[step]), 1);
#elif defined __AVX2__
    if (parts == 2)
        return (u8_vector)_mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const void *)first)),
                                                  _mm_loadu_si128(x[step]), 1);
#else
    (void)step, (void)parts;
#endif
    memcpy(&bytes, first, sizeof bytes);
    return bytes;
}

// The bytes of a group of taps, interleaved and ready to be multiplied.
INLINE void depthwise_values(const u8_vector bytes[DOT_WIDTH], u32_vector values[4])
{
    u8_vector low = interleave_low_8(bytes[0], bytes[1]), high = interleave_high_8(bytes[0], bytes[1]);
#if defined __AVX512VNNI__
    u8_vector low2 = interleave_low_8(bytes[2], bytes[3]), high2 = interleave_high_8(bytes[2], bytes[3]);
    values[0] = (u32_vector)interleave_low_16(low, low2), values[1] = (u32_vector)interleave_high_16(low, low2);
    values[2] = (u32_vector)interleave_low_16(high, high2), values[3] = (u32_vector)interleave_high_16(high, high2);
#else
    u8_vector zero = {0};
    values[0] = (u32_vector)interleave_low_8(low, zero), values[1] = (u32_vector)interleave_high_8(low, zero);
    values[2] = (u32_vector)interleave_low_8(high, zero), values[3] = (u32_vector)interleave_high_8(high, zero);
#endif
}

// Sums of one block, whose first position has the pointers x, and first channel c.
INLINE void depthwise_sums(const struct hl_depthwise_run *run, const void *const *x, int c, int block, int parts,
                           int groups, int layers, u32_vector sums[4])
{
    const int32_t *start = (const int32_t *)run->start + (ptrdiff_t)block * BYTES;
    const int32_t *w = (const int32_t *)run->w + (ptrdiff_t)block * groups * layers * BYTES;
    u8_vector flip = (u8_vector){0} + run->flip;
    UNROLL for (int v = 0; v < 4; v++) sums[v] = load_i32(start + v * LANES);
    for (int t = 0; t < groups * DOT_WIDTH; t += DOT_WIDTH) {
        u8_vector bytes[DOT_WIDTH];
        u32_vector values[4];
        UNROLL for (int i = 0; i < DOT_WIDTH; i++) bytes[i] =
            load_parts(x + run->tap[t + i], run->x_step, c, parts) ^ flip;
        depthwise_values(bytes, values);
        for (int layer = 0; layer < layers; layer++, w += BYTES)
            UNROLL for (int v = 0; v < 4; v++) sums[v] = ADD_DOTS(sums[v], load_i32(w + v * LANES), values[v]);
    }
}

#if defined RESCALES
// The stored bytes of a block, channels in their own order.
INLINE u8_vector depthwise_stored(const struct hl_requantize *by, int block, const u32_vector sums[4])
{
    u32_vector values[4];
    UNROLL for (int v = 0; v < 4; v++)
    {
        ptrdiff_t i = (ptrdiff_t)block * BYTES + v * LANES;
        values[v] =
            rescale_lanes(sums[v], load_i32(by->multiplier + i), load_i32(by->left + i), load_i32(by->right + i));
    }
    return narrow(values, by->zero, by->low, by->high);
}
#endif

// Sums in the channels' own order.
INLINE void depthwise_ordered(const u32_vector sums[4], int32_t *ordered)
{
    enum { QUAD = 4 * sizeof(int32_t) };
    UNROLL for (int q = 0; q < LANES / 4; q++) UNROLL for (int v = 0; v < 4; v++)
        memcpy(ordered + q * 16 + v * 4, (const char *)&sums[v] + q * QUAD, QUAD);
}

// One block's outputs: `count` channels of each of the positions [at, at + positions).
INLINE void depthwise_store(const struct hl_depthwise_run *run, int at, int positions, int c, int count, int block,
                            int parts, const u32_vector sums[4])
{
    int width = BYTES / parts;
    if (run->to_floats) {
        int32_t ordered[BYTES];
        depthwise_ordered(sums, ordered);
        struct hl_unquantize by = *run->to_floats;
        by.scales += c, by.bias += c, by.w_sums += c;
        const struct hl_float_tile tile = {&by,          positions, count,
                                           ordered,      width,     (float *)run->y + (ptrdiff_t)at * run->channels + c,
                                           run->channels};
        SYMBOL(hl_microkernels_, KERNELS).unquantize_tile(&tile);
        return;
    }
    uint8_t *y = (uint8_t *)run->y + (ptrdiff_t)at * run->channels + c;
#if defined RESCALES
    u8_vector bytes = depthwise_stored(run->to_bytes, block, sums);
    if (count == width && positions == parts) {
        memcpy(y, &bytes, sizeof bytes);
        return;
    }
    uint8_t out[BYTES];
    memcpy(out, &bytes, sizeof bytes);
    for (int p = 0; p < positions; p++) memcpy(y + (ptrdiff_t)p * run->channels, out + p * width, (size_t)count);
#else
    int32_t ordered[BYTES];
    depthwise_ordered(sums, ordered);
    for (int p = 0; p < positions; p++)
        SYMBOL(hl_microkernels_, KERNELS)
            .requantize(run->to_bytes, ordered + p * width, 0, (int64_t)block * BYTES + p * width, count,
                        y + (ptrdiff_t)p * run->channels);
#endif
}

// How many groups the taps of a 3x3 window are.
enum { DOTS_3X3 = (9 + DOT_WIDTH - 1) / DOT_WIDTH };

// `groups` and `layers` are constants where that pays; `loads`: from how many places a vector comes.
INLINE void depthwise_all(const struct hl_depthwise_run *shared, int loads, int groups, int layers)
{
    const struct hl_depthwise_run run = *shared; // which bytes that are stored cannot change
    int parts = loads > 1 ? loads : run.parts;
    int channels = run.channels, last = channels < BYTES ? 0 : channels - BYTES,
        count = channels < BYTES ? channels : BYTES;
    for (int at = 0; at < run.count; at += parts) {
        int positions = run.count - at < parts ? run.count - at : parts;
        const void *const *x = run.x + (ptrdiff_t)at * run.x_step;
        for (int block = 0, c = 0; c < channels; block++, c += BYTES) {
            int first = c < last ? c : last; // some channels twice
            u32_vector sums[4];
            depthwise_sums(&run, x, first, block, loads, groups, layers, sums);
            depthwise_store(&run, at, positions, first, count, block, parts, sums);
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

#if defined __AVX512VNNI__
// A column of a 3x3 window.
INLINE void depthwise_column(const struct hl_depthwise_run *run, int column, int c, u32_vector values[4])
{
    const void *const *x = run->x + (ptrdiff_t)column * 3;
    u8_vector flip = (u8_vector){0} + run->flip, bytes[4] = {{0}, {0}, {0}, {0}};
    UNROLL for (int i = 0; i < 3; i++) bytes[i] = load_parts(x + i, 0, c, 1) ^ flip;
    depthwise_values(bytes, values);
}

// More: the second layer, which is the same for all weights.
INLINE void depthwise_add(u32_vector sums[4], const u32_vector from[4], const u32_vector w[4], const u32_vector *more,
                          const u32_vector values[4])
{
    UNROLL for (int v = 0; v < 4; v++) sums[v] = add_quads(from[v], w[v], values[v]);
    if (more) UNROLL for (int v = 0; v < 4; v++) sums[v] = add_quads(sums[v], *more, values[v]);
}

// 3x3 windows next to each other: weights stay in registers, and each column is interleaved once, for the sums of all
// windows that it is in. (MobileNet v1 int8: 0.8 ms, 1.2 ms with the loops above.)
INLINE void depthwise_3x3(const struct hl_depthwise_run *shared, int stride, int layers)
{
    const struct hl_depthwise_run run = *shared;
    int channels = run.channels, last = channels < BYTES ? 0 : channels - BYTES,
        count = channels < BYTES ? channels : BYTES;
    for (int block = 0, c = 0; c < channels; block++, c += BYTES) {
        int first = c < last ? c : last;
        const int32_t *weights = (const int32_t *)run.w + (ptrdiff_t)block * 3 * layers * BYTES;
        u32_vector w[3][4], start[4], sums[4], next[4], values[4], second = load_i32(weights + (layers - 1) * BYTES);
        const u32_vector *more = layers == 2 ? &second : NULL;
        UNROLL for (int v = 0; v < 4; v++)
        {
            start[v] = load_i32((const int32_t *)run.start + (ptrdiff_t)block * BYTES + v * LANES);
            UNROLL for (int l = 0; l < 3; l++) w[l][v] = load_i32(weights + l * layers * BYTES + v * LANES);
        }
        depthwise_column(&run, 0, first, values);
        depthwise_add(sums, start, w[0], more, values);
        if (stride == 1) {
            depthwise_column(&run, 1, first, values);
            depthwise_add(sums, sums, w[1], more, values);
            depthwise_add(next, start, w[0], more, values);
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
                depthwise_add(next, start, w[0], more, values);
            } else {
                depthwise_add(sums, start, w[0], more, values);
            }
            depthwise_store(&run, at, 1, first, count, block, 1, done);
        }
    }
}

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

static void depthwise_integer(const struct hl_depthwise_run *run)
{
#if defined __AVX512VNNI__
    if (depthwise_3x3_done(run)) return;
#endif
    switch (run->side_by_side ? 1 : run->parts) {
#if defined __AVX512F__
    case 4: depthwise_any(run, 4); break;
#endif
#if defined __AVX2__
    case 2: depthwise_any(run, 2); break;
#endif
    default: depthwise_any(run, 1);
    }
}

#endif
