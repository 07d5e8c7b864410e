// SPDX-License-Identifier: Apache-2.0
// Memory of a subgraph's tensors. In: allocation types, sizes and the plan's order. Out: data pointers.
//
//   arena        kTfLiteArenaRw: one block; tensors whose lives do not overlap share its bytes. Largest first, each
//                into the smallest gap that fits among the tensors alive at the same time:
//
//                offset |  [ conv1 out      ]       [ conv3 out    ]
//                       |         [ conv2 out      ]
//                       +---------------------------------------------> position in the plan
//
//   persistent   kTfLiteArenaRwPersistent: a block of its own each, so that content and address stay when others grow.
//
// Tensors of the heap (dynamic), of the file and of the caller are not the planner's.
#ifndef HALITE_RUNTIME_PLANNER_H
#define HALITE_RUNTIME_PLANNER_H

#include <stdbool.h>
#include <stddef.h>

#include "tensorflow/lite/c/c_api_types.h"

struct hl_subgraph;

// Where one tensor lies. Positions are those of the execution plan.
struct hl_placement {
    int first, last; // life; first > last: nobody uses the tensor
    int shares;      // tensor whose memory it takes over in place, -1: none
    int owner;       // tensor whose memory it is in the end: itself, or what a row of such takeovers began with
    int held;        // of an owner of memory: last position at which it, or who took the memory over, lives
    bool placed;     // offset is valid
    size_t offset;   // in the arena
    size_t bytes;    // as placed, or of the persistent block
    void *block;     // persistent tensors only
};

struct hl_planner {
    struct hl_placement *placements; // by tensor
    int count, capacity;
    // Owners of memory that live at position live_from or later, by rising offset: what a plan from there on meets.
    struct hl_sized {
        size_t key;
        int tensor;
    } * live;
    int live_count, live_capacity, live_from;
    void *arena_block;    // as allocated
    unsigned char *arena; // in it, aligned to HL_TENSOR_ALIGNMENT
    size_t arena_size;
};

// What kernels may rely on and custom allocations must keep: a cache line, and the widest vector.
enum { HL_TENSOR_ALIGNMENT = 64 };

// Places the tensors of plan positions [from, prepared) that have no place yet, and sets their data pointers. From 0:
// those of all tensors, whose lives are found anew; the arena must have been reset.
TfLiteStatus hl_planner_place(struct hl_subgraph *subgraph, int from, int prepared);
// Forgets places of the tensors of positions [position, prepared) that come to life there.
void hl_planner_forget(struct hl_subgraph *subgraph, int position, int prepared);
// Forgets everything but persistent blocks, and frees the arena's users: data pointers become NULL.
void hl_planner_reset(struct hl_subgraph *subgraph);
void hl_planner_free(struct hl_planner *planner);
size_t hl_planner_persistent_bytes(const struct hl_planner *planner);
// Sum of the sizes of all placed tensors: what the arena would be without sharing.
size_t hl_planner_unshared_bytes(const struct hl_planner *planner);

#endif
