// SPDX-License-Identifier: Apache-2.0
// Cuts a plan into pieces of nodes that are all to be delegated or all not, each of which can run as one. Pure: arrays
// in, pieces out. Same order as the original: grow a piece by every node that is ready and of the piece's kind, in plan
// order, until none is left; then begin the next with the first ready node. A node is ready when its inputs are, and
// when those nodes have run that the model's control dependencies name. In models without these, nodes with side
// effects keep their order among themselves.
#ifndef HALITE_RUNTIME_PARTITION_H
#define HALITE_RUNTIME_PARTITION_H

#include "runtime/subgraph.h"

struct hl_piece {
    bool delegated;
    TfLiteIntArray *nodes;   // in order of execution
    TfLiteIntArray *inputs;  // tensors read from outside the piece, rising
    TfLiteIntArray *outputs; // tensors that others or the caller read, rising
};

// Pieces of the subgraph's plan when `nodes` are delegated. Free with hl_pieces_free. False without memory.
bool hl_partition(const struct hl_subgraph *subgraph, const TfLiteIntArray *nodes, struct hl_piece **pieces,
                  int *count);
void hl_pieces_free(struct hl_piece *pieces, int count);

#endif
