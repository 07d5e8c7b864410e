// SPDX-License-Identifier: Apache-2.0
// SOFTMAX and LOG_SOFTMAX of rows of floats. In: rows and beta. Out: rows of probabilities, or of their logarithms.
#ifndef HALITE_FAST_SIMD_SOFTMAX_TMPL_H
#define HALITE_FAST_SIMD_SOFTMAX_TMPL_H

#include <float.h>
#include <math.h>

#include "fast/simd/functions_tmpl.h"
#include "fast/simd/vector.h"

// So many vectors of a row at once, none of which waits for another.
enum { SOFTMAX_VECTORS = 4 };

// The largest value; as in the reference kernel, a NaN never is.
static float largest_of(const float *x, int length)
{
    f32_vector most[SOFTMAX_VECTORS];
    UNROLL for (int v = 0; v < SOFTMAX_VECTORS; v++) most[v] = splat_f32(-FLT_MAX);
    int64_t i = 0;
    for (; i + SOFTMAX_VECTORS * LANES <= length; i += SOFTMAX_VECTORS * LANES)
        UNROLL for (int v = 0; v < SOFTMAX_VECTORS; v++) most[v] = max_f32(load_f32(x + i + v * LANES), most[v]);
    UNROLL for (int v = 1; v < SOFTMAX_VECTORS; v++) most[0] = max_f32(most[0], most[v]);
    for (; i + LANES <= length; i += LANES) most[0] = max_f32(load_f32(x + i), most[0]);
    float largest = largest_lane(most[0]);
    for (; i < length; i++)
        if (x[i] > largest) largest = x[i];
    return largest;
}

// Stores y[i] = exp((x[i] - largest) * beta), where there is a y, and returns their sum.
static float exponentials(const float *x, float *y, int length, float largest, float beta)
{
    f32_vector sums[SOFTMAX_VECTORS] = {{0}};
    int64_t i = 0;
    for (; i + SOFTMAX_VECTORS * LANES <= length; i += SOFTMAX_VECTORS * LANES)
        UNROLL for (int k = 0; k < SOFTMAX_VECTORS; k++)
        {
            const f32_vector v = exp_below_0((load_f32(x + i + k * LANES) - largest) * beta, (f32_vector){0});
            sums[k] += v;
            if (y) store_f32(y + i + k * LANES, v);
        }
    for (; i + LANES <= length; i += LANES) {
        const f32_vector v = exp_below_0((load_f32(x + i) - largest) * beta, (f32_vector){0});
        sums[0] += v;
        if (y) store_f32(y + i, v);
    }
    UNROLL for (int k = 1; k < SOFTMAX_VECTORS; k++) sums[0] += sums[k];
    float sum = 0;
    if (i < length) {
        const f32_vector v = exp_below_0((load_first_f32(x + i, length - i) - largest) * beta, (f32_vector){0});
        float rest[LANES];
        store_f32(rest, v);
        if (y) store_first_f32(y + i, v, length - i);
        for (int k = 0; k < length - i; k++) sum += rest[k];
    }
    return sum + sum_of_lanes(sums[0]);
}

// Rows that are shorter than a vector share the vectors of exponentials, as many rows as fit a buffer at a time.
static void softmax_short_rows(const float *x, float *y, int64_t rows, int length, float beta)
{
    enum { MAX_VALUES = 512 };
    float values[MAX_VALUES + LANES] = {0};
    int together = MAX_VALUES / length;
    for (int64_t row = 0, count; row < rows; row += count) {
        count = rows - row < together ? rows - row : together;
        const float *from = x + row * length;
        float *to = y + row * length;
        int all = (int)count * length;
        for (int at = 0; at < all; at += length) {
            float largest = -FLT_MAX;
            for (int i = 0; i < length; i++)
                if (from[at + i] > largest) largest = from[at + i];
            for (int i = 0; i < length; i++) values[at + i] = (from[at + i] - largest) * beta;
        }
        for (int i = 0; i < all; i += LANES) {
            store_f32(values + i, exp_below_0(load_f32(values + i), (f32_vector){0}));
        }
        for (int at = 0; at < all; at += length) {
            float sum = 0;
            for (int i = 0; i < length; i++) sum += values[at + i];
            for (int i = 0; i < length; i++) to[at + i] = values[at + i] / sum;
        }
    }
}

static void softmax_f32(const float *x, float *y, int64_t rows, int length, float beta)
{
    if (length < LANES) {
        softmax_short_rows(x, y, rows, length, beta);
        return;
    }
    for (; rows > 0; rows--, x += length, y += length) {
        float inverse = 1 / exponentials(x, y, length, largest_of(x, length), beta);
        for (int i = 0; i < length; i++) y[i] *= inverse;
    }
}

static void log_softmax_f32(const float *x, float *y, int64_t rows, int length, float beta)
{
    (void)beta; // it has none
    for (; rows > 0; rows--, x += length, y += length) {
        const float largest = largest_of(x, length), log_of_sum = logf(exponentials(x, NULL, length, largest, 1));
        for (int i = 0; i < length; i++) y[i] = x[i] - largest - log_of_sum;
    }
}

#endif
