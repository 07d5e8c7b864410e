// SPDX-License-Identifier: Apache-2.0
// See moves.h. In: how far each axis moves. Out: passes, each an affine movement between two shapes of four axes.
#include "gpu/ops/moves.h"

#include "gpu/ops/reshape.h"

struct pass {
    struct gpu_shape x, y;
    struct gpu_affine affine;
};

struct gpu_moves gpu_moves_none(int rank, const int *dims)
{
    struct gpu_moves moves = {.rank = rank};
    for (int i = 0; i < rank; i++) {
        moves.in[i] = moves.out[i] = dims[i];
        moves.stride[i] = 1;
    }
    return moves;
}

static bool is_still(const struct gpu_moves *moves, int axis)
{
    return moves->in[axis] == moves->out[axis] && moves->stride[axis] == 1 && moves->offset[axis] == 0;
}

static int product(const int *lengths, int from, int to)
{
    int product = 1;
    for (int i = from; i < to; i++) product *= lengths[i];
    return product;
}

// Returns the axis that moves among those stored as b: the first of them, with the ones after it as a part of each of
// its positions. -1: there is none.
static int axis_of_b(const struct gpu_moves *moves, int leading)
{
    int axis = 0;
    while (axis < leading && moves->in[axis] == 1 && moves->out[axis] == 1) axis++;
    if (axis == leading || is_still(moves, axis)) return -1;
    bool mirrors = moves->edge == GPU_EDGE_REFLECT || moves->edge == GPU_EDGE_SYMMETRIC;
    bool whole = moves->stride[axis] == 1 && !mirrors;
    return whole || product(moves->in, axis + 1, leading) == 1 ? axis : -1;
}

// Returns [axes before, axis, axes after, c].
static struct gpu_shape shape_around(int rank, const int *lengths, int axis)
{
    int before = product(lengths, 0, axis), behind = product(lengths, axis + 1, rank - 1);
    return (struct gpu_shape){before, lengths[axis], behind, lengths[rank - 1]};
}

// Finds the passes. Channels stay the last axis of every shape, so that no shape has more positions or layers than the
// tensors.
static int find_passes(const struct gpu_moves *moves, struct pass passes[GPU_MAX_RANK])
{
    int rank = moves->rank, leading = rank > 4 ? rank - 3 : 0, as_b = axis_of_b(moves, leading), count = 0;
    int lengths[GPU_MAX_RANK];
    for (int i = 0; i < rank; i++) lengths[i] = moves->in[i];
    struct gpu_affine none = gpu_affine_identity();
    none.edge = moves->edge;
    none.fill = moves->fill;

    passes[0] = (struct pass){.x = gpu_shape_from(rank, lengths), .affine = none};
    for (int i = 0; i < rank; i++) {
        if (i < leading && i != as_b) continue;
        int axis = gpu_axis_of(rank, i);
        passes[0].affine.stride[axis] = moves->stride[i];
        passes[0].affine.offset[axis] = moves->offset[i] * product(lengths, i + 1, leading);
        count |= !is_still(moves, i);
        lengths[i] = moves->out[i];
    }
    passes[0].y = gpu_shape_from(rank, lengths);

    for (int i = 0; i < leading; i++) {
        if (i == as_b || is_still(moves, i)) continue;
        struct pass *pass = &passes[count++];
        *pass = (struct pass){.x = shape_around(rank, lengths, i), .affine = none};
        lengths[i] = moves->out[i];
        pass->y = shape_around(rank, lengths, i);
        pass->affine.stride[1] = moves->stride[i];
        pass->affine.offset[1] = moves->offset[i];
    }
    return count > 0 ? count : 1;
}

bool gpu_plan_moves(struct gpu_plan *plan, const struct gpu_node *node, const struct gpu_value *x, struct gpu_value *y,
                    const struct gpu_moves *moves)
{
    struct pass passes[GPU_MAX_RANK];
    int count = find_passes(moves, passes);
    for (int i = 0; i < count; i++) {
        const struct pass *pass = &passes[i];
        bool last = i + 1 == count;
        struct gpu_value *to = last ? y : gpu_plan_scratch_like(plan, y, pass->y);
        if (!to || !gpu_plan_affine_as(plan, last ? node : NULL, x, pass->x, to, pass->y, &pass->affine)) return false;
        x = to;
    }
    return true;
}
