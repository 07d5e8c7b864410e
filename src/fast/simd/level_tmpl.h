// SPDX-License-Identifier: Apache-2.0
// The symbols of one CPU level. Each level_*.c defines LEVEL, the name of the level, and KERNELS, the name of the level
// whose microkernels it uses, before it includes templates; and VECTORS where it has matrix products of its own, and
// all else of integers is that level's.
#ifndef HALITE_FAST_SIMD_LEVEL_TMPL_H
#define HALITE_FAST_SIMD_LEVEL_TMPL_H

#include "fast/simd/simd.h"
#include "fast/simd/vector.h"

#define LEVEL_SIMD SYMBOL(hl_simd_, LEVEL)
#define LEVEL_KERNELS SYMBOL(hl_microkernels_, KERNELS)
extern const struct hl_simd LEVEL_SIMD;
extern const struct hl_microkernels LEVEL_KERNELS;

// What other levels use of a level.
#if !defined VECTORS
#define VECTORS LEVEL
#endif
#define MULTIPLY_INTEGER SYMBOL(hl_multiply_integer_, LEVEL)
void SYMBOL(hl_multiply_f32_, LEVEL)(const struct hl_tile *tile);
void SYMBOL(hl_multiply_f32_, KERNELS)(const struct hl_tile *tile);
void SYMBOL(hl_multiply_integer_, VECTORS)(const struct hl_tile *tile);
void SYMBOL(hl_multiply_to_floats_, VECTORS)(const struct hl_tile *tile);
#define MULTIPLY_ROW_INTEGER SYMBOL(hl_multiply_row_integer_, LEVEL)
void SYMBOL(hl_multiply_row_f32_, LEVEL)(const struct hl_tile *tile);
void SYMBOL(hl_multiply_row_f32_, KERNELS)(const struct hl_tile *tile);
void SYMBOL(hl_multiply_row_integer_, VECTORS)(const struct hl_tile *tile);
void SYMBOL(hl_multiply_blocks_, VECTORS)(const struct hl_block_tile *tile);
void SYMBOL(hl_depthwise_integer_, VECTORS)(const struct hl_depthwise_run *run);
void SYMBOL(hl_sum_rows_, VECTORS)(const uint8_t *x, int64_t stride, int64_t rows, int64_t count, int32_t factor,
                                   int32_t *sums);

#define LEVEL_NAME NAME_OF(LEVEL)
#define NAME_OF(name) TEXT_OF(name)
#define TEXT_OF(text) #text

#endif
