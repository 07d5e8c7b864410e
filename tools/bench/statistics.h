// SPDX-License-Identifier: Apache-2.0
// Figures of a row of times, and whether two rows of times differ beyond noise. In: times in the order in which they
// were measured. Out: percentiles, spread, and an interval for how much the median changed.
#ifndef HALITE_TOOLS_BENCH_STATISTICS_H
#define HALITE_TOOLS_BENCH_STATISTICS_H

#include <stdbool.h>

struct hl_statistics {
    double mean, deviation; // deviation: the standard deviation of the sample
    double min, p50, p90, p99, max;
};

// count is at least 1. The median of an even count is the mean of the middle two; other percentiles are the smallest
// value that this share of all does not exceed.
struct hl_statistics hl_statistics_of(const double *values, int count);

// Fewer values than this say nothing about a change.
enum { HL_STATISTICS_MIN_COUNT = 10 };

// How the median changed: new / old, and the interval that holds the true quotient in 99 of 100 cases.
struct hl_change {
    double ratio, low, high;
};

// Both counts are at least HL_STATISTICS_MIN_COUNT, all values positive. The interval is that of a moving-block
// bootstrap: both rows are drawn anew 2000 times in blocks of sqrt(count) neighbors, since the times of neighboring
// runs are alike (a busy machine slows many in a row) and single values would make the interval too narrow.
struct hl_change hl_statistics_change(const double *old, int old_count, const double *new, int new_count);

#endif
