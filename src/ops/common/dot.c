// SPDX-License-Identifier: Apache-2.0
// Sums of products of dot.h. The integer forms work on int16 values from which the zero points are
// taken already: that is the form which compilers turn into good code on every machine.
#include "ops/common/dot.h"

// As many products as surely fit 32 bits: 256 * 255 * 2^15 < 2^31.
enum { CHUNK = 256 };

// The number of rows is a constant in each of these: the sums live in registers.
#define DOTS_F32(ROWS)                                                                                           \
    static void dots_f32_##ROWS(const float *restrict w, int64_t stride, const float *restrict x, int64_t count, \
                                float *restrict sums)                                                            \
    {                                                                                                            \
        float sum[ROWS];                                                                                         \
        for (int r = 0; r < ROWS; r++) sum[r] = sums[r];                                                         \
        for (int64_t i = 0; i < count; i++)                                                                      \
            for (int r = 0; r < ROWS; r++) sum[r] += x[i] * w[r * stride + i];                                   \
        for (int r = 0; r < ROWS; r++) sums[r] = sum[r];                                                         \
    }
DOTS_F32(4)
DOTS_F32(2)
DOTS_F32(1)

void hl_add_dots_f32(const float *w, int64_t stride, int rows, const float *x, int64_t count, float *sums)
{
    int r = 0;
    for (; r + 4 <= rows; r += 4) dots_f32_4(w + r * stride, stride, x, count, sums + r);
    if (r + 2 <= rows) {
        dots_f32_2(w + r * stride, stride, x, count, sums + r);
        r += 2;
    }
    if (r < rows) dots_f32_1(w + r * stride, stride, x, count, sums + r);
}

static void dots_i16_4(const int16_t *restrict w, int64_t stride, const int16_t *restrict x, int64_t count,
                       int64_t *restrict sums)
{
    const int16_t *w1 = w + stride, *w2 = w1 + stride, *w3 = w2 + stride;
    int32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
    for (int64_t i = 0; i < count; i++) {
        sum0 += x[i] * w[i];
        sum1 += x[i] * w1[i];
        sum2 += x[i] * w2[i];
        sum3 += x[i] * w3[i];
    }
    sums[0] += sum0;
    sums[1] += sum1;
    sums[2] += sum2;
    sums[3] += sum3;
}

static void dots_i16_1(const int16_t *restrict w, const int16_t *restrict x, int64_t count, int64_t *restrict sums)
{
    int32_t sum = 0;
    for (int64_t i = 0; i < count; i++) sum += x[i] * w[i];
    *sums += sum;
}

void hl_add_dots_i16(const int16_t *w, int64_t stride, int rows, const int16_t *x, int64_t count, int64_t *sums)
{
    for (int64_t i = 0; i < count; i += CHUNK) {
        int64_t n = count - i < CHUNK ? count - i : CHUNK;
        int r = 0;
        for (; r + 4 <= rows; r += 4) dots_i16_4(w + r * stride + i, stride, x + i, n, sums + r);
        for (; r < rows; r++) dots_i16_1(w + r * stride + i, x + i, n, sums + r);
    }
}

void hl_add_dots_i16_full(const int16_t *w, int64_t stride, int rows, const int16_t *x, int64_t count, int64_t *sums)
{
    for (int r = 0; r < rows; r++) {
        int64_t sum = 0;
        for (int64_t i = 0; i < count; i++) sum += (int64_t)x[i] * w[r * stride + i];
        sums[r] += sum;
    }
}

// ---- widening -----------------------------------------------------------------------------------

#define WIDEN(TYPE)                                                                                        \
    static void widen_##TYPE(const TYPE *restrict values, int64_t count, int zero, int16_t *restrict wide) \
    {                                                                                                      \
        for (int64_t i = 0; i < count; i++) wide[i] = (int16_t)(values[i] - zero);                         \
    }
WIDEN(int8_t)
WIDEN(uint8_t)
WIDEN(int16_t)

// Values of 4 or 2 bits, the lowest bits of a byte first.
static void widen_packed(const uint8_t *bytes, int bits, int64_t first, int64_t count, int zero, int16_t *wide)
{
    int per_byte = 8 / bits, mask = (1 << bits) - 1, sign = 1 << (bits - 1);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = first + i;
        int value = bytes[at / per_byte] >> at % per_byte * bits & mask;
        wide[i] = (int16_t)((value ^ sign) - sign - zero);
    }
}

void hl_widen(TfLiteType type, const void *data, int64_t first, int64_t count, int zero, int16_t *wide)
{
    if (count == 0) return; // there may be no data
    if (type == kTfLiteInt8) widen_int8_t((const int8_t *)data + first, count, zero, wide);
    if (type == kTfLiteUInt8) widen_uint8_t((const uint8_t *)data + first, count, zero, wide);
    if (type == kTfLiteInt16) widen_int16_t((const int16_t *)data + first, count, zero, wide);
    if (type == kTfLiteInt4) widen_packed(data, 4, first, count, zero, wide);
    if (type == kTfLiteInt2) widen_packed(data, 2, first, count, zero, wide);
}
