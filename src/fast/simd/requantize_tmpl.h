// SPDX-License-Identifier: Apache-2.0
// What integer sums become: 8-bit values (struct hl_byte_tile of simd.h) by fixed-point multipliers or by double
// scales, or floats (struct hl_float_tile).
#ifndef HALITE_FAST_SIMD_REQUANTIZE_TMPL_H
#define HALITE_FAST_SIMD_REQUANTIZE_TMPL_H

#include "fast/simd/simd.h"
#include "fast/simd/tile_tmpl.h"
#include "fast/simd/vector.h"

// hl_rescale_apply of `count` sums; the loop after the vectors is written so that compilers make vectors of it where
// HAS_RESCALE is 0. Halves up in the high product equal the reference's nudge and division. The clamp comes before the
// zero point so that nothing overflows.
static void requantize(const struct hl_requantize *params, const int32_t *restrict sums, uint32_t correction,
                       int64_t first, int count, uint8_t *restrict y)
{
    const int32_t *restrict multiplier = params->multiplier + first;
    const int32_t *restrict left = params->left + first, *restrict right = params->right + first;
    int32_t zero = params->zero, low = params->low - zero, high = params->high - zero;
    int c = 0;
#if HAS_RESCALE
    for (; c + LANES <= count; c += LANES) {
        u32_vector value = rescale_lanes(load_i32(sums + c) - correction, load_i32(multiplier + c), load_i32(left + c),
                                         load_i32(right + c));
        store_clamped(y + c, value, zero, params->low, params->high);
    }
#endif
    for (; c < count; c++) {
        int64_t product =
            (int64_t)(int32_t)(((uint32_t)sums[c] - correction) << left[c]) * multiplier[c] + (INT64_C(1) << 30);
        int32_t value = (int32_t)(uint32_t)((uint64_t)product >> 31);
        int32_t mask = (int32_t)((UINT32_C(1) << right[c]) - 1);
        int32_t rest = value & mask, half = (mask >> 1) + (value < 0);
        value = (value >> right[c]) + (rest > half);
        value = value < low ? low : value > high ? high : value;
        y[c] = (uint8_t)(value + zero);
    }
}

// v[i] * scales[i], clamped to [low, high] and rounded half away from zero.
static inline i32_half rounded_products(i32_half v, const double *scales, double low, double high)
{
    f64_vector x;
    memcpy(&x, scales, sizeof x);
    x = clamp_f64(x * __builtin_convertvector(v, f64_vector), low, high);
    i64_vector half = ((i64_vector)x & INT64_MIN) | (i64_vector)splat_f64(0.5 - 0x1p-54);
    return __builtin_convertvector(x + (f64_vector)half, i32_half);
}

// The range has whole numbers as its ends, so values may be clamped to it before they are rounded. (Ten layers of 1,700
// values in all: 5.1 us, of which this takes 1.4 us; one value at a time 11.9 us, of which 6.5 us.)
static void scale_tile(const struct hl_byte_tile *tile)
{
    const int32_t zero = tile->params->zero;
    const double low = tile->params->low - zero, high = tile->params->high - zero;
    for (int c = 0; c < tile->columns; c += LANES) {
        const int count = tile->columns - c;
        for (int r = 0; r < tile->rows; r++) {
            u32_vector sums = load_i32(tile->sums + r * tile->sums_stride + c) -
                              (uint32_t)(tile->corrections ? tile->corrections[r] : 0);
            const double *scales = tile->scales + tile->first + c;
            i32_half halves[2];
            memcpy(halves, &sums, sizeof sums);
            i32_vector values = join_halves(rounded_products(halves[0], scales, low, high),
                                            rounded_products(halves[1], scales + LANES / 2, low, high));
            uint8_t *y = tile->y + r * tile->y_stride + c, some[LANES];
            store_bytes(count < LANES ? some : y, values + zero);
            if (count < LANES) memcpy(y, some, (size_t)count);
        }
    }
}

#if HAS_RESCALE
// Stores the first `count` bytes, at most half a vector.
INLINE void store_row(uint8_t *y, const uint8_t *from, int count)
{
    for (int piece = BYTES / 2; piece > 0; piece /= 2)
        if (count & piece) {
            memcpy(y, from, (size_t)piece);
            y += piece, from += piece;
        }
}

// The numbers of a panel's columns, which stay in registers for all its rows.
struct column_params {
    u32_vector multiplier[2], left[2], right[2];
    struct right_rescale to_right[2]; // instead of these, with struct hl_requantize.right_only
};

INLINE u32_vector rescale_column(const struct column_params *columns, int v, u32_vector value, bool right_only)
{
    if (right_only) return rescale_right(value, &columns->to_right[v]);
    return rescale_lanes(value, columns->multiplier[v], columns->left[v], columns->right[v]);
}

// Some rows of a panel, at most four vectors of sums, become one vector of bytes.
INLINE u8_vector rescale_rows(const struct hl_requantize *params, const struct column_params *columns,
                              const int32_t *sums, ptrdiff_t stride, const int32_t *corrections, int rows, int vectors,
                              bool right_only)
{
    u32_vector values[4] = {{0}, {0}, {0}, {0}};
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++) values[r * vectors + v] =
        rescale_column(columns, v, load_i32(sums + r * stride + v * LANES) - (uint32_t)corrections[r], right_only);
    return narrow_in_order(values, params->zero, params->low, params->high);
}

