// SPDX-License-Identifier: Apache-2.0
// An interpreter as TensorFlow Lite's tools dump it: tensors with type, size, shape and place, memory by kind, nodes,
// the plan.
#ifndef HALITE_TOOLS_STATE_H
#define HALITE_TOOLS_STATE_H

#include "model_file.h"

// Columns of a name, type and allocation in the table of tensors: the original's.
struct hl_state_widths {
    int name, type, allocation;
};
#define HL_STATE_WIDTHS \
    {                   \
        25, 15, 18      \
    }

// "kTfLiteFloat32", "kTfLiteArenaRw".
const char *hl_state_type_name(TfLiteType type);
const char *hl_state_allocation_name(TfLiteAllocationType type);

// The delegate's node that stands for this node, -1 where none does.
struct hl_subgraph;
int hl_state_replaced_by(const struct hl_subgraph *subgraph, int node);

void hl_state_print(const struct hl_model_file *file, struct hl_state_widths widths, struct hl_text *text);

#endif
