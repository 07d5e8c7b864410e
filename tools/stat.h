// SPDX-License-Identifier: Apache-2.0
// Running figures of a row of numbers, as the original's tools print and store them.
#ifndef HALITE_TOOLS_STAT_H
#define HALITE_TOOLS_STAT_H

#include <math.h>
#include <stdint.h>

struct hl_stat {
    int64_t count;
    double last, min, max, sum, squares; // squares: sum of them
};

static inline void hl_stat_add(struct hl_stat *stat, double value)
{
    stat->last = value;
    if (stat->count == 0 || value < stat->min) stat->min = value;
    if (stat->count == 0 || value > stat->max) stat->max = value;
    stat->sum += value;
    stat->squares += value * value;
    stat->count++;
}

static inline double hl_stat_average(const struct hl_stat *stat)
{
    return stat->count > 0 ? stat->sum / (double)stat->count : 0;
}

static inline double hl_stat_deviation(const struct hl_stat *stat)
{
    if (stat->count == 0 || stat->min == stat->max) return 0;
    double average = hl_stat_average(stat);
    double variance = stat->squares / (double)stat->count - average * average;
    return variance > 0 ? sqrt(variance) : 0;
}

#endif
