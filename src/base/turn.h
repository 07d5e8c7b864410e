// SPDX-License-Identifier: Apache-2.0
// Squares of 4 by 4 elements of 4 bytes, or of 8 by 8 or 16 by 16 bytes, turned over: in, rows that are `from_row`
// bytes apart; out, their columns as rows that are `to_row` bytes apart. Rows are written in order.
#ifndef HALITE_BASE_TURN_H
#define HALITE_BASE_TURN_H

#include <stddef.h>
#include <string.h>

#if defined __SSE2__
#include <emmintrin.h>
#endif

static inline void hl_turn_4x4(char *to, ptrdiff_t to_row, const char *from, ptrdiff_t from_row)
{
#if defined __SSE2__
    __m128i a = _mm_loadu_si128((const __m128i *)from);
    __m128i b = _mm_loadu_si128((const __m128i *)(from + from_row));
    __m128i c = _mm_loadu_si128((const __m128i *)(from + 2 * from_row));
    __m128i d = _mm_loadu_si128((const __m128i *)(from + 3 * from_row));
    __m128i ab = _mm_unpacklo_epi32(a, b), cd = _mm_unpacklo_epi32(c, d);
    __m128i ab2 = _mm_unpackhi_epi32(a, b), cd2 = _mm_unpackhi_epi32(c, d);
    _mm_storeu_si128((__m128i *)to, _mm_unpacklo_epi64(ab, cd));
    _mm_storeu_si128((__m128i *)(to + to_row), _mm_unpackhi_epi64(ab, cd));
    _mm_storeu_si128((__m128i *)(to + 2 * to_row), _mm_unpacklo_epi64(ab2, cd2));
    _mm_storeu_si128((__m128i *)(to + 3 * to_row), _mm_unpackhi_epi64(ab2, cd2));
#else
    for (int r = 0; r < 4; r++)
        for (int i = 0; i < 4; i++) memcpy(to + r * to_row + 4 * i, from + i * from_row + 4 * r, 4);
#endif
}

static inline void hl_turn_8x8(char *to, ptrdiff_t to_row, const char *from, ptrdiff_t from_row)
{
#if defined __SSE2__
    __m128i pairs[4], quads[4];
    for (int r = 0; r < 4; r++)
        pairs[r] = _mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i *)(from + 2 * r * from_row)),
                                     _mm_loadl_epi64((const __m128i *)(from + (2 * r + 1) * from_row)));
    for (int half = 0; half < 2; half++) { // rows 0 to 3, 4 to 7, of columns 0 to 3 and 4 to 7
        quads[half] = _mm_unpacklo_epi16(pairs[2 * half], pairs[2 * half + 1]);
        quads[half + 2] = _mm_unpackhi_epi16(pairs[2 * half], pairs[2 * half + 1]);
    }
    for (int i = 0; i < 4; i++) {
        const __m128i low = quads[i & 2], high = quads[(i & 2) + 1];
        const __m128i two = i % 2 == 0 ? _mm_unpacklo_epi32(low, high) : _mm_unpackhi_epi32(low, high);
        _mm_storel_epi64((__m128i *)(to + 2 * i * to_row), two);
        _mm_storel_epi64((__m128i *)(to + (2 * i + 1) * to_row), _mm_unpackhi_epi64(two, two));
    }
#else
    for (int r = 0; r < 8; r++)
        for (int i = 0; i < 8; i++) to[r * to_row + i] = from[i * from_row + r];
#endif
}

static inline void hl_turn_16x16(char *to, ptrdiff_t to_row, const char *from, ptrdiff_t from_row)
{
#if defined __SSE2__
    __m128i a[16], b[16];
    for (int r = 0; r < 16; r++) a[r] = _mm_loadu_si128((const __m128i *)(from + r * from_row));
    // Four times rows r and r + 8, byte by byte in turn, become rows 2r and 2r + 1: the bits of both indices rotate.
    for (int round = 0; round < 2; round++) {
        for (int r = 0; r < 8; r++) {
            b[2 * r] = _mm_unpacklo_epi8(a[r], a[r + 8]);
            b[2 * r + 1] = _mm_unpackhi_epi8(a[r], a[r + 8]);
        }
        for (int r = 0; r < 8; r++) {
            a[2 * r] = _mm_unpacklo_epi8(b[r], b[r + 8]);
            a[2 * r + 1] = _mm_unpackhi_epi8(b[r], b[r + 8]);
        }
    }
    for (int r = 0; r < 16; r++) _mm_storeu_si128((__m128i *)(to + r * to_row), a[r]);
#else
    for (int r = 0; r < 16; r++)
        for (int i = 0; i < 16; i++) to[r * to_row + i] = from[i * from_row + r];
#endif
}

#endif
