// SPDX-License-Identifier: Apache-2.0
// The microkernels of pools (struct hl_pool_run of ops/common/pool_rows.h). Windows are read a few vectors of channels
// at a time, tap by tap in the order of the plain kernels, so that floats are the same, too. Few channels are read and
// written as a whole vector where memory goes on; what is written beyond them is overwritten by the next position.
#ifndef HALITE_FAST_SIMD_POOL_TMPL_H
#define HALITE_FAST_SIMD_POOL_TMPL_H

#include <float.h>
#include <stdbool.h>

#include "abi/built_types.h"
#include "fast/simd/vector.h"
#include "ops/common/pool_rows.h"

enum { POOL_VECTORS = 4, QUAD = 16 };

// What the values of a kind become. Bytes are taken as uint8: int8 have their highest bit flipped on the way, and back.
enum pool_way { AVERAGE_FLOATS, AVERAGE_BYTES, MAX_FLOATS, MAX_BYTES };

// Averages of bytes are taken in floats, which hold sums below 2^24 exactly. A quotient that is no integer is further
// than 2^-16 from one, and a float of up to 8 bits before the point has 2^-17 of error at most.
enum { MAX_POOL_TAPS = 1 << 15 };

INLINE u32_vector pool_step(enum pool_way way, uint8_t flip, u32_vector sum, const char *at)
{
    switch (way) {
    case AVERAGE_FLOATS: return (u32_vector)((f32_vector)sum + (f32_vector)load_u32(at));
    case MAX_FLOATS: return (u32_vector)max_f32((f32_vector)load_u32(at), (f32_vector)sum);
    case AVERAGE_BYTES: return sum + (load_u8_as_i32((const uint8_t *)at) ^ flip);
    default: return (u32_vector)max_u8((u8_vector)load_u32(at) ^ flip, (u8_vector)sum);
    }
}

INLINE void pool_store(enum pool_way way, uint8_t flip, const struct hl_pool_run *run, u32_vector sum, char *y)
{
    const int taps = run->rows * run->columns;
    if (way == MAX_FLOATS) {
        store_f32((float *)(void *)y, clamp_f32((f32_vector)sum, run->low_f32, run->high_f32));
    } else if (way == AVERAGE_FLOATS) {
        store_f32((float *)(void *)y, clamp_f32((f32_vector)sum / (float)taps, run->low_f32, run->high_f32));
    } else if (way == MAX_BYTES) {
        const uint8_t above = (uint8_t) ~((uint8_t)run->high ^ flip);
        const u8_vector bytes = ~max_u8(~(u8_vector)sum, above + (u8_vector){0}) ^ flip;
        memcpy(y, &bytes, sizeof bytes);
    } else {
        // Half of the taps is added with the sum's sign.
        const i32_vector sums = (i32_vector)sum - flip * taps, half = taps / 2 + (i32_vector){0};
        const i32_vector nudged = sums - half + ((sums > 0) & (2 * half));
        const f32_vector mean = __builtin_convertvector(nudged, f32_vector) / (float)taps;
        store_bytes((uint8_t *)y, to_i32(clamp_f32(mean, (float)run->low, (float)run->high)));
    }
}

// x: the first tap. So many vectors lie x_apart bytes apart, and those that they become y_apart.
INLINE void pool_vectors(enum pool_way way, uint8_t flip, const struct hl_pool_run *run, const char *x, char *y,
                         int vectors, ptrdiff_t x_apart, ptrdiff_t y_apart)
{
    const ptrdiff_t size = way == AVERAGE_FLOATS || way == MAX_FLOATS ? 4 : 1;
    const u8_vector low = (uint8_t)((uint8_t)run->low ^ flip) + (u8_vector){0};
    u32_vector sums[POOL_VECTORS];
    UNROLL for (int v = 0; v < vectors; v++) sums[v] = way == MAX_FLOATS  ? (u32_vector)splat_f32(-FLT_MAX)
                                                       : way == MAX_BYTES ? (u32_vector)low
                                                                          : splat_i32(0);
    for (int k = 0; k < run->rows; k++, x += run->down * size) {
        const char *at = x;
        for (int l = 0; l < run->columns; l++, at += run->right * size)
            UNROLL for (int v = 0; v < vectors; v++) sums[v] = pool_step(way, flip, sums[v], at + v * x_apart);
    }
    UNROLL for (int v = 0; v < vectors; v++) pool_store(way, flip, run, sums[v], y + v * y_apart);
}

// The same for the largest of 16 bytes.
#if BYTES_ABOVE_QUAD
INLINE void pool_quads(uint8_t flip, const struct hl_pool_run *run, const char *x, char *y, int quads,
                       ptrdiff_t x_apart, ptrdiff_t y_apart)
{
    const uint8_t low = (uint8_t)run->low ^ flip, above = (uint8_t) ~((uint8_t)run->high ^ flip);
    u8_quad largest[POOL_VECTORS];
    UNROLL for (int q = 0; q < quads; q++) largest[q] = low + (u8_quad){0};
    for (int k = 0; k < run->rows; k++, x += run->down) {
        const char *at = x;
        for (int l = 0; l < run->columns; l++, at += run->right) UNROLL for (int q = 0; q < quads; q++)
            {
                u8_quad values;
                memcpy(&values, at + q * x_apart, sizeof values);
                largest[q] = max_u8_quad(values ^ flip, largest[q]);
            }
    }
    UNROLL for (int q = 0; q < quads; q++)
    {
        const u8_quad bytes = ~max_u8_quad(~largest[q], above + (u8_quad){0}) ^ flip;
        memcpy(y + q * y_apart, &bytes, sizeof bytes);
    }
}
#else
INLINE void pool_quads(uint8_t flip, const struct hl_pool_run *run, const char *x, char *y, int quads,
                       ptrdiff_t x_apart, ptrdiff_t y_apart)
{
    (void)flip, (void)run, (void)x, (void)y, (void)quads, (void)x_apart, (void)y_apart;
}
#endif

