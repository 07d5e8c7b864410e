// SPDX-License-Identifier: Apache-2.0
// What the parts of the loader share while one file becomes one model: the bytes, the memory, and
// the place in the file that messages name. In order: flatbuffer.c verifies the structure, decode.c,
// control_edges.c and options.c turn tables into structs, verify.c and verify_data.c check what the structs say.
#ifndef HALITE_MODEL_LOADER_H
#define HALITE_MODEL_LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/report.h"
#include "model/flatbuffer.h"
#include "model/model.h"

enum { HL_DEEPEST_CALLS = 128 }; // subgraphs that call each other: all on a stack of 128 KiB

struct hl_loader {
    struct hl_flatbuffer file;
    const struct hl_reporter *reporter;
    struct hl_arena *arena;
    struct TfLiteModel *model;
    uint64_t work_left; // bytes that may still be looked at: hl_load_work
    bool exhausted;     // an allocation has failed, and this has been said

    // Where we are: each -1 where it says nothing. node and tensor count within the subgraph.
    int subgraph, node, tensor;
    const char *node_name, *tensor_name;
};

// Reports the format's message behind the place, as in "subgraph 0, node 3 (CONV_2D): …". Always
// false.
bool hl_load_fail(const struct hl_loader *loader, const char *format, ...) HL_PRINTF(2, 3);
// "" or "s".
#define HL_PLURAL(count) ((count) == 1 ? "" : "s")
// Zeroed, 8-aligned and never NULL for 0 elements; on failure NULL after a message. Lives as long
// as the model.
void *hl_load_array(struct hl_loader *loader, size_t count, size_t size);
// Accounts for bytes that a check is about to read. A file that lets offsets share data could make
// the checks take time without bound; one that does not never runs out. False after a message.
bool hl_load_work(struct hl_loader *loader, uint64_t bytes);

// Tables to structs. Fills loader->model; what it holds then is representable, but not yet
// verified.
bool hl_load_decode(struct hl_loader *loader);
// The part of it that reads control dependencies from the metadata into `subgraphs`, which are the model's. What is
// broken there is told and left out. False without memory.
bool hl_load_control_edges(struct hl_loader *loader, struct hl_model_subgraph *subgraphs);
// The checks. Both leave the model as it is.
bool hl_load_verify_graph(struct hl_loader *loader);
bool hl_load_verify_tensor(struct hl_loader *loader, const struct hl_model_subgraph *subgraph,
                           const struct hl_model_tensor *tensor);

#endif
