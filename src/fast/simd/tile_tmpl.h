// SPDX-License-Identifier: Apache-2.0
// How tiles (struct hl_tile of simd.h) are cut for the instructions that a file is compiled for.
// A tile keeps ROWS x 2 vectors of sums in registers. Rows of x are read where they are, one value for all lanes; so
// many rows that the loads of weights do not count, so few that the sums and two vectors of weights fit the register
// file.
#ifndef HALITE_FAST_SIMD_TILE_TMPL_H
#define HALITE_FAST_SIMD_TILE_TMPL_H

#include "fast/simd/simd.h"
#include "fast/simd/vector.h"

#if defined __AVX512F__
enum { ROWS = 14 }; // 32 registers
#elif defined __aarch64__
enum { ROWS = 8 }; // 32 registers
#elif defined __AVX2__
enum { ROWS = 6 }; // 16 registers
#else
enum { ROWS = 4 };
#endif
enum { COLUMNS = 2 * LANES };

// One step's weights into the second-level cache. Tiles of few rows have nothing ahead, and no time for it.
enum { FEW_ROWS = 2 };
INLINE void fetch(const char *at)
{
    enum { LINE = 64 };
    UNROLL for (int i = 0; i < COLUMNS * 4; i += LINE) __builtin_prefetch(at + i, 0, 2);
}

// A function of a tile, its rows, and which of a panel's two vectors it has: where a panel has few columns the first
// one only, which takes half of the time. Rows and vectors are constant.
#define CASE(name, count)          \
    case count:                    \
        if (tile->columns > LANES) \
            name(tile, count, 2);  \
        else                       \
            name(tile, count, 1);  \
        break;
#if defined __AVX512F__
#define CASES(name) \
    CASE(name, 14)  \
    CASE(name, 13)  \
    CASE(name, 12)  \
    CASE(name, 11)  \
    CASE(name, 10)  \
    CASE(name, 9)   \
    CASE(name, 8) CASE(name, 7) CASE(name, 6) CASE(name, 5) CASE(name, 4) CASE(name, 3) CASE(name, 2) CASE(name, 1)
#elif defined __aarch64__
#define CASES(name) \
    CASE(name, 8)   \
    CASE(name, 7)   \
    CASE(name, 6) CASE(name, 5) CASE(name, 4) CASE(name, 3) CASE(name, 2) CASE(name, 1)
#elif defined __AVX2__
#define CASES(name) CASE(name, 6) CASE(name, 5) CASE(name, 4) CASE(name, 3) CASE(name, 2) CASE(name, 1)
#else
#define CASES(name) CASE(name, 4) CASE(name, 3) CASE(name, 2) CASE(name, 1)
#endif

#endif
