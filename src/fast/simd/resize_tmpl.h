// SPDX-License-Identifier: Apache-2.0
// RESIZE_BILINEAR of one output row (struct hl_resize_row of simd.h). First the two input rows are mixed, then each
// output pixel is mixed from two pixels of that row. Pixels are stored as whole vectors, whose surplus the next pixel
// overwrites; the last pixels of a row go through a small buffer.
#ifndef HALITE_FAST_SIMD_RESIZE_TMPL_H
#define HALITE_FAST_SIMD_RESIZE_TMPL_H

#include "fast/simd/simd.h"
#include "fast/simd/vector.h"

// Values [i, i + LANES) of a pixel, from its left and right neighbor in row->mixed. Floats have one mixed row. Uint8
// has the products of the upper and of the lower row, because the reference rounds each product. Int8 has one row, in
// units of 2^-10.
INLINE f32_vector mix_f32(const struct hl_resize_row *row, int pixel, int64_t i)
{
    const float *mixed = row->mixed;
    f32_vector left = load_f32(mixed + row->left[pixel] + i);
    f32_vector right = load_f32(mixed + row->right[pixel] + i);
    float part = row->part[pixel];
    return left * (1 - part) + right * part;
}

INLINE i32_vector mix_u8(const struct hl_resize_row *row, int pixel, int64_t i)
{
    const float *top = row->mixed, *bottom = top + row->in_count + HL_RESIZE_SPARE;
    int32_t left = row->left[pixel], right = row->right[pixel];
    float part = row->part[pixel], rest = 1 - part;
    return to_i32(load_f32(top + left + i) * rest + load_f32(bottom + left + i) * rest +
                  load_f32(top + right + i) * part + load_f32(bottom + right + i) * part + 0.5f);
}

INLINE i32_vector mix_i8(const struct hl_resize_row *row, int pixel, int64_t i)
{
    const int32_t *mixed = row->mixed;
    int32_t part = row->part_1024[pixel];
    i32_vector sum = (i32_vector)(load_i32(mixed + row->left[pixel] + i) * (uint32_t)(1024 - part) +
                                  load_i32(mixed + row->right[pixel] + i) * (uint32_t)part);
    // Adds half of 2^20 away from zero; the division then truncates towards zero.
    i32_vector negative = sum >> 31;
    sum += (1 << 19) - (negative & (1 << 20));
    negative = sum >> 31;
    return (sum + (negative & ((1 << 20) - 1))) >> 20;
}

// Vectors go beyond a pixel's channels where the next pixel follows there, or where they do not.
#define MIX_ROW(name, Type, mix, store)                                                      \
    INLINE void name(const struct hl_resize_row *row)                                        \
    {                                                                                        \
        Type *y = row->y;                                                                    \
        int channels = row->channels, covered = (channels + LANES - 1) / LANES * LANES;      \
        const int64_t stride = row->y_stride;                                                \
        int64_t count = covered == channels || stride == channels ? row->width * stride : 0; \
        int64_t at = 0;                                                                      \
        int pixel = 0;                                                                       \
        for (; at + covered <= count; pixel++, at += stride)                                 \
            for (int i = 0; i < channels; i += LANES) store(y + at + i, mix(row, pixel, i)); \
        for (; pixel < row->width; pixel++, at += stride)                                    \
            for (int i = 0; i < channels; i += LANES) {                                      \
                Type some[LANES];                                                            \
                int left = channels - i < LANES ? channels - i : LANES;                      \
                store(some, mix(row, pixel, i));                                             \
                memcpy(y + at + i, some, (size_t)left * sizeof *y);                          \
            }                                                                                \
    }
MIX_ROW(mix_row_f32, float, mix_f32, store_f32)
MIX_ROW(mix_row_u8, uint8_t, mix_u8, store_bytes)
MIX_ROW(mix_row_i8, uint8_t, mix_i8, store_bytes)

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
