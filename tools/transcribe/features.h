// SPDX-License-Identifier: Apache-2.0
// What keyword models hear in place of sound: a few numbers for each short frame. In: frames of samples at 16 kHz. Out:
// rows of features as the models' training made them. Each kind is a set of formulas that is publicly known; a model's
// file does not hold them.
#ifndef HALITE_TOOLS_TRANSCRIBE_FEATURES_H
#define HALITE_TOOLS_TRANSCRIBE_FEATURES_H

#include <stdbool.h>

enum { HL_FEATURES_RATE = 16000, HL_FEATURES_MAX = 40 };

struct hl_features;

struct hl_feature_kind {
    const char *name;
    int channels;     // numbers for a frame
    int frame, step;  // samples of one, and usually from one to the next
    int length;       // of the Fourier transform
    int bands;        // of the mel filters
    double low, high; // their limits in hertz
    bool power;       // they gather squared magnitudes, else magnitudes
    bool by_window;   // samples are divided by the largest of all frames that a model sees at once
    double (*taper)(int i, int frame);
    // From the bands of a frame to its features.
    void (*finish)(struct hl_features *features, const double *bands, float *row);
    double emphasis; // this part of the sample before is taken off each
};

// By the names that users know; name NULL at the end.
extern const struct hl_feature_kind hl_feature_kinds[];

struct hl_features {
    const struct hl_feature_kind *kind;
    int step;                      // samples from one frame to the next
    double *roots, *line;          // of the transform
    double *filters;               // [bands][length / 2 + 1]
    double noise[HL_FEATURES_MAX]; // of each band: estimated from the frames so far
    double last;                   // the sample before the frame
};

void hl_features_start(struct hl_features *features, const struct hl_feature_kind *kind, int step);
// The frame after the ones before; `samples` has kind->frame of them, which are multiplied by `gain`.
void hl_features_add(struct hl_features *features, const float *samples, double gain, float *row);
// As if no frame had been before.
void hl_features_reset(struct hl_features *features);
void hl_features_free(struct hl_features *features);

#endif
