// SPDX-License-Identifier: Apache-2.0
// What integer sums become: 8-bit values (struct hl_byte_tile of simd.h) by fixed-point multipliers or by double
// scales, or floats (struct hl_float_tile).
#ifndef HALITE_FAST_SIMD_REQUANTIZE_TMPL_H
#define HALITE_FAST_SIMD_REQUANTIZE_TMPL_H

#include <math.h>

#include "fast/simd/scale_tmpl.h"
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

static void scale_tile(const struct hl_byte_tile *shared)
{
    const struct hl_byte_tile tile = *shared; // a copy, because stored bytes might alias the original
    const struct byte_range range = byte_range_of(tile.params);
    for (int r = 0; r < tile.rows; r++) {
        const u32_vector correction = splat_i32(tile.corrections ? tile.corrections[r] : 0);
        const int32_t *sums = tile.sums + r * tile.sums_stride;
        const double *scales = tile.scales + tile.first;
        uint8_t *y = tile.y + r * tile.y_stride;
        for (int left = tile.columns; left > 0; left -= LANES, sums += LANES, scales += LANES, y += LANES)
            store_scaled(load_i32(sums) - correction, scales, &range, left, y);
    }
}

// The sums of some columns, of all pieces.
INLINE u64_vector join_pieces(const int32_t *sums, const struct hl_word_tile *tile)
{
    u64_vector all = {0};
    for (int p = 0; p < tile->pieces; p++, sums += tile->piece_stride) {
        i32_half piece;
        memcpy(&piece, sums, sizeof piece);
        const u64_vector wide = (u64_vector) __builtin_convertvector(piece, i64_vector);
        all += p < tile->upper ? wide << 8 : wide;
    }
    return all;
}

// Half a vector of columns after the other, whose numbers stay in registers for all rows.
static void word_tile(const struct hl_word_tile *shared)
{
    enum { TOGETHER = LANES / 2 };
    const struct hl_word_tile tile = *shared; // a copy, because stored values might alias the original
    const i32_half low = (i32_half){0} + tile.low, high = (i32_half){0} + tile.high;
    for (int first = 0; first < tile.columns; first += TOGETHER) {
        const int count = tile.columns - first < TOGETHER ? tile.columns - first : TOGETHER;
        u64_vector multiplier, rounding, bias;
        i64_vector right;
        memcpy(&multiplier, tile.multiplier + first, sizeof multiplier);
        memcpy(&rounding, tile.rounding + first, sizeof rounding);
        memcpy(&bias, tile.bias + first, sizeof bias);
        memcpy(&right, tile.right + first, sizeof right);
        const int32_t *sums = tile.sums + first;
        int16_t *y = tile.y + first;
        for (int r = 0; r < tile.rows; r++, sums += tile.sums_stride, y += tile.y_stride) {
            const u64_vector product = (join_pieces(sums, &tile) + bias) * multiplier + rounding;
            i32_half value = __builtin_convertvector((i64_vector)product >> right, i32_half);
            const i32_half below = (value < low), above = (value > high);
            value = (value & ~(below | above)) | (low & below) | (high & above);
            const i16_quarter words = __builtin_convertvector(value, i16_quarter);
            if (count == TOGETHER)
                memcpy(y, &words, sizeof words);
            else
                memcpy(y, &words, (size_t)count * sizeof *y);
        }
    }
}

#if HAS_RESCALE
// How the sums of a panel become bytes. The fast way is for all but a few shifts.
enum rescale_way {
    RESCALE_ANY,
    RESCALE_RIGHT,
    RESCALE_FLOATS,
    FAST_WAY = HAS_RESCALE_FLOATS ? RESCALE_FLOATS : RESCALE_RIGHT
};

// The numbers of a panel's columns, which stay in registers for all its rows: those of one way.
struct column_params {
    u32_vector multiplier[2], left[2], right[2];
    struct right_rescale to_right[2];
#if HAS_RESCALE_FLOATS
    struct float_rescale floats[2];
#endif
};

INLINE u32_vector rescale_column(const struct column_params *columns, int v, u32_vector value, enum rescale_way way)
{
#if HAS_RESCALE_FLOATS
    if (way == RESCALE_FLOATS) return rescale_doubled(value, &columns->floats[v]);
#endif
    if (way == RESCALE_RIGHT) return rescale_right(value, &columns->to_right[v]);
    return rescale_lanes(value, columns->multiplier[v], columns->left[v], columns->right[v]);
}

// Some rows of a panel, at most four vectors of sums, become one vector of bytes.
INLINE u8_vector rescale_rows(const struct hl_requantize *params, const struct column_params *columns,
                              const int32_t *sums, ptrdiff_t stride, const int32_t *corrections, int rows, int vectors,
                              enum rescale_way way)
{
    u32_vector values[4] = {{0}, {0}, {0}, {0}};
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < vectors; v++)
    {
        const u32_vector sum = load_i32(sums + r * stride + v * LANES);
        values[r * vectors + v] = rescale_column(columns, v, corrections ? sum - (uint32_t)corrections[r] : sum, way);
    }
