// SPDX-License-Identifier: Apache-2.0
// What a model's TFLITE_METADATA says of its inputs (the field's own format: metadata_schema.fbs of tflite-support).
#ifndef HALITE_TOOLS_METADATA_H
#define HALITE_TOOLS_METADATA_H

#include <stdbool.h>

#include "model/model.h"
#include "preprocess.h"

// Normalisation of an input of the primary subgraph. False where the metadata has none; damaged metadata has none.
bool hl_metadata_normalisation(const TfLiteModel *model, int input, struct hl_normalisation *normalisation);

// Name, description, version, author and licence of the model, each NULL where absent. Lent by the model.
struct hl_metadata_about {
    const char *name, *description, *version, *author, *licence;
};
void hl_metadata_about(const TfLiteModel *model, struct hl_metadata_about *about);

#endif
