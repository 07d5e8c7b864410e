// SPDX-License-Identifier: Apache-2.0
// All tensors of a run as files: FOLDER/nodeNNNN_M.npy for output M of node N of the main graph, and index.json, which
// says what each of them is.
#ifndef HALITE_TOOLS_RUN_DUMP_H
#define HALITE_TOOLS_RUN_DUMP_H

#include "diff/setting.h"

// Runs the model once more, from the beginning, with these inputs and with all tensors kept. False after a message.
bool hl_run_dump(const struct hl_model_file *file, const struct hl_model_options *options,
                 const struct hl_diff_inputs *inputs, const char *folder);

#endif
