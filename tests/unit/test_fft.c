// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of all lengths up to 1024 against their definition.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ops/common/fft.h"
#include "support/random.h"

enum { MOST = 1024 };

static double real(void)
{
    return (double)pick(1 << 24) / (1 << 23) - 1;
}

static void expect(int n, int k, const double *x, const double *got)
{
    const double pi = 3.14159265358979323846;
    double sum[2] = {0, 0};
    for (int j = 0; j < n; j++) {
        double angle = -2 * pi * (double)((int64_t)j * k % n) / n;
        sum[0] += x[2 * j] * cos(angle) - x[2 * j + 1] * sin(angle);
        sum[1] += x[2 * j] * sin(angle) + x[2 * j + 1] * cos(angle);
    }
    for (int part = 0; part < 2; part++)
        if (!(fabs(sum[part] - got[part]) < 1e-11)) fail_msg("length %d, %d: %g, not %g", n, k, got[part], sum[part]);
}

static void lengths(void **state)
{
    (void)state;
    static double roots[MOST], x[2 * MOST], y[2 * MOST + 2];
    for (int n = 1; n <= MOST; n *= 2) {
        hl_fft_roots(n, roots);
        for (int i = 0; i < 2 * n; i++) x[i] = y[i] = real();
        hl_fft(n, roots, y);
        for (int k = 0; k < n; k++) expect(n, k, x, y + 2 * k);

        for (int i = 0; i < n; i++) x[2 * i] = y[i] = real(), x[2 * i + 1] = 0;
        hl_fft_real(n, roots, y);
        for (int k = 0; k <= n / 2; k++) expect(n, k, x, y + 2 * k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lengths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
