// SPDX-License-Identifier: Apache-2.0
// The microkernels of struct hl_microkernels in simd.h: all that do not depend on how integers are multiplied. A
// level_*.c that has microkernels of its own includes this file after it has defined KERNELS, the name of the level.
#ifndef HALITE_FAST_SIMD_MICROKERNELS_TMPL_H
#define HALITE_FAST_SIMD_MICROKERNELS_TMPL_H

#include "fast/simd/depthwise_f32_tmpl.h"
#include "fast/simd/elements_tmpl.h"
#include "fast/simd/resize_tmpl.h"
#include "fast/simd/rows_tmpl.h"
#include "fast/simd/scatter_add_tmpl.h"
#include "fast/simd/simd.h"
#include "fast/simd/softmax_tmpl.h"
#include "fast/simd/tile_tmpl.h"
#include "fast/simd/vector.h"

extern const struct hl_microkernels SYMBOL(hl_microkernels_, KERNELS);

// ---- products of floats -------------------------------------------------------------------------

INLINE void tile_f32(const struct hl_tile *tile, int rows, int vectors)
{
    const float *x = tile->x, *w = tile->w, *start = tile->start;
    ptrdiff_t stride = tile->x_stride;
    f32_vector sums[ROWS][2];
    UNROLL for (int r = 0; r < rows; r++)
    {
        sums[r][0] = splat_f32(0);
        if (vectors == 2) sums[r][1] = splat_f32(0);
    }
    for (int segment = 0; segment <= tile->segments; segment++, x += tile->x_segment - tile->steps)
        for (int64_t k = 0; k < tile->steps; k++, w += COLUMNS, x++) {
            f32_vector w0 = load_f32(w), w1 = vectors == 2 ? load_f32(w + LANES) : w0;
            if (rows > FEW_ROWS) fetch((const char *)w + tile->ahead);
            UNROLL for (int r = 0; r < rows; r++)
            {
                f32_vector value = splat_f32(x[r * stride]);
                sums[r][0] = add_product(sums[r][0], w0, value);
                if (vectors == 2) sums[r][1] = add_product(sums[r][1], w1, value);
            }
        }
    UNROLL for (int r = 0; r < rows; r++)
    {
        float *y = (float *)tile->y + r * tile->y_stride;
        UNROLL for (int v = 0; v < vectors; v++)
            store_f32(y + v * LANES, clamp_f32(sums[r][v] + load_f32(start + v * LANES), tile->low, tile->high),
                      tile->columns - v * LANES);
    }
}

// Each product is rounded before it is added. Rows of x are in one piece.
static void multiply_rounded(const struct hl_tile *tile)
{
    for (int r = 0; r < tile->rows; r++)
        for (int c = 0; c < tile->columns; c += LANES) {
            const float *x = (const float *)tile->x + r * tile->x_stride, *w = (const float *)tile->w + c;
            f32_vector sum = splat_f32(0);
            for (int64_t k = 0; k < tile->steps; k++, w += COLUMNS) sum += load_f32(w) * x[k];
            sum += load_f32((const float *)tile->start + c);
            store_f32((float *)tile->y + r * tile->y_stride + c, clamp_f32(sum, tile->low, tile->high),
                      tile->columns - c);
        }
}

static void multiply_f32(const struct hl_tile *tile)
{
    if (tile->rounded) {
        multiply_rounded(tile);
        return;
    }
    switch (tile->rows) {
        CASES(tile_f32)
    }
}

// ---- sums to bytes ------------------------------------------------------------------------------

// hl_rescale_apply, in a form that compilers turn into vectors: half up in the high product equals its nudge and
// division. The clamp comes before the zero point so that nothing overflows.
static void requantize(const struct hl_requantize *by, const int32_t *restrict sums, uint32_t less, int64_t first,
                       int count, uint8_t *restrict y)
{
    const int32_t *restrict multiplier = by->multiplier + first;
    const int32_t *restrict left = by->left + first, *restrict right = by->right + first;
    int32_t zero = by->zero, low = by->low - zero, high = by->high - zero;
    int c = 0;
#if defined RESCALES
    for (; c + LANES <= count; c += LANES) {
        u32_vector value =
            rescale_lanes(load_i32(sums + c) - less, load_i32(multiplier + c), load_i32(left + c), load_i32(right + c));
        store_clamped(y + c, value, zero, by->low, by->high);
    }
#endif
    for (; c < count; c++) {
        int64_t product =
            (int64_t)(int32_t)(((uint32_t)sums[c] - less) << left[c]) * multiplier[c] + (INT64_C(1) << 30);
        int32_t value = (int32_t)(uint32_t)((uint64_t)product >> 31);
        int32_t mask = (int32_t)((UINT32_C(1) << right[c]) - 1);
        int32_t rest = value & mask, half = (mask >> 1) + (value < 0);
        value = (value >> right[c]) + (rest > half);
        value = value < low ? low : value > high ? high : value;
        y[c] = (uint8_t)(value + zero);
    }
}

