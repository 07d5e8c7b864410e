// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution of floats for two output rows of square windows at once, which share most rows of the input:
// what a vector of channels reads from the second-level cache is what takes the time. (3x3, 14x14, 384 channels: 15.6
// us row by row, 9.8 so; 5x5, 480 channels: 52.7, 30.8.) depthwise_f32_tmpl.h includes this file for vectors, where
// PAIR(word) is the word, and for halves of them, where it is word_half; PAIR_VECTOR is the type.
#ifndef PAIR
#error "depthwise_f32_tmpl.h includes this file, and says what PAIR is"
#endif

INLINE void PAIR(depthwise_pair_block_f32)(const struct hl_depthwise_run *run, int at, int c,
                                           const PAIR_VECTOR *weights, PAIR_VECTOR initial, int size, int stride)
{
    const void *const *x = run->x + (ptrdiff_t)at * stride * run->height;
    PAIR_VECTOR sums[2][POSITIONS];
    UNROLL for (int r = 0; r < 2; r++) UNROLL for (int p = 0; p < POSITIONS; p++) sums[r][p] = (PAIR_VECTOR){0};
    UNROLL for (int i = 0; i < size + stride; i++)
        UNROLL for (int column = 0; column < (POSITIONS - 1) * stride + size; column++)
    {
        const PAIR_VECTOR value = PAIR(load_f32)((const float *)x[(ptrdiff_t)column * run->height + i] + c);
        UNROLL for (int r = 0; r < 2; r++) UNROLL for (int p = 0; p < POSITIONS; p++)
        {
            const int k = i - r * stride, l = column - p * stride;
            if (k >= 0 && k < size && l >= 0 && l < size)
                sums[r][p] = PAIR(add_product)(sums[r][p], weights[k * size + l], value);
        }
    }
    float *y = (float *)run->y + (ptrdiff_t)at * run->channels + c;
    UNROLL for (int r = 0; r < 2; r++) UNROLL for (int p = 0; p < POSITIONS; p++)
        PAIR(store_f32)(y + r * run->y_row + (ptrdiff_t)p * run->channels,
                        PAIR(clamp_f32)(sums[r][p] + initial, run->low, run->high));
}

// A vector of channels of some positions, whose weights stay in registers.
INLINE void PAIR(depthwise_pair_channels_f32)(const struct hl_depthwise_run *run, int at, int end, int c, int size,
                                              int stride)
{
    PAIR_VECTOR weights[MAX_KW * MAX_KW];
    const PAIR_VECTOR initial = PAIR(load_f32)((const float *)run->initial + c);
    for (int t = 0; t < size * size; t++)
        weights[t] = PAIR(load_f32)((const float *)run->w + (ptrdiff_t)t * run->channels + c);
    for (; at + POSITIONS <= end; at += POSITIONS)
        PAIR(depthwise_pair_block_f32)(run, at, c, weights, initial, size, stride);
    if (at < end) PAIR(depthwise_pair_block_f32)(run, end - POSITIONS, c, weights, initial, size, stride);
}

#undef PAIR
#undef PAIR_VECTOR