// `count` vectors of `values` bytes. Those that lie further behind than `last` begin there, and some values are
// computed again.
INLINE void pool_pieces(enum pool_way way, uint8_t flip, const struct hl_pool_run *run, const char *x, char *y,
                        int64_t count, ptrdiff_t x_apart, ptrdiff_t y_apart, ptrdiff_t last)
{
    const bool quads = BYTES_ABOVE_QUAD && way == MAX_BYTES && run->count <= QUAD;
    int64_t i = 0;
    for (; i + POOL_VECTORS <= count && (i + POOL_VECTORS - 1) * x_apart <= last; i += POOL_VECTORS)
        if (quads)
            pool_quads(flip, run, x + i * x_apart, y + i * y_apart, POOL_VECTORS, x_apart, y_apart);
        else
            pool_vectors(way, flip, run, x + i * x_apart, y + i * y_apart, POOL_VECTORS, x_apart, y_apart);
    for (; i < count; i++) {
        const ptrdiff_t less = i * x_apart > last ? i * x_apart - last : 0;
        const char *from = x + i * x_apart - less;
        if (quads)
            pool_quads(flip, run, from, y + i * y_apart - less, 1, x_apart, y_apart);
        else
            pool_vectors(way, flip, run, from, y + i * y_apart - less, 1, x_apart, y_apart);
    }
}

INLINE void pool_any(enum pool_way way, enum hl_pool_kind kind, uint8_t flip, const struct hl_pool_run *shared)
{
    const struct hl_pool_run run = *shared; // a copy, because stored values might alias the original
    const ptrdiff_t size = way == AVERAGE_FLOATS || way == MAX_FLOATS ? 4 : 1;
    const ptrdiff_t values = way != MAX_BYTES ? LANES : BYTES_ABOVE_QUAD && run.count <= QUAD ? QUAD : BYTES;
    const ptrdiff_t x_step = run.step * size, y_step = run.count * size, vector = values * size;
    const ptrdiff_t reach = ((run.rows - 1) * run.down + (run.columns - 1) * run.right) * size + vector;
    const char *x = run.x;
    char *y = run.y;
    // How many positions may be read and written in whole vectors.
    int64_t fit = way == AVERAGE_BYTES && (int64_t)run.rows * run.columns > MAX_POOL_TAPS ? 0 : run.positions;
    const bool few = run.count <= values;
    while (run.count < values && fit > 0 &&
           ((const char *)run.x_end - x < (fit - 1) * x_step + reach ||
            (char *)run.y_end - y < (fit - 1) * y_step + vector))
        fit--;
    // Few channels of all positions, or all channels of one.
    const int64_t turns = few ? 1 : fit, pieces = few ? fit : (run.count - 1) / values + 1;
    const ptrdiff_t x_apart = few ? x_step : vector, y_apart = few ? y_step : vector;
    const ptrdiff_t last = few ? PTRDIFF_MAX : y_step - vector;
    for (int64_t turn = 0; turn < turns; turn++)
        pool_pieces(way, flip, &run, x + turn * x_step, y + turn * y_step, pieces, x_apart, y_apart, last);
    if (fit == run.positions) return;
    struct hl_pool_run rest = run;
    rest.x = x + fit * x_step, rest.y = y + fit * y_step, rest.positions -= fit;
    hl_pool_plain[kind](&rest);
}

static void pool_average_f32(const struct hl_pool_run *run)
{
    pool_any(AVERAGE_FLOATS, HL_POOL_AVERAGE_F32, 0, run);
}

static void pool_max_f32(const struct hl_pool_run *run)
{
    pool_any(MAX_FLOATS, HL_POOL_MAX_F32, 0, run);
}

// One function for both types, because what differs costs nothing.
static void pool_average_bytes(const struct hl_pool_run *run)
{
    pool_any(AVERAGE_BYTES, run->is_signed ? HL_POOL_AVERAGE_I8 : HL_POOL_AVERAGE_U8, run->is_signed ? 0x80 : 0, run);
}

static void pool_max_bytes(const struct hl_pool_run *run)
{
    pool_any(MAX_BYTES, run->is_signed ? HL_POOL_MAX_I8 : HL_POOL_MAX_U8, run->is_signed ? 0x80 : 0, run);
}

static hl_pool_kernel *const pool_kernels[HL_POOL_LEVEL_KINDS] = {
    [HL_POOL_AVERAGE_F32] = HL_WHERE(HL_HAS_AVERAGE_POOL && HL_HAS_FLOATS, pool_average_f32),
    [HL_POOL_AVERAGE_U8] = HL_WHERE(HL_HAS_AVERAGE_POOL && HL_HAS_BYTES, pool_average_bytes),
    [HL_POOL_AVERAGE_I8] = HL_WHERE(HL_HAS_AVERAGE_POOL && HL_HAS_BYTES, pool_average_bytes),
    [HL_POOL_MAX_F32] = HL_WHERE(HL_HAS_MAX_POOL && HL_HAS_FLOATS, pool_max_f32),
    [HL_POOL_MAX_U8] = HL_WHERE(HL_HAS_MAX_POOL && HL_HAS_BYTES, pool_max_bytes),
    [HL_POOL_MAX_I8] = HL_WHERE(HL_HAS_MAX_POOL && HL_HAS_BYTES, pool_max_bytes),
};

#endif
