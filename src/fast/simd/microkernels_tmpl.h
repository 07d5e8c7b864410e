// SPDX-License-Identifier: Apache-2.0
// The microkernels of struct hl_microkernels in simd.h: all that do not depend on how integers are multiplied. A
// level_*.c that has microkernels of its own includes this file after it has defined LEVEL and KERNELS, both as its
// name.
#ifndef HALITE_FAST_SIMD_MICROKERNELS_TMPL_H
#define HALITE_FAST_SIMD_MICROKERNELS_TMPL_H

#include "abi/built_types.h"
#include "fast/simd/depthwise_f32_tmpl.h"
#include "fast/simd/elements_tmpl.h"
#include "fast/simd/level_tmpl.h"
#include "fast/simd/multiply_f32_tmpl.h"
#include "fast/simd/requantize_tmpl.h"
#include "fast/simd/resize_tmpl.h"
#include "fast/simd/rows_tmpl.h"
#include "fast/simd/scatter_add_tmpl.h"
#include "fast/simd/simd.h"
#include "fast/simd/softmax_bytes_tmpl.h"
#include "fast/simd/softmax_tmpl.h"
#include "fast/simd/vector.h"
#include "fast/simd/winograd_tmpl.h"

static void fetch_rows(const void *rows, ptrdiff_t stride, int count, int bytes)
{
    enum { LINE = 64 };
    const char *row = rows;
    for (int r = 0; r < count; r++, row += stride)
        for (int i = 0; i < bytes; i += LINE) __builtin_prefetch(row + i, 1);
}

// Rows may be short. After whole vectors come words of 8 bytes, the last of which may overlap the one before, so that
// single bytes are left only in rows shorter than a word.
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

const struct hl_microkernels LEVEL_KERNELS = {
    .requantize = HL_WHERE(HL_HAS_BYTES, requantize),
    .requantize_tile = HL_WHERE(HL_HAS_BYTES, requantize_tile),
    .unquantize_tile = HL_WHERE(HL_HAS_BYTES, unquantize_tile),
    .word_tile = HL_WHERE(HL_HAS_WORDS, word_tile),
    .fetch_rows = fetch_rows,
    .xor_bytes = HL_WHERE(HL_HAS_BYTES, xor_bytes),
    .row_kernels = ROW_KERNELS,
    .widen = HL_WHERE(HL_HAS_BYTES, widen),
    .depthwise_f32 = HL_WHERE(HL_HAS_OP(DEPTHWISE_CONV_2D) && HL_HAS_FLOATS, depthwise_f32),
    .depthwise_takes_pair = HL_WHERE(HL_HAS_OP(DEPTHWISE_CONV_2D) && HL_HAS_FLOATS, depthwise_takes_pair),
    .depthwise_pair_f32 = HL_WHERE(HL_HAS_OP(DEPTHWISE_CONV_2D) && HL_HAS_FLOATS, depthwise_pair_f32),
    .elements = &element_kernels,
    .scatter_add_f32 = HL_WHERE(HL_HAS_OP(TRANSPOSE_CONV) && HL_HAS_FLOATS, scatter_add_f32),
    .scatter_add_integer = HL_WHERE(HL_HAS_OP(TRANSPOSE_CONV) && HL_HAS_BYTES, scatter_add_integer),
    .softmax_f32 = HL_WHERE(HL_HAS_OP(SOFTMAX) && HL_HAS_FLOATS, softmax_f32),
    .log_softmax_f32 = HL_WHERE(HL_HAS_OP(LOG_SOFTMAX) && HL_HAS_FLOATS, log_softmax_f32),
#if HAS_RESCALE
    .softmax_bytes = HL_WHERE(HL_HAS_OP(SOFTMAX) && HL_HAS_BYTES, softmax_bytes),
#endif
    .winograd_input = HL_WHERE(HL_HAS_WINOGRAD, winograd_input),
    .winograd_output = HL_WHERE(HL_HAS_WINOGRAD, winograd_output),
    .resize_f32 = HL_WHERE(HL_HAS_RESIZE && HL_HAS_FLOATS, resize_f32),
    .resize_u8 = HL_WHERE(HL_HAS_RESIZE && HL_HAS_BYTES, resize_u8),
    .resize_i8 = HL_WHERE(HL_HAS_RESIZE && HL_HAS_BYTES, resize_i8),
};

#endif
