// SPDX-License-Identifier: Apache-2.0
// Radix-2 Fourier transform: inputs in bit-reversed order, then log2(n) rounds of butterflies.
#include "ops/fft.h"

#include <math.h>

void hl_fft_roots(int n, double *roots)
{
    const double pi = 3.14159265358979323846;
    for (int k = 0; k < n / 2; k++) {
        roots[2 * k] = cos(2 * pi * k / n);
        roots[2 * k + 1] = -sin(2 * pi * k / n);
    }
}

static void reverse_bits(int n, double *values)
{
    for (int i = 0, j = 0; i < n; i++) {
        if (i < j) {
            for (int part = 0; part < 2; part++) {
                double swap = values[2 * i + part];
                values[2 * i + part] = values[2 * j + part];
                values[2 * j + part] = swap;
            }
        }
        int bit = n >> 1;
        for (; bit > 0 && (j & bit); bit >>= 1) j ^= bit;
        j |= bit;
    }
}

void hl_fft(int n, const double *roots, double *values)
{
    reverse_bits(n, values);
    for (int half = 1; half < n; half *= 2) {
        int root_step = n / 2 / half;
        for (int start = 0; start < n; start += 2 * half) {
            double *a = values + 2 * start, *b = a + 2 * half;
            for (int k = 0; k < half; k++, a += 2, b += 2) {
                const double *root = roots + 2 * k * root_step;
                double real = b[0] * root[0] - b[1] * root[1];
                double imaginary = b[0] * root[1] + b[1] * root[0];
                b[0] = a[0] - real, b[1] = a[1] - imaginary;
                a[0] += real, a[1] += imaginary;
            }
        }
    }
}