// The range is one of whole numbers: cut to it before they are rounded, all values round as they would uncut. (Ten
// layers of
// 1,700 values in all, one by one: 6.5 us of 11.9; so: 1.4 of 5.1.)
static void scale_tile(const struct hl_byte_tile *tile)
{
    const int32_t zero = tile->by->zero;
    const double low = tile->by->low - zero, high = tile->by->high - zero;
    for (int c = 0; c < tile->columns; c += LANES) {
        const int count = tile->columns - c;
        for (int r = 0; r < tile->rows; r++) {
            u32_vector sums =
                load_i32(tile->sums + r * tile->sums_stride + c) - (uint32_t)(tile->less ? tile->less[r] : 0);
            const double *scales = tile->scales + tile->first + c;
            i32_half halves[2];
            memcpy(halves, &sums, sizeof sums);
            i32_vector values = join(rounded_products(halves[0], scales, low, high),
                                     rounded_products(halves[1], scales + LANES / 2, low, high));
            uint8_t *y = tile->y + r * tile->y_stride + c, some[LANES];
            store_bytes(count < LANES ? some : y, values + zero);
            if (count < LANES) memcpy(y, some, (size_t)count);
        }
    }
}

// The multipliers of a vector of columns stay in registers for all rows.
static void requantize_tile(const struct hl_byte_tile *tile)
{
    const struct hl_requantize *by = tile->by;
    if (tile->scales) {
        scale_tile(tile);
        return;
    }
#if defined RESCALES
    for (int c = 0; c < tile->columns; c += LANES) {
        u32_vector multiplier = load_i32(by->multiplier + tile->first + c);
        u32_vector left = load_i32(by->left + tile->first + c), right = load_i32(by->right + tile->first + c);
        int count = tile->columns - c;
        for (int r = 0; r < tile->rows; r++) {
            u32_vector sums =
                load_i32(tile->sums + r * tile->sums_stride + c) - (uint32_t)(tile->less ? tile->less[r] : 0);
            uint8_t *y = tile->y + r * tile->y_stride + c, some[LANES];
            store_clamped(count < LANES ? some : y, rescale_lanes(sums, multiplier, left, right), by->zero, by->low,
                          by->high);
            if (count < LANES) memcpy(y, some, (size_t)count);
        }
    }
#else
    for (int r = 0; r < tile->rows; r++)
        requantize(by, tile->sums + r * tile->sums_stride, (uint32_t)(tile->less ? tile->less[r] : 0), tile->first,
                   tile->columns, tile->y + r * tile->y_stride);
#endif
}

// What the columns have stays in registers for all rows.
static void unquantize_tile(const struct hl_float_tile *tile)
{
    const struct hl_unquantize by = *tile->by;
    for (int c = 0; c < tile->columns; c += LANES) {
        const f32_vector bias = load_f32(by.bias + c), both = load_f32(by.scales + c);
        const f32_vector first = by.two_steps ? both : both * by.x_scale,
                         second = splat_f32(by.two_steps ? by.x_scale : 1);
        const u32_vector less = load_u32(by.w_sums + c) * by.zero;
        for (int r = 0; r < tile->rows; r++) {
            const i32_vector sums = (i32_vector)(load_i32(tile->sums + r * tile->sums_stride + c) - less);
            const f32_vector value = __builtin_convertvector(sums, f32_vector) * first * second + bias;
            store_f32(tile->y + r * tile->y_stride + c, clamp_f32(value, by.low, by.high), tile->columns - c);
        }
    }
}

// Rows may be short: the last word may overlap the one before, so that few bytes are left to a loop.
static void xor_bytes(const uint8_t *restrict x, uint8_t bits, int64_t count, uint8_t *restrict y)
{
    enum { WORD = 8 };
    const uint64_t mask = bits * UINT64_C(0x0101010101010101);
    uint64_t word;
    int64_t i = 0;
    for (; i + BYTES <= count; i += BYTES) {
        u8_vector v;
        memcpy(&v, x + i, sizeof v);
        v ^= bits;
        memcpy(y + i, &v, sizeof v);
    }
    for (; i < count && count >= WORD; i += WORD) {
        int64_t at = i + WORD <= count ? i : count - WORD;
        memcpy(&word, x + at, WORD);
        word ^= mask;
        memcpy(y + at, &word, WORD);
    }
    for (; i < count; i++) y[i] = x[i] ^ bits;
}

static void widen(const uint8_t *restrict x, int is_unsigned, int zero, int64_t count, int16_t *restrict wide)
{
    if (is_unsigned)
        for (int64_t i = 0; i < count; i++) wide[i] = (int16_t)(x[i] - zero);
    else
        for (int64_t i = 0; i < count; i++) wide[i] = (int16_t)((int8_t)x[i] - zero);
}

const struct hl_microkernels SYMBOL(hl_microkernels_, KERNELS) = {
    .multiply_f32 = multiply_f32,
    .requantize = requantize,
    .requantize_tile = requantize_tile,
    .unquantize_tile = unquantize_tile,
    .xor_bytes = xor_bytes,
    .row_loops = ROW_LOOPS,
    .widen = widen,
    .depthwise_f32 = depthwise_f32,
    .elements = &element_loops,
    .scatter_add_f32 = scatter_add_f32,
    .scatter_add_integer = scatter_add_integer,
    .softmax_f32 = softmax_f32,
    .resize_f32 = resize_f32,
    .resize_u8 = resize_u8,
    .resize_i8 = resize_i8,
};

#endif
