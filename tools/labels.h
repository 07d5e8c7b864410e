// SPDX-License-Identifier: Apache-2.0
// Names of classes: a text file, or one that is packed into a model's; one name a line, the first for output 0.
#ifndef HALITE_TOOLS_LABELS_H
#define HALITE_TOOLS_LABELS_H

#include <stdbool.h>

#include "model/model.h"
#include "text.h"

// The row of this flag in a command's table, for its options `struct type` with a member `member`.
#define HL_LABELS_FLAG(type, member)                                                 \
    {                                                                                \
        .name = "labels", .letter = 'l', .kind = HL_FLAG_STRING, .value = "FILE",    \
        .offset = offsetof(struct type, member),                                     \
        .help = "names of the classes, one a line; default: those that are packed\n" \
                "into the model's file, else classes are numbers"                    \
    }

struct hl_labels {
    int count;
    char **names; // into text
    struct hl_text text;
};

// False on failure, with the reason in `error`.
bool hl_labels_load(const char *path, struct hl_labels *labels, struct hl_text *error);
// The labels that are packed into a model's file. False where there are none, or none that can be read.
bool hl_labels_load_packed(const TfLiteModel *model, struct hl_labels *labels);
void hl_labels_free(struct hl_labels *labels);

#endif