#if HAS_RESCALE_FLOATS
    if (way == RESCALE_FLOATS) return narrow_doubled_in_order(values, params->zero, params->low, params->high);
#endif
    return narrow_in_order(values, params->zero, params->low, params->high);
}

#if !HAS_MASKS
// Stores the first `count` bytes, at most half a vector.
INLINE void store_row(uint8_t *y, const uint8_t *from, int count)
{
    for (int piece = BYTES / 2; piece > 0; piece /= 2)
        if (count & piece) {
            memcpy(y, from, (size_t)piece);
            y += piece, from += piece;
        }
}
#endif

// The first `columns` of so many bytes of each row.
INLINE void store_rows(uint8_t *y, ptrdiff_t stride, u8_vector bytes, int rows, int vectors, int columns, bool whole)
{
    const int width = vectors * LANES;
#if HAS_MASKS
    if (!whole) {
        UNROLL for (int r = 0; r < rows; r++) store_some_bytes(y + r * stride, bytes, r * width, columns);
        return;
    }
#endif
    if (whole && rows * width == BYTES && stride == width) {
        memcpy(y, &bytes, sizeof bytes);
        return;
    }
    uint8_t out[BYTES];
    memcpy(out, &bytes, sizeof bytes);
#if !HAS_MASKS
    if (!whole) {
        for (int r = 0; r < rows; r++) store_row(y + r * stride, out + r * width, columns);
        return;
    }
#endif
    UNROLL for (int r = 0; r < rows; r++) memcpy(y + r * stride, out + r * width, (size_t)width);
}

// Two rows of a panel at a time, or four where half a panel is all there is. (802,816 sums in 64 columns: 335 us vector
// by vector, with all that `y` might alias loaded again for each; 200 us so.)
INLINE void rescale_tile(const struct hl_byte_tile *shared, int vectors, enum rescale_way way, bool whole,
                         bool corrected)
{
    const struct hl_byte_tile tile = *shared; // copies, because stored bytes might alias the originals
    const struct hl_requantize params = *tile.params;
    const int together = 4 / vectors;
    const int32_t *sums = tile.sums, *corrections = corrected ? tile.corrections : NULL;
    uint8_t *y = tile.y;
    struct column_params columns;
    UNROLL for (int v = 0; v < vectors; v++)
    {
        columns.multiplier[v] = load_i32(params.multiplier + tile.first + v * LANES);
        columns.left[v] = load_i32(params.left + tile.first + v * LANES);
        columns.right[v] = load_i32(params.right + tile.first + v * LANES);
        columns.to_right[v] = right_rescale_of(columns.multiplier[v], columns.right[v]);
#if HAS_RESCALE_FLOATS
        columns.floats[v] = float_rescale_of(columns.multiplier[v], columns.right[v]);
#endif
    }
    int left = tile.rows;
    for (; left >= together; left -= together) {
        store_rows(y, tile.y_stride,
                   rescale_rows(&params, &columns, sums, tile.sums_stride, corrections, together, vectors, way),
                   together, vectors, tile.columns, whole);
        sums += together * tile.sums_stride, y += together * tile.y_stride;
        if (corrected) corrections += together;
    }
    for (; left > 0; left--) {
        store_rows(y, tile.y_stride,
                   rescale_rows(&params, &columns, sums, tile.sums_stride, corrections, 1, vectors, way), 1, vectors,
                   tile.columns, whole);
        sums += tile.sums_stride, y += tile.y_stride;
        if (corrected) corrections++;
    }
}

// The ways that are frequent have a function for each number of vectors, whole or not, corrected or not. (Functions,
// because in one with all the loops its many values lie in memory.)
#define RESCALE_TILE(name, vectors, whole, corrected)            \
    static void name(const struct hl_byte_tile *tile)            \
    {                                                            \
        rescale_tile(tile, vectors, FAST_WAY, whole, corrected); \
    }
RESCALE_TILE(rescale_1, 1, false, false)
RESCALE_TILE(rescale_1_corrected, 1, false, true)
RESCALE_TILE(rescale_1_whole, 1, true, false)
RESCALE_TILE(rescale_1_whole_corrected, 1, true, true)
RESCALE_TILE(rescale_2, 2, false, false)
RESCALE_TILE(rescale_2_corrected, 2, false, true)
RESCALE_TILE(rescale_2_whole, 2, true, false)
RESCALE_TILE(rescale_2_whole_corrected, 2, true, true)

#if HAS_RESCALE_FLOATS
// A panel with one channel of a shift that is too large for floats, as those that are always 0 have it.
static void rescale_to_right(const struct hl_byte_tile *tile)
{
    if (tile->columns > LANES)
        rescale_tile(tile, 2, RESCALE_RIGHT, false, tile->corrections);
    else
        rescale_tile(tile, 1, RESCALE_RIGHT, false, tile->corrections);
}
#endif

static void rescale_slowly(const struct hl_byte_tile *tile)
{
#if HAS_RESCALE_FLOATS
    if (tile->params->right_only) {
        rescale_to_right(tile);
        return;
    }
#endif
    if (tile->columns > LANES)
        rescale_tile(tile, 2, RESCALE_ANY, false, tile->corrections);
    else
        rescale_tile(tile, 1, RESCALE_ANY, false, tile->corrections);
}

