// SPDX-License-Identifier: Apache-2.0
// Affine movement (affine.h) along the axes of a tensor of any rank: the input's position along an axis is the output's
// position along the same axis times a stride, plus an offset. Up to rank 4 that is one dispatch. Above, all axes but
// the last three are one axis b, so each of them that moves takes a dispatch of its own, in a shape that makes it an
// axis.
#ifndef HALITE_GPU_OPS_MOVES_H
#define HALITE_GPU_OPS_MOVES_H

#include "gpu/ops/affine.h"

struct gpu_moves {
    int rank;
    int in[GPU_MAX_RANK], out[GPU_MAX_RANK]; // lengths
    int stride[GPU_MAX_RANK], offset[GPU_MAX_RANK];
    enum gpu_affine_edge edge;
    float fill;
};
// Returns a movement in which nothing moves, to start from.
struct gpu_moves gpu_moves_none(int rank, const int *dims);

// Adds the dispatches that move x to y. y has as many elements as `out`, in any shape. `node` is the node whose
// epilogue they apply, or NULL.
bool gpu_plan_moves(struct gpu_plan *plan, const struct gpu_node *node, const struct gpu_value *x, struct gpu_value *y,
                    const struct gpu_moves *moves);

#endif
