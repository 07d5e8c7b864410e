// SPDX-License-Identifier: Apache-2.0
// An interpreter as TensorFlow Lite's tools dump it: tensors with type, size, shape and place, memory by kind, nodes, the plan.
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

void hl_state_print(const struct hl_model_file *file, struct hl_state_widths widths,
                    struct hl_text *text);

#endif
