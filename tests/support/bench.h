// SPDX-License-Identifier: Apache-2.0
// Timing in the tests that compare kernels. With --bench, such a test also prints for each shape how long the plain
// kernel takes, and each CPU level: what is right and what is fast come from one harness. No time is ever asserted.
#ifndef HALITE_TESTS_SUPPORT_BENCH_H
#define HALITE_TESTS_SUPPORT_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

static bool bench_wanted;
static double bench_plain; // of the shape that is being measured

static inline void bench_read_flags(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) bench_wanted = bench_wanted || strcmp(argv[i], "--bench") == 0;
}

// The nanoseconds of one call: the least of several batches, each long enough for the clock.
static inline double bench_call(void (*work)(void *arg), void *arg)
{
    enum { BATCHES = 7, BATCH_NS = 300000 };
    double best = 0;
    int64_t calls = 1;
    for (int batch = 0; batch < BATCHES;) {
        uint64_t begin = hl_nanoseconds();
        for (int64_t i = 0; i < calls; i++) work(arg);
        double spent = (double)(hl_nanoseconds() - begin);
        if (batch == 0 && spent < BATCH_NS) {
            calls *= 2;
            continue;
        }
        if (batch++ == 0 || spent / (double)calls < best) best = spent / (double)calls;
    }
    return best;
}

// Prints the shape and the plain kernel's time; the levels' follow.
static inline void bench_begin(const char *shape, double ns)
{
    bench_plain = ns;
    printf("%-72s plain %11.2f us", shape, ns / 1000);
}

static inline void bench_level(const char *level, double ns)
{
    printf("   %s %9.2f us (%.1fx)", level, ns / 1000, bench_plain / ns);
}

static inline void bench_end(void)
{
    printf("\n");
    fflush(stdout);
}

#endif
