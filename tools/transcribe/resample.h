// SPDX-License-Identifier: Apache-2.0
// Sound at another rate. In: samples, as they come. Out: samples of the same signal at the other rate, without the
// frequencies that it has no room for.
#ifndef HALITE_TOOLS_TRANSCRIBE_RESAMPLE_H
#define HALITE_TOOLS_TRANSCRIBE_RESAMPLE_H

#include <stddef.h>
#include <stdint.h>

// A list of samples that grows; `struct hl_samples samples = {0};` starts an empty one.
struct hl_samples {
    float *items;
    size_t count, capacity;
};
void hl_samples_add(struct hl_samples *samples, const float *more, size_t count); // more NULL: zeros
void hl_samples_drop(struct hl_samples *samples, size_t count);                   // the first ones
void hl_samples_free(struct hl_samples *samples);

struct hl_resampler {
    int up, down;   // the rates, divided by what they share
    int half;       // samples on each side that one of the other rate is made of
    int positions;  // between two samples, at most `up`
    float *kernels; // [positions][2 * half]
    struct hl_samples input;
    uint64_t dropped;      // samples that `input` no longer holds
    uint64_t taken, given; // samples in and out
};

void hl_resampler_start(struct hl_resampler *resampler, int from, int to);
// Adds to `output` what the samples so far say.
void hl_resampler_add(struct hl_resampler *resampler, const float *samples, size_t count, struct hl_samples *output);
// The same for what is left at the end, with silence behind it.
void hl_resampler_finish(struct hl_resampler *resampler, struct hl_samples *output);
void hl_resampler_free(struct hl_resampler *resampler);

#endif
