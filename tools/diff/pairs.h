// SPDX-License-Identifier: Apache-2.0
// Which node of one model is which of another? In: two verified models. Out: their nodes in order, side by side, as far
// as they belong together: the same operator, the more so where the name or shape of what it makes is the same.
#ifndef HALITE_TOOLS_DIFF_PAIRS_H
#define HALITE_TOOLS_DIFF_PAIRS_H

#include "model/model.h"

struct hl_diff_pair {
    int a, b; // numbers of nodes in the main graphs; -1: the other model alone has it
};

// The caller frees.
struct hl_diff_pair *hl_diff_pair_nodes(const TfLiteModel *a, const TfLiteModel *b, int *count);

#endif
