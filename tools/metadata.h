// SPDX-License-Identifier: Apache-2.0
// What a model's TFLITE_METADATA says of its inputs (the field's own format: metadata_schema.fbs of tflite-support).
#ifndef HALITE_TOOLS_METADATA_H
#define HALITE_TOOLS_METADATA_H

#include <stdbool.h>

#include "model/model.h"
#include "preprocess.h"

// Normalization of an input of the primary subgraph. False where the metadata has none; damaged metadata has none.
bool hl_metadata_normalization(const TfLiteModel *model, int input, struct hl_normalization *normalization);

// Samples a second of an input that takes sound; 0 where the metadata does not say.
int hl_metadata_sound_rate(const TfLiteModel *model, int input);

// Name, description, version, author and license of the model, each NULL where absent. Lent by the model.
struct hl_metadata_about {
    const char *name, *description, *version, *author, *license;
};
void hl_metadata_about(const TfLiteModel *model, struct hl_metadata_about *about);

#endif
