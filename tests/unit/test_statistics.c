// SPDX-License-Identifier: Apache-2.0
// The figures of halite bench (tools/bench/statistics.h): percentiles of rows that can be worked out by hand, and how
// often the comparison is wrong on made-up times whose truth is known.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "bench/statistics.h"
#include "support/random.h"

static void test_figures(void **state)
{
    (void)state;
    double hundred[100];
    for (int i = 0; i < 100; i++) hundred[i] = (i * 37) % 100 + 1; // 1 to 100 in some order
    struct hl_statistics figures = hl_statistics_of(hundred, 100);
    assert_true(figures.p50 == 50.5 && figures.p90 == 90 && figures.p99 == 99);
    assert_true(figures.min == 1 && figures.max == 100 && figures.mean == 50.5);
    assert_true(fabs(figures.deviation - sqrt(101 * 100 / 12.0)) < 1e-9); // of 1 to n: n (n + 1) / 12
    assert_true(hundred[1] == 38);                                        // the order is as before

    figures = hl_statistics_of((const double[]){7}, 1);
    assert_true(figures.p50 == 7 && figures.p99 == 7 && figures.mean == 7 && figures.deviation == 0);
    figures = hl_statistics_of((const double[]){3, 1, 2}, 3);
    assert_true(figures.p50 == 2 && figures.p90 == 3 && figures.deviation == 1);
}

enum { RUNS = 60, TRIALS = 100 };

// Times around `level`; each is like the one before it as far as `memory` says (0: not at all, below 1).
static void make_times(double *times, double level, double memory)
{
    double drift = 0;
    for (int i = 0; i < RUNS; i++) {
        double sum = 0;
        for (int n = 0; n < 12; n++) sum += pick(1 << 20) / (double)(1 << 20); // nearly normal, of deviation 1
        drift = memory * drift + (sum - 6) * sqrt(1 - memory * memory);
        times[i] = level * (1 + 0.03 * drift);
    }
}

// Of so many comparisons, how many say that the second level's times differ.
static int count_changes(double old_level, double new_level, double memory)
{
    seed = 7;
    int changes = 0;
    for (int i = 0; i < TRIALS; i++) {
        double old[RUNS], new[RUNS];
        make_times(old, old_level, memory);
        make_times(new, new_level, memory);
        struct hl_change change = hl_statistics_change(old, RUNS, new, RUNS);
        assert_true(change.low <= change.high);
        changes += change.low > 1 || change.high < 1;
    }
    return changes;
}

// An interval of 99 % is wrong in one of a hundred comparisons; its blocks are few, so it is a little too narrow.
static void test_no_change(void **state)
{
    (void)state;
    assert_true(count_changes(1e-3, 1e-3, 0) <= TRIALS * 4 / 100);
    assert_true(count_changes(1e-3, 1e-3, 0.5) <= TRIALS * 8 / 100);
}

static void test_change(void **state)
{
    (void)state;
    assert_true(count_changes(1e-3, 1.1e-3, 0) >= TRIALS * 98 / 100);
    assert_true(count_changes(1.1e-3, 1e-3, 0.5) >= TRIALS * 98 / 100);
    double same[RUNS], twice[RUNS];
    for (int i = 0; i < RUNS; i++) same[i] = 2, twice[i] = 4;
    struct hl_change change = hl_statistics_change(same, RUNS, twice, RUNS);
    assert_true(change.ratio == 2 && change.low == 2 && change.high == 2);
    change = hl_statistics_change(same, RUNS, same, HL_STATISTICS_MIN_COUNT);
    assert_true(change.ratio == 1 && change.low == 1 && change.high == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_no_change),
        cmocka_unit_test(test_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
