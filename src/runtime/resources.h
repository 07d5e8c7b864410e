// SPDX-License-Identifier: Apache-2.0
// What outlives an invoke and belongs to no subgraph: resource variables, found by (container, shared name) from any
// subgraph, and which initialisation subgraphs have run. Hash tables join here with their operators.
#ifndef HALITE_RUNTIME_RESOURCES_H
#define HALITE_RUNTIME_RESOURCES_H

#include <stdbool.h>

#include "tensorflow/lite/c/common.h"

struct hl_resource_variable {
    char *container, *name;
    bool assigned;
    TfLiteTensor value; // heap memory, dims and quantisation of its own
};

struct hl_resources {
    struct hl_resource_variable *variables; // the id is the index
    int variable_count;
    bool *initialised; // by subgraph: CALL_ONCE ran it
};

// Finds or makes the variable of that name (NULL counts as ""). -1 without memory.
int hl_resource_id(struct hl_resources *resources, const char *container, const char *name);
// NULL where no variable has that id.
struct hl_resource_variable *hl_resource_variable(struct hl_resources *resources, int id);
void hl_resources_free(struct hl_resources *resources);

// For kernels: the resources of the interpreter that a context belongs to, and the value that a resource tensor's handle
// stands for (NULL where no variable has that handle).
struct hl_resources *hl_context_resources(const TfLiteContext *ctx);
struct hl_resource_variable *hl_context_variable(const TfLiteContext *ctx, const TfLiteTensor *handle);

#endif
