// SPDX-License-Identifier: Apache-2.0
// Names of classes: a text file, one name a line, the first for output 0.
#ifndef HALITE_TOOLS_LABELS_H
#define HALITE_TOOLS_LABELS_H

#include <stdbool.h>

#include "text.h"

struct hl_labels {
    int count;
    char **names; // into text
    struct hl_text text;
};

// False on failure, with the reason in `error`.
bool hl_labels_load(const char *path, struct hl_labels *labels, struct hl_text *error);
void hl_labels_free(struct hl_labels *labels);

#endif
