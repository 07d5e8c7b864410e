// SPDX-License-Identifier: Apache-2.0
// A model's file written anew, with some nodes of its main graph left out. In: the bytes of a verified file, and what
// to change. Out: the bytes of another. All that the schema knows is copied; a file that has more is refused, so that
// nothing is lost without a word. Files that are packed behind the model (labels) stay where they are.
#ifndef HALITE_TOOLS_LINT_REWRITE_H
#define HALITE_TOOLS_LINT_REWRITE_H

#include "model/model.h"
#include "text.h"

struct hl_rewrite {
    int *replaced; // by tensor of the main graph: what nodes read in its place
    bool *removed; // by node of the main graph
};

// By tensor of a subgraph: something reads or writes it, or knows it by its number. edits: NULL, or what is changed in
// the main graph. The caller frees.
bool *hl_rewrite_used_tensors(const TfLiteModel *model, int subgraph, const struct hl_rewrite *edits);

// False with the reason in `error`.
bool hl_rewrite_model(const TfLiteModel *model, const struct hl_rewrite *edits, struct hl_text *out,
                      struct hl_text *error);

#endif