static bool is_fast(const struct hl_byte_tile *panel)
{
#if HAS_RESCALE_FLOATS
    const int32_t *right = panel->params->right + panel->first;
    return fits_float_rescale(load_i32(right), panel->columns) &&
           (panel->columns <= LANES || fits_float_rescale(load_i32(right + LANES), panel->columns - LANES));
#else
    return panel->params->right_only;
#endif
}

static void requantize_columns(const struct hl_byte_tile *panel)
{
    static void (*const fast[2][2][2])(const struct hl_byte_tile *) = {
        {{rescale_1, rescale_1_corrected}, {rescale_1_whole, rescale_1_whole_corrected}},
        {{rescale_2, rescale_2_corrected}, {rescale_2_whole, rescale_2_whole_corrected}},
    };
    if (is_fast(panel))
        fast[panel->columns > LANES][panel->columns % LANES == 0][panel->corrections != NULL](panel);
    else
        rescale_slowly(panel);
}

// (A copy of what was just written by parts waits until that is in the cache, 20 cycles: as long as one row takes.)
static void requantize_panel(const struct hl_byte_tile *tile)
{
    if (tile->columns <= COLUMNS) {
        requantize_columns(tile);
        return;
    }
    struct hl_byte_tile panel = *tile;
    for (int left = tile->columns; left > 0; left -= COLUMNS) {
        panel.columns = left < COLUMNS ? left : COLUMNS;
        requantize_columns(&panel);
        panel.first += COLUMNS, panel.sums += COLUMNS, panel.y += COLUMNS;
    }
}
#else
static void requantize_panel(const struct hl_byte_tile *tile)
{
    for (int r = 0; r < tile->rows; r++)
        requantize(tile->params, tile->sums + r * tile->sums_stride,
                   (uint32_t)(tile->corrections ? tile->corrections[r] : 0), tile->first, tile->columns,
                   tile->y + r * tile->y_stride);
}
#endif

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

// One or two vectors of columns, whose values stay in registers for all rows. by_row: each row has a scale of its own,
// and scales are multiplied first; by_zero: a zero point, too. (Hybrid layers of 96 to 384 and 128 to 512 channels on a
// Zen 4: 0.90 and 0.92 of the time that they take with a question for each row whether its values are those before.)
INLINE void unquantize_columns(const struct hl_float_tile *tile, const struct hl_unquantize *params, int column,
                               int vectors, bool by_row, bool by_zero)
{
    f32_vector bias[2], scale[2], first[2];
    u32_vector w_sums[2], correction[2];
    UNROLL for (int v = 0; v < vectors; v++)
    {
        const int c = column + v * LANES;
        bias[v] = load_f32(params->bias + c), scale[v] = load_f32(params->scales + c);
        first[v] = params->two_steps ? scale[v] : scale[v] * params->x_scale;
        w_sums[v] = load_u32(params->w_sums + c);
        correction[v] = w_sums[v] * params->zero;
    }
    const f32_vector second = splat_f32(params->two_steps ? params->x_scale : 1);
    const float low = params->low, high = params->high, *x_scales = tile->x_scales;
    const int32_t *from = tile->sums + column, *zeros = tile->x_zeros;
    const ptrdiff_t sums_stride = tile->sums_stride, y_stride = tile->y_stride;
    const unsigned last = opaque((unsigned)(tile->columns - column - (vectors - 1) * LANES));
    float *y = tile->y + column;
    for (int r = 0; r < tile->rows; r++, from += sums_stride, y += y_stride) UNROLL for (int v = 0; v < vectors; v++)
        {
            u32_vector sums = load_i32(from + v * LANES);
            if (by_zero || !by_row) sums -= by_zero ? w_sums[v] * (uint32_t)zeros[r] : correction[v];
            const f32_vector value = __builtin_convertvector((i32_vector)sums, f32_vector);
            const f32_vector scaled = by_row ? value * (scale[v] * x_scales[r]) : value * first[v] * second;
            const f32_vector bounded = clamp_f32(scaled + bias[v], low, high);
            store_first_f32(y + v * LANES, bounded, v == vectors - 1 ? last : LANES);
        }
}

INLINE void unquantize_rows(const struct hl_float_tile *tile, const struct hl_unquantize *params, bool by_row,
                            bool by_zero)
{
    int c = 0;
    for (; tile->columns - c > LANES; c += COLUMNS) unquantize_columns(tile, params, c, 2, by_row, by_zero);
    if (c < tile->columns) unquantize_columns(tile, params, c, 1, by_row, by_zero);
}

OUTLINE void unquantize_tile(const struct hl_float_tile *shared)
{
    const struct hl_float_tile tile = *shared; // copies, because stored floats might alias the originals
    const struct hl_unquantize params = *tile.params;
    if (!tile.x_scales)
        unquantize_rows(&tile, &params, false, false);
    else if (!tile.x_zeros)
        unquantize_rows(&tile, &params, true, false);
    else
        unquantize_rows(&tile, &params, true, true);
}

#endif
