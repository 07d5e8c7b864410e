// SPDX-License-Identifier: Apache-2.0
// A square of 4 by 4 elements of 4 bytes, turned over: in, rows that are `from_row` bytes apart; out, its columns as
// rows that are `to_row` bytes apart.
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

#endif
