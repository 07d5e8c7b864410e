// SPDX-License-Identifier: Apache-2.0
// The parts of halite inspect: text for people (inspect_text.c), memory (inspect_memory.c), JSON (inspect_json.c),
// operators over many models (inspect_ops.c). Everything but memory is read from the verified model, so it works
// without kernels.
#ifndef HALITE_TOOLS_INSPECT_H
#define HALITE_TOOLS_INSPECT_H

#include <stdbool.h>

#include "halite/halite.h"
#include "model_file.h"
#include "node_work.h"
#include "placement.h"

struct hl_inspect_options {
    bool ops, json, tensors, nodes, memory, placement;
    struct hl_model_options model; // model.model is the operand
};

// An operator code as nodes use it, counted over the whole model.
struct hl_inspect_count {
    const struct hl_model_code *code;
    int nodes;
    struct hl_node_work work; // of these nodes; a constant that two read counts twice
};

// Sorted by name and version; *count of them. The caller frees.
struct hl_inspect_count *hl_inspect_count_operators(const TfLiteModel *model, int *count);

// Bytes of all constants of a subgraph, those that tensors share counted once.
size_t hl_inspect_constant_bytes(const struct hl_model_subgraph *subgraph);

// Length of a metadata entry's text where it is one, printable and short, else 0.
int hl_inspect_metadata_text(const struct hl_model_metadata *entry);

// file->interpreter is NULL where the model cannot run here.
void hl_inspect_text(const struct hl_model_file *file, const struct hl_inspect_options *options);
void hl_inspect_memory_text(const struct hl_model_file *file);
// "arena", "constant" and the like.
const char *hl_inspect_place_name(TfLiteAllocationType where);
// Bytes of all that a run holds, beside the program.
size_t hl_inspect_memory_total(const HaliteMemoryReport *memory);
// placement: NULL where it is not wanted.
void hl_inspect_json(const struct hl_model_file *file, const struct hl_node_placement *placement);
// The model alone, as a tree of cJSON; the caller deletes it.
struct cJSON *hl_inspect_to_json(const struct hl_model_file *file);

// Prints the operators of all .tflite files in and below `paths`. False where a file could not be read.
bool hl_inspect_ops(int path_count, char **paths, bool json);

#endif
