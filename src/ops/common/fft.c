// SPDX-License-Identifier: Apache-2.0
// Fourier transform: inputs in bit-reversed order, then log2(n) rounds of butterflies, two at a time.
#include "ops/common/fft.h"

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

static void swap_sum(double *a, double *b)
{
    double real = b[0], imaginary = b[1];
    b[0] = a[0] - real, b[1] = a[1] - imaginary;
    a[0] += real, a[1] += imaginary;
}

// The first rounds have no roots but 1 and -i: one for an odd number of rounds, else two.
static int first_rounds(int n, double *values)
{
    bool odd = false;
    for (int i = n; i > 1; i /= 4) odd = i == 2;
    if (odd) {
        for (int i = 0; i < n; i += 2) swap_sum(values + 2 * i, values + 2 * i + 2);
        return 2;
    }
    for (int i = 0; i + 4 <= n; i += 4) {
        double *a = values + 2 * i;
        swap_sum(a, a + 2);
        swap_sum(a + 4, a + 6);
        swap_sum(a, a + 4);
        double turned = a[6]; // times -i
        a[6] = a[7], a[7] = -turned;
        swap_sum(a + 2, a + 6);
    }
    return 4;
}

// Two rounds at once, of quarters that are `quarter` long: half the loads and stores, and three products in place of
// four.
static void two_rounds(int n, int quarter, const double *roots, int root_step, double *values)
{
    for (int start = 0; start < n; start += 4 * quarter) {
        double *restrict a = values + 2 * start, *restrict b = a + 2 * quarter;
        double *restrict c = b + 2 * quarter, *restrict d = c + 2 * quarter;
        const double *once = roots, *twice = roots;
        for (int k = 0; k < quarter; k++, a += 2, b += 2, c += 2, d += 2) {
            double b0 = b[0] * twice[0] - b[1] * twice[1], b1 = b[0] * twice[1] + b[1] * twice[0];
            double d0 = d[0] * twice[0] - d[1] * twice[1], d1 = d[0] * twice[1] + d[1] * twice[0];
            double sum0 = c[0] + d0, sum1 = c[1] + d1, rest0 = c[0] - d0, rest1 = c[1] - d1;
            double even0 = sum0 * once[0] - sum1 * once[1], even1 = sum0 * once[1] + sum1 * once[0];
            // The other root of the second round is once * -i.
            double odd0 = rest0 * once[1] + rest1 * once[0];
            double odd1 = rest1 * once[1] - rest0 * once[0];
            double a0 = a[0], a1 = a[1];
            a[0] = a0 + b0 + even0, a[1] = a1 + b1 + even1;
            c[0] = a0 + b0 - even0, c[1] = a1 + b1 - even1;
            b[0] = a0 - b0 + odd0, b[1] = a1 - b1 + odd1;
            d[0] = a0 - b0 - odd0, d[1] = a1 - b1 - odd1;
            once += 2 * root_step;
            twice += 4 * root_step;
        }
    }
}

// root_step: the roots are those of n * root_step.
static void transform(int n, const double *roots, int root_step, double *values)
{
    reverse_bits(n, values);
    for (int quarter = first_rounds(n, values); quarter < n; quarter *= 4)
        two_rounds(n, quarter, roots, root_step * (n / 4 / quarter), values);
}

void hl_fft(int n, const double *roots, double *values)
{
    transform(n, roots, 1, values);
}

// Pairs of neighbors as complex numbers, whose transform holds that of the even ones, E, and the odd ones, O, as E +
// iO.
void hl_fft_real(int n, const double *roots, double *values)
{
    if (n == 1) {
        values[1] = 0;
        return;
    }
    int half = n / 2;
    transform(half, roots, 2, values);
    double first = values[0], second = values[1];
    for (int k = 1; k <= half / 2; k++) {
        double *a = values + 2 * k, *b = values + 2 * (half - k);
        const double *root = roots + 2 * k;
        double even0 = (a[0] + b[0]) / 2, even1 = (a[1] - b[1]) / 2;
        double odd0 = (a[1] + b[1]) / 2, odd1 = (b[0] - a[0]) / 2;
        double turned0 = odd0 * root[0] - odd1 * root[1], turned1 = odd0 * root[1] + odd1 * root[0];
        b[0] = even0 - turned0, b[1] = turned1 - even1;
        a[0] = even0 + turned0, a[1] = even1 + turned1;
    }
    values[0] = first + second, values[1] = 0;
    values[n] = first - second, values[n + 1] = 0;
}
