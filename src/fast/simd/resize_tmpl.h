// SPDX-License-Identifier: Apache-2.0
// Rows of struct hl_resize_row, in the words of vector.h. Included by microkernels_tmpl.h, so once for each level.
// The two input rows are mixed first, all of them; then each output pixel mixes two places of that. Pixels are written
// in whole vectors, what is too much by the next pixel again; the last pixels of a row go by way of a small buffer.
#ifndef HALITE_FAST_SIMD_RESIZE_TMPL_H
#define HALITE_FAST_SIMD_RESIZE_TMPL_H

#include "fast/simd/simd.h"
#include "fast/simd/vector.h"

static inline void store_low_bytes(uint8_t *at, u32_vector v)
{
#if defined __AVX512F__
    _mm_storeu_si128((__m128i *)at, _mm512_cvtepi32_epi8((__m512i)v));
#else
    uint8_t bytes[LANES]; // of a vector in memory: compilers pack it
    for (int i = 0; i < LANES; i++) bytes[i] = (uint8_t)v[i];
    memcpy(at, bytes, sizeof bytes);
#endif
}

// Values [i, i + LANES) of the pixel's neighbors, mixed. Of the parts that the stored rows have: floats, one of both
// rows; uint8, the upper row's and the lower one's, as their sum is rounded product by product; int8, one in units of
// 2^-10.
INLINE f32_vector mix_f32(const struct hl_resize_row *row, int pixel, int64_t i)
{
    const float *mixed = row->mixed;
    f32_vector left = load_f32(mixed + row->left[pixel] + i);
    f32_vector right = load_f32(mixed + row->right[pixel] + i);
    float part = row->part[pixel];
    return left * (1 - part) + right * part;
}

INLINE u32_vector mix_u8(const struct hl_resize_row *row, int pixel, int64_t i)
{
    const float *top = row->mixed, *bottom = top + row->in_count + HL_RESIZE_SPARE;
    int32_t left = row->left[pixel], right = row->right[pixel];
    float part = row->part[pixel], rest = 1 - part;
    return (u32_vector)to_i32(load_f32(top + left + i) * rest + load_f32(bottom + left + i) * rest +
                              load_f32(top + right + i) * part + load_f32(bottom + right + i) * part + 0.5f);
}

INLINE u32_vector mix_i8(const struct hl_resize_row *row, int pixel, int64_t i)
{
    const int32_t *mixed = row->mixed;
    int32_t part = row->part_1024[pixel];
    i32_vector sum = (i32_vector)(load_i32(mixed + row->left[pixel] + i) * (uint32_t)(1024 - part) +
                                  load_i32(mixed + row->right[pixel] + i) * (uint32_t)part);
    // Half away from zero; the division by 2^20 drops what is left, towards zero. 0 is 0 either way.
    i32_vector negative = sum >> 31;
    sum += (1 << 19) - (negative & (1 << 20));
    negative = sum >> 31;
    return (u32_vector)((sum + (negative & ((1 << 20) - 1))) >> 20);
}

#define STORE_F32(at, v)                  \
    do {                                  \
        f32_vector out_ = (v);            \
        memcpy((at), &out_, sizeof out_); \
    } while (0)

#define MIX_ROW(name, Type, mix, store)                                                      \
    INLINE void name(const struct hl_resize_row *row)                                        \
    {                                                                                        \
        Type *y = row->y;                                                                    \
        int channels = row->channels, covered = (channels + LANES - 1) / LANES * LANES;      \
        int64_t count = (int64_t)row->width * channels, at = 0;                              \
        int pixel = 0;                                                                       \
        for (; at + covered <= count; pixel++, at += channels)                               \
            for (int i = 0; i < channels; i += LANES) store(y + at + i, mix(row, pixel, i)); \
        for (; pixel < row->width; pixel++, at += channels)                                  \
            for (int i = 0; i < channels; i += LANES) {                                      \
                Type some[LANES];                                                            \
                int left = channels - i < LANES ? channels - i : LANES;                      \
                store(some, mix(row, pixel, i));                                             \
                memcpy(y + at + i, some, (size_t)left * sizeof *y);                          \
            }                                                                                \
    }
MIX_ROW(mix_row_f32, float, mix_f32, STORE_F32)
MIX_ROW(mix_row_u8, uint8_t, mix_u8, store_low_bytes)
MIX_ROW(mix_row_i8, uint8_t, mix_i8, store_low_bytes)

static void resize_f32(const struct hl_resize_row *row)
{
    const float *restrict top = row->top, *restrict bottom = row->bottom;
    float *restrict mixed = row->mixed, down = row->down;
    for (int64_t i = 0; i < row->in_count; i++) mixed[i] = top[i] * (1 - down) + bottom[i] * down;
    mix_row_f32(row);
}

static void resize_u8(const struct hl_resize_row *row)
{
    const uint8_t *restrict top = row->top, *restrict bottom = row->bottom;
    float *restrict upper = row->mixed, *restrict lower = upper + row->in_count + HL_RESIZE_SPARE;
    float down = row->down;
    for (int64_t i = 0; i < row->in_count; i++) {
        upper[i] = (float)top[i] * (1 - down);
        lower[i] = (float)bottom[i] * down;
    }
    mix_row_u8(row);
}

static void resize_i8(const struct hl_resize_row *row)
{
    const int8_t *restrict top = row->top, *restrict bottom = row->bottom;
    int32_t *restrict mixed = row->mixed, down = row->down_1024;
    for (int64_t i = 0; i < row->in_count; i++) mixed[i] = top[i] * (1024 - down) + bottom[i] * down;
    mix_row_i8(row);
}

#endif
