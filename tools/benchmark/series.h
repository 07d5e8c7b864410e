// SPDX-License-Identifier: Apache-2.0
// Numbers in the order in which they came, and the line that benchmark_model prints of them.
#ifndef HALITE_TOOLS_BENCHMARK_SERIES_H
#define HALITE_TOOLS_BENCHMARK_SERIES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

struct hl_series {
    int count;
    double *values;
};

static inline void hl_series_add(struct hl_series *series, double value)
{
    series->values = hl_alloc_grow(series->values, (size_t)series->count + 1, sizeof *series->values);
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

struct hl_series_figures {
    double first, last, min, max, average, deviation, p5, median, p95;
};

// All zeros where there are no numbers.
static inline struct hl_series_figures hl_series_figures(const struct hl_series *series)
{
    int count = series->count;
    if (count == 0) return (struct hl_series_figures){0};
    double *sorted = hl_alloc((size_t)count, sizeof *sorted), squares = 0;
    memcpy(sorted, series->values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, hl_series_compare);
    double average = hl_series_average(series);
    for (int i = 0; i < count; i++) squares += (sorted[i] - average) * (sorted[i] - average);
    struct hl_series_figures figures = {
        .first = series->values[0],
        .last = series->values[count - 1],
        .min = sorted[0],
        .max = sorted[count - 1],
        .average = average,
        .deviation = sqrt(squares / count),
        .p5 = sorted[(int64_t)count * 5 / 100],
        .median = sorted[count / 2],
        .p95 = sorted[(int64_t)count * 95 / 100],
    };
    free(sorted);
    return figures;
}

// "count=50 first=79449 curr=81350 min=77385 max=88213 avg=79732 std=1929", and with percentiles
// " p5=77500 median=79600 p95=85000"; whole numbers but for the average. "count=3 curr=7(all same)".
static inline void hl_series_print(const struct hl_series *series, bool percentiles, struct hl_text *text)
{
    struct hl_series_figures figures = hl_series_figures(series);
    hl_text_add(text, "count=%d", series->count);
    if (series->count == 0) return;
    if (figures.min == figures.max)
        hl_text_add(text, " curr=%.0f%s", figures.last, series->count > 1 ? "(all same)" : "");
    else
        hl_text_add(text, " first=%.0f curr=%.0f min=%.0f max=%.0f avg=%g std=%.0f", figures.first, figures.last,
                    figures.min, figures.max, figures.average, floor(figures.deviation));
    if (percentiles) hl_text_add(text, " p5=%.0f median=%.0f p95=%.0f", figures.p5, figures.median, figures.p95);
}

#endif
