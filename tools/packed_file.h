// SPDX-License-Identifier: Apache-2.0
// Files that are packed into a model's file: a ZIP archive behind the FlatBuffer, where the field's metadata keeps
// labels and vocabularies.
#ifndef HALITE_TOOLS_PACKED_FILE_H
#define HALITE_TOOLS_PACKED_FILE_H

#include <stdbool.h>

#include "model/model.h"
#include "text.h"

// Adds the content of the first file whose name has this part and this ending. False where there is none; an archive
// that is damaged has none.
bool hl_packed_file_read(const TfLiteModel *model, const char *part, const char *ending, struct hl_text *content);

#endif
