// SPDX-License-Identifier: Apache-2.0
// The parts of the loader share this while one file becomes one model: the bytes, the memory, and the position in the
// file that messages name. First flatbuffer.c verifies the structure. Then decode.c, control_edges.c and options.c turn
// tables into structs. Last, verify.c and verify_data.c check what the structs say.
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

// Reports the message after the position in the file, as in "subgraph 0, node 3 (CONV_2D): …". Always returns false.
bool hl_load_fail(const struct hl_loader *loader, const char *format, ...) HL_PRINTF(2, 3);
// Gives "" or "s".
#define HL_PLURAL(count) ((count) == 1 ? "" : "s")
// Allocates zeroed memory, aligned to 8 bytes, that lives as long as the model. 0 elements do not give NULL. On failure
// it returns NULL after a message.
void *hl_load_array(struct hl_loader *loader, size_t count, size_t size);
// Counts bytes that a check is about to read. A file whose offsets share data could make the checks take time without
// bound; a file that shares nothing never reaches the limit. Returns false after a message.
bool hl_load_work(struct hl_loader *loader, uint64_t bytes);

// Turns tables into structs and fills loader->model. What the model holds then is representable, but not yet verified.
bool hl_load_decode(struct hl_loader *loader);
// Reads control dependencies from the metadata into `subgraphs`, which are the model's. It reports what is broken there
// and leaves it out. Returns false without memory.
bool hl_load_control_edges(struct hl_loader *loader, struct hl_model_subgraph *subgraphs);
// These check the model, and leave it as it is.
bool hl_load_verify_graph(struct hl_loader *loader);
bool hl_load_verify_tensor(struct hl_loader *loader, const struct hl_model_subgraph *subgraph,
                           const struct hl_model_tensor *tensor);

#endif
