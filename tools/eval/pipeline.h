// SPDX-License-Identifier: Apache-2.0
// Pictures become inputs on threads of their own while the model runs. In: paths, in order. Out: inputs, in the same
// order, from a fixed number of places: a million pictures take no more memory than a hundred.
#ifndef HALITE_TOOLS_EVAL_PIPELINE_H
#define HALITE_TOOLS_EVAL_PIPELINE_H

#include <stdbool.h>

#include "preprocess.h"

struct hl_pipeline_setting {
    char *const *paths; // lent until hl_pipeline_destroy
    int first, count;   // paths[first] to paths[count - 1]
    int threads;        // 0: one per processor
    struct hl_preprocess_shape shape;
    double crop; // as hl_preprocess_scale takes it
    struct hl_normalization normalization;
    TfLiteQuantizationParams quantization;
};

struct hl_pipeline_item {
    const char *path;
    const void *input; // NULL where the picture cannot be used
    size_t bytes;
    const char *error;   // why it cannot
    double microseconds; // that reading, decoding and scaling took
};

struct hl_pipeline;

// NULL after a message in `error` where threads or memory cannot be had. The caller destroys it.
struct hl_pipeline *hl_pipeline_create(const struct hl_pipeline_setting *setting, struct hl_text *error);
// The next picture, lent until the next call. False behind the last one.
bool hl_pipeline_next(struct hl_pipeline *pipeline, struct hl_pipeline_item *item);
// Stops the threads. NULL is allowed.
void hl_pipeline_destroy(struct hl_pipeline *pipeline);

#endif
