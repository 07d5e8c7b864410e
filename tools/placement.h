// SPDX-License-Identifier: Apache-2.0
// Where the nodes of a model would run with a delegate, for halite inspect --placement. In: a model, the choice of a
// delegate of Halite's and of a device. Out: the delegate's report, subgraph by subgraph, as text or JSON.
#ifndef HALITE_TOOLS_PLACEMENT_H
#define HALITE_TOOLS_PLACEMENT_H

#include <cjson/cJSON.h>

#include "model_file.h"

struct hl_node_placement {
    struct hl_model_file file;          // with the delegate applied
    struct hl_delegate_library library; // of the delegate
    TfLiteDelegate *other;              // a delegate that is not the GPU's: it is none of the file's
    HaliteDelegateReport *report;
    bool cpu;     // XNNPACK, which leaves all nodes to the CPU's kernels: there is no library and no report
    bool assumed; // the delegate's system is not here: something stands for it that computes nothing
    bool refused; // the runtime keeps the graph from the delegate; file.messages says why
    const HaliteDelegateGraph **graphs; // by subgraph, NULL: the delegate was not asked
};

// Applies a delegate to the model of `path`. False after a message; hl_node_placement_close is right in both cases.
bool hl_node_placement_open(struct hl_node_placement *placement, const char *command, const char *path,
                            const struct hl_model_options *options);
void hl_node_placement_close(struct hl_node_placement *placement);

void hl_node_placement_text(const struct hl_node_placement *placement);
void hl_node_placement_json(const struct hl_node_placement *placement, cJSON *json);

#endif
