// SPDX-License-Identifier: Apache-2.0
// Resources outlive an invoke and belong to no subgraph. They are resource variables, found by (container, shared name)
// from any subgraph, and hash tables, found by number; beside them stands which initialization subgraphs have run. A
// tensor of type resource holds an int32 handle of a variable or a table.
#ifndef HALITE_RUNTIME_RESOURCES_H
#define HALITE_RUNTIME_RESOURCES_H

#include <stdbool.h>

#include "tensorflow/lite/c/common.h"

enum { HL_TABLE_HANDLES = 1 << 30 };

struct hl_resource_variable {
    char *container, *name;
    int64_t form;       // a number that no other shape or type, of any variable, has; 0: nothing was assigned
    TfLiteTensor value; // heap memory, dims and quantization of its own
};

// A table is filled once. Its keys and values are copies of what it was filled with.
struct hl_resource_table {
    int number; // in the model
    TfLiteType key_type, value_type;
    bool filled;
    TfLiteTensor keys, values; // heap memory
    int32_t *order;            // the different keys, rising: positions in keys and values
    int64_t count;             // of them
};

struct hl_resources {
    struct hl_resource_variable *variables; // the id is the index
    int variable_count;
    int64_t forms;                    // the last form of any
    struct hl_resource_table *tables; // as well, counted from HL_TABLE_HANDLES
    int table_count;
    bool *initialized; // by subgraph: CALL_ONCE ran it
    size_t bytes;      // of values, keys and orders: who resizes them counts them here
};

// Finds or makes the variable of that name (NULL counts as ""). Returns -1 without memory.
int hl_resource_id(struct hl_resources *resources, const char *container, const char *name);
// Returns NULL where no variable has that id.
struct hl_resource_variable *hl_resource_variable(struct hl_resources *resources, int id);
// Does the same for tables. Returns -1 without memory.
int hl_resource_table_id(struct hl_resources *resources, int number, TfLiteType key_type, TfLiteType value_type);
void hl_resources_free(struct hl_resources *resources);

// Kernels call these. They return the resources of the interpreter that a context belongs to, and what the handle of a
// resource tensor stands for (NULL where nothing has that handle).
struct hl_resources *hl_context_resources(const TfLiteContext *ctx);
struct hl_resource_variable *hl_context_variable(const TfLiteContext *ctx, const TfLiteTensor *handle);
struct hl_resource_table *hl_context_table(const TfLiteContext *ctx, const TfLiteTensor *handle);

#endif
