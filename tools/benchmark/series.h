// SPDX-License-Identifier: Apache-2.0
// Numbers in the order in which they came, and the line that benchmark_model prints of them.
#ifndef HALITE_TOOLS_BENCHMARK_SERIES_H
#define HALITE_TOOLS_BENCHMARK_SERIES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

struct hl_series {
    int count;
    double *values;
};

static inline void hl_series_add(struct hl_series *series, double value)
{
    series->values =
        hl_alloc_grow(series->values, (size_t)series->count + 1, sizeof *series->values);
    series->values[series->count++] = value;
}

static inline void hl_series_free(struct hl_series *series)
{
    free(series->values);
    *series = (struct hl_series){0};
}

static inline double hl_series_average(const struct hl_series *series)
{
    double sum = 0;
    for (int i = 0; i < series->count; i++) sum += series->values[i];
    return series->count > 0 ? sum / series->count : 0;
}

static inline int hl_series_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// "count=50 first=79449 curr=81350 min=77385 max=88213 avg=79732 std=1929 p5=77500 median=79600 p95=85000"; whole numbers but
// for the average.
static inline void hl_series_print(const struct hl_series *series, struct hl_text *text)
{
    int count = series->count;
    hl_text_add(text, "count=%d", count);
    if (count == 0) return;
    double *sorted = hl_alloc((size_t)count, sizeof *sorted), average = hl_series_average(series),
           squares = 0;
    memcpy(sorted, series->values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, hl_series_compare);
    for (int i = 0; i < count; i++) squares += (sorted[i] - average) * (sorted[i] - average);
    if (sorted[0] == sorted[count - 1])
        hl_text_add(text, " curr=%.0f (all same)", sorted[0]);
    else
        hl_text_add(
            text,
            " first=%.0f curr=%.0f min=%.0f max=%.0f avg=%g std=%.0f p5=%.0f median=%.0f p95=%.0f",
            series->values[0], series->values[count - 1], sorted[0], sorted[count - 1], average,
            floor(sqrt(squares / count)), sorted[(int)(0.05 * (count - 1))],
            sorted[(count - 1) / 2], sorted[(int)(0.95 * (count - 1))]);
    free(sorted);
}

#endif
