// SPDX-License-Identifier: Apache-2.0
// Rows of int8 weights times an int16 vector, in a form that compilers turn into the products of pairs that CPUs have: for
// ops/dot.c, and for each level of instructions by fast/simd_kernels.h. (gcc 12: 0.1 of the time of one int8 row after the
// other with AVX-512, 0.3 without.)
#ifndef HALITE_OPS_DOTS_I8_H
#define HALITE_OPS_DOTS_I8_H

#include <stdint.h>

// sums[r] = sum over i of w[r * stride + i] * x[i], for any rows and up to 65535 columns, with x in [-255, 255].
static void dots_i8(const int8_t *restrict w, int64_t stride, int rows, const int16_t *restrict x,
                    int count, int32_t *restrict sums)
{
    int r = 0;
    for (; r + 4 <= rows; r += 4, w += 4 * stride) {
        const int8_t *w1 = w + stride, *w2 = w1 + stride, *w3 = w2 + stride;
        int32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
        for (int i = 0; i < count; i++) {
            sum0 += (int16_t)w[i] * x[i];
            sum1 += (int16_t)w1[i] * x[i];
            sum2 += (int16_t)w2[i] * x[i];
            sum3 += (int16_t)w3[i] * x[i];
        }
        sums[r] = sum0, sums[r + 1] = sum1, sums[r + 2] = sum2, sums[r + 3] = sum3;
    }
    for (; r < rows; r++, w += stride) {
        int32_t sum = 0;
        for (int i = 0; i < count; i++) sum += (int16_t)w[i] * x[i];
        sums[r] = sum;
    }
}

#endif