INLINE void store_rows(const struct hl_byte_tile *tile, uint8_t *y, u8_vector bytes, int rows, int vectors)
{
    const int width = vectors * LANES;
    uint8_t out[BYTES];
    memcpy(out, &bytes, sizeof bytes);
    if (tile->columns == width)
        UNROLL for (int r = 0; r < rows; r++) memcpy(y + r * tile->y_stride, out + r * width, (size_t)width);
    else
        for (int r = 0; r < rows; r++) store_row(y + r * tile->y_stride, out + r * width, tile->columns);
}

// Two rows of a panel at a time, or four where half a panel is all there is. (802,816 sums in 64 columns: 335 us vector
// by vector, with all that `y` might alias loaded again for each; 200 us so.)
INLINE void rescale_tile(const struct hl_byte_tile *shared, int vectors, bool right_only)
{
    static const int32_t no_corrections[4] = {0};
    const struct hl_byte_tile tile = *shared; // copies, because stored bytes might alias the originals
    const struct hl_requantize params = *tile.params;
    const int together = 4 / vectors, corrected = tile.corrections ? together : 0;
    const int32_t *sums = tile.sums, *corrections = tile.corrections ? tile.corrections : no_corrections;
    uint8_t *y = tile.y;
    struct column_params columns;
    UNROLL for (int v = 0; v < vectors; v++)
    {
        columns.multiplier[v] = load_i32(params.multiplier + tile.first + v * LANES);
        columns.left[v] = load_i32(params.left + tile.first + v * LANES);
        columns.right[v] = load_i32(params.right + tile.first + v * LANES);
        columns.to_right[v] = right_rescale_of(columns.multiplier[v], columns.right[v]);
    }
    int left = tile.rows;
    for (; left >= together; left -= together) {
        store_rows(&tile, y,
                   rescale_rows(&params, &columns, sums, tile.sums_stride, corrections, together, vectors, right_only),
                   together, vectors);
        sums += together * tile.sums_stride, corrections += corrected, y += together * tile.y_stride;
    }
    for (; left > 0; left--) {
        store_rows(&tile, y,
                   rescale_rows(&params, &columns, sums, tile.sums_stride, corrections, 1, vectors, right_only), 1,
                   vectors);
        sums += tile.sums_stride, corrections += corrected > 0, y += tile.y_stride;
    }
}
#endif

static void requantize_panel(const struct hl_byte_tile *tile)
{
#if HAS_RESCALE
    struct hl_byte_tile panel = *tile;
    for (int left = tile->columns; left > 0; left -= COLUMNS) {
        panel.columns = left < COLUMNS ? left : COLUMNS;
        switch ((panel.columns > LANES) * 2 + tile->params->right_only) {
        case 0: rescale_tile(&panel, 1, false); break;
        case 1: rescale_tile(&panel, 1, true); break;
        case 2: rescale_tile(&panel, 2, false); break;
        default: rescale_tile(&panel, 2, true);
        }
        panel.first += COLUMNS, panel.sums += COLUMNS, panel.y += COLUMNS;
    }
#else
    for (int r = 0; r < tile->rows; r++)
        requantize(tile->params, tile->sums + r * tile->sums_stride,
                   (uint32_t)(tile->corrections ? tile->corrections[r] : 0), tile->first, tile->columns,
                   tile->y + r * tile->y_stride);
#endif
}

// The tiles of levels that use this one's microkernels may be wider than its own.
static void requantize_tile(const struct hl_byte_tile *tile)
{
    if (tile->scales) {
        scale_tile(tile);
        return;
    }
    if (tile->columns <= COLUMNS) {
        requantize_panel(tile);
        return;
    }
    struct hl_byte_tile part = *tile;
    for (int left = tile->columns; left > 0; left -= COLUMNS) {
        part.columns = left < COLUMNS ? left : COLUMNS;
        requantize_panel(&part);
        part.first += COLUMNS, part.sums += COLUMNS, part.y += COLUMNS;
    }
}

// The values of a vector of columns stay in registers for all rows.
static void unquantize_tile(const struct hl_float_tile *tile)
{
    const struct hl_unquantize params = *tile->params;
    for (int c = 0; c < tile->columns; c += LANES) {
        const f32_vector bias = load_f32(params.bias + c), both = load_f32(params.scales + c);
        const f32_vector first = params.two_steps ? both : both * params.x_scale,
                         second = splat_f32(params.two_steps ? params.x_scale : 1);
        const u32_vector correction = load_u32(params.w_sums + c) * params.zero;
        for (int r = 0; r < tile->rows; r++) {
            const i32_vector sums = (i32_vector)(load_i32(tile->sums + r * tile->sums_stride + c) - correction);
            const f32_vector value = __builtin_convertvector(sums, f32_vector) * first * second + bias;
            store_first_f32(tile->y + r * tile->y_stride + c, clamp_f32(value, params.low, params.high),
                            tile->columns - c);
        }
    }
}

#endif
