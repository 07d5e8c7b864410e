// SPDX-License-Identifier: Apache-2.0
// Memory of a subgraph's tensors. In: allocation types, sizes and the plan's order. Out: data pointers.
//
//   arena        kTfLiteArenaRw: one block; tensors whose lifetimes do not overlap share its bytes. Inputs are
//                placed first, then the largest, each into the smallest gap between those that live at the same time:
//
//                offset |  [ conv1 out      ]       [ conv3 out    ]
//                       |         [ conv2 out      ]
//                       +---------------------------------------------> position in the plan
//
//   persistent   kTfLiteArenaRwPersistent: a block for each tensor, so that its content and address stay when others
//                grow.
//
// Dynamic tensors lie on the heap, constants in the file, custom allocations with the caller: the planner leaves them
// alone.
#ifndef HALITE_RUNTIME_PLANNER_H
#define HALITE_RUNTIME_PLANNER_H

#include <stdbool.h>
#include <stddef.h>

#include "tensorflow/lite/c/c_api_types.h"

struct hl_subgraph;

// Where one tensor lies. Positions are those of the execution plan.
struct hl_placement {
    int first, last; // lifetime: from the position that writes it to the last that reads it; first > last if none does
    int shares;      // the tensor whose memory this one reuses in place, or whose values it has; or -1
    bool looks;      // at that memory while others may: it did not take it over
    int owner;       // the tensor that the memory was placed for: itself, or the first of a chain of reuses in place
    int held;        // owners only: the last position at which a tensor of the chain lives
    bool inside;     // it is a part of what `shares` names, the output of a CONCATENATION (concat_in_place.c)
    bool in_rows;    // then: of each row of that one, so that the tensor itself has no data pointer
    size_t within;   // then: its first byte, counted from that one's
    bool placed;     // `offset` is valid
    size_t offset;   // in the arena
    size_t bytes;    // that were reserved in the arena or in `block`
    void *block;     // persistent tensors only
};

struct hl_planner {
    struct hl_placement *placements; // by tensor
    int count, capacity;
    // Owners of memory that live at position live_from or later, sorted by offset: the gaps that planning from there on
    // may use lie between them.
    struct hl_sized {
        size_t key;
        int tensor;
    } * live;
    int live_count, live_capacity, live_from;
    void *arena_block;    // the allocation
    unsigned char *arena; // the first address in it that is aligned to HL_TENSOR_ALIGNMENT
    size_t arena_size;
};

// The alignment in bytes that kernels may rely on and custom allocations must have: a cache line and the widest vector.
enum { HL_TENSOR_ALIGNMENT = 64 };

// Places the tensors of plan positions [from, prepared) that are not placed yet, and sets their data pointers. With
// from = 0 it computes the lifetimes of all tensors anew; the arena must have been reset before.
TfLiteStatus hl_planner_place(struct hl_subgraph *subgraph, int from, int prepared);
// Unplaces the tensors whose lifetimes begin at positions [position, prepared).
void hl_planner_forget(struct hl_subgraph *subgraph, int position, int prepared);
// Unplaces all tensors of the arena and sets their data pointers to NULL. Persistent blocks stay.
void hl_planner_reset(struct hl_subgraph *subgraph);
void hl_planner_free(struct hl_planner *planner);
// Makes room for what is known of each tensor, so that tensors can be put inside others before hl_planner_place.
TfLiteStatus hl_planner_grow(struct hl_subgraph *subgraph);
// Puts a tensor of the arena inside another, `within` bytes behind its first one, until it is unplaced.
void hl_planner_put_inside(struct hl_subgraph *subgraph, int tensor, int other, size_t within, bool in_rows);
// The offset in the arena of a tensor that is placed.
size_t hl_planner_offset(const struct hl_planner *planner, int tensor);
size_t hl_planner_persistent_bytes(const struct hl_planner *planner);
// Returns the sum of the sizes of all placed tensors, which is the size of an arena without sharing.
size_t hl_planner_unshared_bytes(const struct hl_planner *planner);

#endif
