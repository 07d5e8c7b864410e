// SPDX-License-Identifier: Apache-2.0
// The microkernels that depend on how integers are multiplied, and the CPU level's struct hl_simd. Each level_*.c
// includes this file after it has defined LEVEL, the name of the level, and KERNELS, the name of the level whose
// microkernels (microkernels_tmpl.h) it uses.
#ifndef HALITE_FAST_SIMD_INTEGER_TMPL_H
#define HALITE_FAST_SIMD_INTEGER_TMPL_H

#include "abi/built_types.h"
#include "fast/simd/blocks_tmpl.h"
#include "fast/simd/depthwise_tmpl.h"
#include "fast/simd/lane_sums_tmpl.h"
#include "fast/simd/level_tmpl.h"
#include "fast/simd/simd.h"
#include "fast/simd/tile_tmpl.h"
#include "fast/simd/vector.h"
#if HAS_OCTETS
#include "fast/simd/octets_tmpl.h"
#else
#include "fast/simd/multiply_integer_tmpl.h"
#endif

// ---- sums of bytes ------------------------------------------------------------------------------

#if HAS_DOT4 && HAS_MASKS
// Four rows at a time, as products with ones.
INLINE void sum_four_rows(const uint8_t *const x[ADDED], int64_t count, int32_t sums[ADDED])
{
    const u32_vector ones = splat_i32(0x01010101);
    u32_vector parts[ADDED] = {{0}, {0}, {0}, {0}};
    int64_t i = 0;
    for (; i + BYTES <= count; i += BYTES)
        UNROLL for (int k = 0; k < ADDED; k++) parts[k] = add_dots(parts[k], ones, load_u32(x[k] + i));
    if (i < count)
        UNROLL for (int k = 0; k < ADDED; k++) parts[k] =
            add_dots(parts[k], ones, load_first_bytes(x[k] + i, (int)(count - i)));
    add_lanes_integer(parts, sums);
}

void SYMBOL(hl_sum_rows_, LEVEL)(const uint8_t *x, int64_t stride, int64_t rows, int64_t count, int32_t factor,
                                 int32_t *sums)
{
    for (int64_t r = 0; r < rows; r += ADDED) {
        const uint8_t *from[ADDED];
        int32_t some[ADDED];
        UNROLL for (int k = 0; k < ADDED; k++) from[k] = x + (r + k < rows ? r + k : r) * stride;
        sum_four_rows(from, count, some);
        for (int k = 0; k < ADDED && r + k < rows; k++) sums[r + k] = (int32_t)((uint32_t)some[k] * (uint32_t)factor);
    }
}
#else
// Bytes are summed as unsigned; signed bytes are first shifted up by 128.
static uint32_t sum_bytes(const uint8_t *x, int64_t count)
{
    enum { QUAD = 16, WORD = 8 };
    const uint8_t offset = SIGNED_X ? 0x80 : 0;
    u32_quad sums = {0};
    int64_t i = 0;
    for (; i + QUAD <= count; i += QUAD) sums = add_16_bytes(sums, x + i, offset);
    for (; i + WORD <= count; i += WORD) sums = add_8_bytes(sums, x + i, offset);
    uint32_t all = sums[0] + sums[1] + sums[2] + sums[3];
    for (; i < count; i++) all += x[i] ^ offset;
    return all - (uint32_t)count * offset;
}

void SYMBOL(hl_sum_rows_, LEVEL)(const uint8_t *x, int64_t stride, int64_t rows, int64_t count, int32_t factor,
                                 int32_t *sums)
{
    for (int64_t r = 0; r < rows; r++) sums[r] = (int32_t)(sum_bytes(x + r * stride, count) * (uint32_t)factor);
}
#endif

// ---- the level ----------------------------------------------------------------------------------

const struct hl_simd LEVEL_SIMD = {
    .name = LEVEL_NAME,
    .rows = ROWS,
    .narrow_rows = NARROW_ROWS,
    .columns = COLUMNS,
    .spread_columns = HAS_SPREAD ? LANES : 0,
    .bytes = BYTES,
    .dot_width = DOT_WIDTH,
    .step_pairs = HAS_OCTETS,
    .asks_narrow = HAS_OCTETS,
    .signed_x = SIGNED_X,
    .asks_wide = HAS_WIDE_TABLES && HAS_DOT4,
    .sum_rows = HL_WHERE(HL_HAS_BYTES, SYMBOL(hl_sum_rows_, LEVEL)),
    .multiply_f32 = HL_WHERE(HL_HAS_FLOATS, SYMBOL(hl_multiply_f32_, KERNELS)),
    .multiply_integer = HL_WHERE(HL_HAS_BYTES, MULTIPLY_INTEGER),
#if HAS_FLOAT_SUMS
    .multiply_to_floats = HL_WHERE(HL_HAS_BYTES, SYMBOL(hl_multiply_to_floats_, LEVEL)),
#endif
#if HAS_ROW_PANELS && !HAS_DOT4
    .multiply_row_bytes = HL_WHERE(HL_HAS_BYTES, multiply_row_bytes),
#endif
    ROW_PRODUCTS(KERNELS, LEVEL).depthwise_integer =
        HL_WHERE(HL_HAS_OP(DEPTHWISE_CONV_2D) && HL_HAS_BYTES, SYMBOL(hl_depthwise_integer_, LEVEL)),
    .multiply_blocks = HL_WHERE(HL_HAS_BLOCKS, SYMBOL(hl_multiply_blocks_, LEVEL)),
    .block_columns = COLUMNS,
    .kernels = &LEVEL_KERNELS,
};

#endif
