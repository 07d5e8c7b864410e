// SPDX-License-Identifier: Apache-2.0
// See resample.h. A sample of the new rate is a weighted sum of the old ones around it: the weights are a sinc, cut off
// by a Hann window after some of its zeros, for each of the positions that it can have between two samples. Each set of
// weights has the sum 1, so that a constant stays what it is.
#include "transcribe/resample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"

// Zeros of the sinc on each side; kernels at the most, for rates that share little (with the nearest of so many the
// error is 60 dB below the signal); and the part of the lower rate's half that passes.
enum { ZEROS = 24, MAX_POSITIONS = 2048 };
static const double passes = 0.94, pi = 3.14159265358979323846;

void hl_samples_add(struct hl_samples *samples, const float *more, size_t count)
{
    if (samples->capacity - samples->count < count) {
        samples->capacity = 2 * samples->capacity + count;
        samples->items = hl_alloc_grow(samples->items, samples->capacity, sizeof *samples->items);
    }
    if (count == 0) return;
    if (more != NULL)
        memcpy(samples->items + samples->count, more, count * sizeof *more);
    else
        memset(samples->items + samples->count, 0, count * sizeof *samples->items);
    samples->count += count;
}

void hl_samples_drop(struct hl_samples *samples, size_t count)
{
    samples->count -= count;
    if (samples->count > 0) memmove(samples->items, samples->items + count, samples->count * sizeof *samples->items);
}

void hl_samples_free(struct hl_samples *samples)
{
    free(samples->items);
    *samples = (struct hl_samples){0};
}

static int common_divisor(int a, int b)
{
    while (b != 0) {
        int rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// The kernel of a position `part` (0 to 1) behind the sample half - 1.
static void make_kernel(double cutoff, int half, double part, float *kernel)
{
    double sum = 0;
    for (int pass = 0; pass < 2; pass++) // the second one divides by the sum
        for (int i = 0; i < 2 * half; i++) {
            double at = i - (half - 1) - part, x = pi * cutoff * at, width = half;
            double value = fabs(at) >= width ? 0 : (x == 0 ? 1 : sin(x) / x) * (0.5 + 0.5 * cos(pi * at / width));
            if (pass == 0)
                sum += value;
            else
                kernel[i] = (float)(value / sum);
        }
}

void hl_resampler_start(struct hl_resampler *resampler, int from, int to)
{
    int shared = common_divisor(from, to);
    double cutoff = passes * (to < from ? (double)to / from : 1);
    *resampler = (struct hl_resampler){.up = to / shared, .down = from / shared, .half = (int)ceil(ZEROS / cutoff)};
    if (from == to) return;
    size_t taps = 2 * (size_t)resampler->half;
    resampler->positions = resampler->up < MAX_POSITIONS ? resampler->up : MAX_POSITIONS;
    resampler->kernels = hl_alloc((size_t)resampler->positions * taps, sizeof *resampler->kernels);
    for (int i = 0; i < resampler->positions; i++)
        make_kernel(cutoff, resampler->half, (double)i / resampler->positions, resampler->kernels + (size_t)i * taps);
    hl_samples_add(&resampler->input, NULL, (size_t)resampler->half - 1);
}

// All samples of the new rate whose neighbors are there, `last` of them at the most.
static void convert(struct hl_resampler *resampler, uint64_t last, struct hl_samples *output)
{
    size_t taps = 2 * (size_t)resampler->half;
    for (; resampler->given < last; resampler->given++) {
        uint64_t position = resampler->given * (uint64_t)resampler->down;
        uint64_t first = position / (uint64_t)resampler->up - resampler->dropped;
        if (first + taps > resampler->input.count) break;
        uint64_t part = position % (uint64_t)resampler->up * (uint64_t)resampler->positions / (uint64_t)resampler->up;
        const float *kernel = resampler->kernels + (size_t)part * taps;
        float sum = 0;
        for (size_t i = 0; i < taps; i++) sum += kernel[i] * resampler->input.items[first + i];
        hl_samples_add(output, &sum, 1);
    }
    uint64_t next = resampler->given * (uint64_t)resampler->down / (uint64_t)resampler->up - resampler->dropped;
    if (next > resampler->input.count) next = resampler->input.count;
    hl_samples_drop(&resampler->input, (size_t)next);
    resampler->dropped += next;
}

void hl_resampler_add(struct hl_resampler *resampler, const float *samples, size_t count, struct hl_samples *output)
{
    if (resampler->kernels == NULL) {
        hl_samples_add(output, samples, count);
        return;
    }
    resampler->taken += count;
    hl_samples_add(&resampler->input, samples, count);
    convert(resampler, UINT64_MAX, output);
}

void hl_resampler_finish(struct hl_resampler *resampler, struct hl_samples *output)
{
    if (resampler->kernels == NULL) return;
    // As many as lie before the end of the last sample.
    uint64_t up = (uint64_t)resampler->up, down = (uint64_t)resampler->down;
    hl_samples_add(&resampler->input, NULL, 2 * (size_t)resampler->half);
    convert(resampler, (resampler->taken * up + down - 1) / down, output);
}

void hl_resampler_free(struct hl_resampler *resampler)
{
    free(resampler->kernels);
    hl_samples_free(&resampler->input);
    *resampler = (struct hl_resampler){0};
}
