// SPDX-License-Identifier: Apache-2.0
// The SIMD wrappers of x86's matrix unit (AMX): eight registers of 16 rows of 64 bytes. One instruction adds to 16 x 16
// int32 the products of 16 rows of 64 uint8 and 64 rows of 16 int8, of which four neighboring ones lie in one lane, as
// in a panel of weights. matrix_tmpl.h is written in these; the registers' numbers are constants of the instructions.
#ifndef HALITE_FAST_SIMD_X86_AMX_H
#define HALITE_FAST_SIMD_X86_AMX_H

#include <immintrin.h>

#include "fast/simd/vector.h"

enum { MATRIX_ROWS = 16, MATRIX_BYTES = 64 };

// The layout that LDTILECFG reads.
struct matrix_setting {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

// All registers get their full size, and are zeros. A thread's registers take the system 8 KB to save, so they are
// released when nothing is left to multiply.
static inline void matrix_begin(void)
{
    static const struct matrix_setting setting = {
        .palette = 1,
        .row_bytes = {MATRIX_BYTES, MATRIX_BYTES, MATRIX_BYTES, MATRIX_BYTES, MATRIX_BYTES, MATRIX_BYTES, MATRIX_BYTES,
                      MATRIX_BYTES},
        .rows = {MATRIX_ROWS, MATRIX_ROWS, MATRIX_ROWS, MATRIX_ROWS, MATRIX_ROWS, MATRIX_ROWS, MATRIX_ROWS,
                 MATRIX_ROWS},
    };
    _tile_loadconfig(&setting);
}

static inline void matrix_end(void)
{
    _tile_release();
}

// 16 rows of 64 bytes, `stride` bytes apart.
#define MATRIX_LOAD(number, from, stride) _tile_loadd(number, from, stride)
#define MATRIX_STORE(number, to, stride) _tile_stored(number, to, stride)
// sums += x * w
#define MATRIX_ADD_PRODUCTS(sums, x, w) _tile_dpbusd(sums, x, w)

#endif
