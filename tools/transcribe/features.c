// SPDX-License-Identifier: Apache-2.0
// See features.h. All kinds taper a frame, take its Fourier transform and gather frequencies by triangles that are even
// on the mel scale; then each goes its own way:
//     micro  TensorFlow's micro frontend: square root, less an estimate of the noise, gain by the noise, logarithm; its
//            numbers are integers, which is kept where it can be heard: what is quiet is zero
//     mfcc   MLPerf Tiny's keyword spotting: logarithm, cosine transform, the first ten
//     lfbe   MLPerf Tiny's streaming wakeword: decibels from -52 to 12 as 0 to 1, with an emphasis on what is high
#include "transcribe/features.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "ops/common/fft.h"

static const double pi = 3.14159265358979323846;

static double hann_between(int i, int frame)
{
    return 0.5 - 0.5 * cos(2 * pi * (i + 0.5) / frame);
}

static double hann(int i, int frame)
{
    return 0.5 - 0.5 * cos(2 * pi * i / frame);
}

static double hamming(int i, int frame)
{
    return 0.54 - 0.46 * cos(2 * pi * i / (frame - 1));
}

// Samples count as 16-bit integers here. The original's integers are an eighth of the magnitudes, as its transform
// divides by its length of 512 and its filters multiply by 64, and 64 times the gain.
static void finish_micro(struct hl_features *features, const double *bands, float *row)
{
    static const double smoothing[] = {0.025, 0.06}; // of even and odd bands
    const double remaining = 0.05, strength = 0.95, offset = 80, unit = 8;
    for (int i = 0; i < features->kind->bands; i++) {
        double signal = floor(sqrt(bands[i]) * 32768 / unit), part = smoothing[i % 2];
        features->noise[i] = signal * part + features->noise[i] * (1 - part);
        double clean = floor(fmax(signal - features->noise[i], remaining * signal));
        double ratio = unit * clean * pow(unit * features->noise[i] + offset, -strength);
        double gained = floor(64 * (ratio < 2 ? ratio * ratio / 4 : ratio - 1));
        double scaled = gained > 0 ? floor(64 * log(unit * gained) + 0.5) : 0;
        row[i] = (float)(scaled / 25.6);
    }
}

static void finish_mfcc(struct hl_features *features, const double *bands, float *row)
{
    double logarithms[HL_FEATURES_MAX];
    int count = features->kind->bands;
    for (int i = 0; i < count; i++) logarithms[i] = log(bands[i] + 1e-6);
    for (int k = 0; k < features->kind->channels; k++) {
        double sum = 0;
        for (int i = 0; i < count; i++) sum += logarithms[i] * cos(pi * k * (i + 0.5) / count);
        row[k] = (float)(sum * sqrt(2.0 / count));
    }
}

static void finish_lfbe(struct hl_features *features, const double *bands, float *row)
{
    for (int i = 0; i < features->kind->bands; i++) {
        double decibels = 10 * log10(fmax(bands[i] / features->kind->frame, 1e-30));
        row[i] = (float)fmin(1, fmax(0, (decibels + 52) / 64));
    }
}

const struct hl_feature_kind hl_feature_kinds[] = {
    {
        .name = "micro",
        .channels = 40,
        .frame = 480,
        .step = 320,
        .length = 512,
        .bands = 40,
        .low = 125,
        .high = 7500,
        .power = true,
        .taper = hann_between,
        .finish = finish_micro,
    },
    {
        .name = "mfcc",
        .channels = 10,
        .frame = 480,
        .step = 320,
        .length = 512,
        .bands = 40,
        .low = 20,
        .high = 4000,
        .by_window = true,
        .taper = hann,
        .finish = finish_mfcc,
    },
    {
        .name = "lfbe",
        .channels = 40,
        .frame = 1024,
        .step = 512,
        .length = 1024,
        .bands = 40,
        .low = 0,
        .high = 8000,
        .power = true,
        .taper = hamming,
        .finish = finish_lfbe,
        .emphasis = 1 - 1.0 / 32,
    },
    {.name = NULL},
};

static double mel(double hertz)
{
    return 1127 * log1p(hertz / 700);
}

static void make_filters(struct hl_features *features)
{
    const struct hl_feature_kind *kind = features->kind;
    int bins = kind->length / 2 + 1;
    double low = mel(kind->low), width = (mel(kind->high) - low) / (kind->bands + 1);
    for (int band = 0; band < kind->bands; band++)
        for (int i = 1; i < bins; i++) { // none takes the constant part
            double at = (mel((double)i * HL_FEATURES_RATE / kind->length) - low) / width - band;
            features->filters[band * bins + i] = fmax(0, fmin(at, 2 - at));
        }
}

void hl_features_start(struct hl_features *features, const struct hl_feature_kind *kind, int step)
{
    size_t length = (size_t)kind->length;
    *features = (struct hl_features){.kind = kind, .step = step};
    features->roots = hl_alloc(length, sizeof *features->roots);
    features->line = hl_alloc(length + 2, sizeof *features->line);
    features->filters = hl_alloc((size_t)kind->bands * (length / 2 + 1), sizeof *features->filters);
    hl_fft_roots(kind->length, features->roots);
    make_filters(features);
}

void hl_features_add(struct hl_features *features, const float *samples, double gain, float *row)
{
    const struct hl_feature_kind *kind = features->kind;
    int bins = kind->length / 2 + 1;
    double bands[HL_FEATURES_MAX] = {0}, *line = features->line, before = features->last;
    memset(line, 0, ((size_t)kind->length + 2) * sizeof *line);
    for (int i = 0; i < kind->frame; i++) {
        double sample = gain * (double)samples[i];
        line[i] = (sample - kind->emphasis * before) * kind->taper(i, kind->frame);
        before = sample;
    }
    features->last = gain * (double)samples[features->step - 1];
    hl_fft_real(kind->length, features->roots, line);
    for (int i = 0; i < bins; i++) {
        double power = line[2 * i] * line[2 * i] + line[2 * i + 1] * line[2 * i + 1];
        double value = kind->power ? power : sqrt(power);
        for (int band = 0; band < kind->bands; band++) bands[band] += value * features->filters[band * bins + i];
    }
    kind->finish(features, bands, row);
}

void hl_features_reset(struct hl_features *features)
{
    memset(features->noise, 0, sizeof features->noise);
    features->last = 0;
}

void hl_features_free(struct hl_features *features)
{
    free(features->roots);
    free(features->line);
    free(features->filters);
    *features = (struct hl_features){0};
}
