// SPDX-License-Identifier: Apache-2.0
// See statistics.h.
#include "bench/statistics.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The value that a share of all does not exceed.
static double percentile(const double *sorted, int count, double share)
{
    int at = (int)(share * count + 0.999999) - 1;
    return sorted[at < 0 ? 0 : at >= count ? count - 1 : at];
}

struct hl_statistics hl_statistics_of(const double *values, int count)
{
    double *sorted = hl_alloc((size_t)count, sizeof *sorted);
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_numbers);
    double sum = 0, squares = 0;
    for (int i = 0; i < count; i++) sum += sorted[i];
    double mean = sum / count;
    for (int i = 0; i < count; i++) squares += (sorted[i] - mean) * (sorted[i] - mean);
    struct hl_statistics result = {
        .mean = mean,
        .deviation = count > 1 ? sqrt(squares / (count - 1)) : 0,
        .min = sorted[0],
        .p50 = count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2,
        .p90 = percentile(sorted, count, 0.9),
        .p99 = percentile(sorted, count, 0.99),
        .max = sorted[count - 1],
    };
    free(sorted);
    return result;
}

// ---- the change of a median -----------------------------------------------------------------------

// The value at position `at` of the sorted row; the row's order is lost.
static double select_at(double *values, int count, int at)
{
    int low = 0, high = count - 1;
    while (low < high) {
        double pivot = values[low + (high - low) / 2];
        int i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot) i++;
            while (values[j] > pivot) j--;
            if (i > j) break;
            double swap = values[i];
            values[i++] = values[j];
            values[j--] = swap;
        }
        if (at <= j)
            high = j;
        else if (at >= i)
            low = i;
        else
            break;
    }
    return values[at];
}

static double median_of(double *values, int count)
{
    double upper = select_at(values, count, count / 2);
    return count % 2 ? upper : (upper + select_at(values, count, count / 2 - 1)) / 2;
}

// The same sequence on every machine, so that a comparison can be repeated.
static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

// Fills `drawn` with blocks of neighbors from random positions.
static void draw_blocks(const double *values, int count, double *drawn, uint64_t *state)
{
    int length = (int)ceil(sqrt(count));
    for (int filled = 0; filled < count; filled += length) {
        int from = (int)(next_random(state) % (uint32_t)(count - length + 1));
        int part = length < count - filled ? length : count - filled;
        memcpy(drawn + filled, values + from, (size_t)part * sizeof *drawn);
    }
}

struct hl_change hl_statistics_change(const double *old, int old_count, const double *new, int new_count)
{
    enum { DRAWS = 2000, CUT = DRAWS / 200 }; // half a percent at either end
    double *old_drawn = hl_alloc((size_t)old_count, sizeof *old_drawn),
           *new_drawn = hl_alloc((size_t)new_count, sizeof *new_drawn), *ratios = hl_alloc(DRAWS, sizeof *ratios);
    uint64_t state = 1;
    for (int i = 0; i < DRAWS; i++) {
        draw_blocks(old, old_count, old_drawn, &state);
        draw_blocks(new, new_count, new_drawn, &state);
        ratios[i] = median_of(new_drawn, new_count) / median_of(old_drawn, old_count);
    }
    qsort(ratios, DRAWS, sizeof *ratios, compare_numbers);
    struct hl_change change = {.low = ratios[CUT], .high = ratios[DRAWS - 1 - CUT]};
    change.ratio = hl_statistics_of(new, new_count).p50 / hl_statistics_of(old, old_count).p50;
    free(old_drawn);
    free(new_drawn);
    free(ratios);
    return change;
}
