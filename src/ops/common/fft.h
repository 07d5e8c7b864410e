// SPDX-License-Identifier: Apache-2.0
// The discrete Fourier transform of a power of two of complex numbers, in double.
#ifndef HALITE_OPS_COMMON_FFT_H
#define HALITE_OPS_COMMON_FFT_H

#include <stdbool.h>

static inline bool hl_is_power_of_two(int n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

// The roots of unity that hl_fft needs: 2 * (n / 2) doubles.
void hl_fft_roots(int n, double *roots);
// In place: values[k] = sum of values[j] * exp(-2 pi i j k / n), n pairs of real and imaginary
// part.
void hl_fft(int n, const double *roots, double *values);
// The same for n real values, with the same roots: values[k] for k = 0 .. n / 2, the others are their mirror image.
// There is room for n + 2 doubles.
void hl_fft_real(int n, const double *roots, double *values);

#endif
