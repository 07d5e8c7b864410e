// SPDX-License-Identifier: Apache-2.0
// This cuts a plan into pieces that can each run as one: their nodes are all to be delegated, or all not. It is pure,
// with arrays in and pieces out. The order is that of the original: a piece takes every node that is ready and of its
// kind, in plan order, until none is left; the next piece begins with the first ready node. A node is ready when its
// inputs are, and when the nodes that the model's control dependencies name have run. In models without such
// dependencies, nodes with side effects keep their order among themselves.
#ifndef HALITE_RUNTIME_PARTITION_H
#define HALITE_RUNTIME_PARTITION_H

#include "runtime/subgraph.h"

struct hl_piece {
    bool delegated;
    TfLiteIntArray *nodes;   // in order of execution
    TfLiteIntArray *inputs;  // tensors read from outside the piece, rising
    TfLiteIntArray *outputs; // tensors that others or the caller read, rising
};

// Gives the pieces of the subgraph's plan when `nodes` are delegated. The caller frees them with hl_pieces_free.
// Returns false without memory.
bool hl_partition(const struct hl_subgraph *subgraph, const TfLiteIntArray *nodes, struct hl_piece **pieces,
                  int *count);
void hl_pieces_free(struct hl_piece *pieces, int count);

#endif
