// SPDX-License-Identifier: Apache-2.0
// How an operator visits its elements when its operands are stretched, transposed or sliced: broadcast shapes, and
// walks that keep one offset for each operand.
#ifndef HALITE_OPS_COMMON_WALK_H
#define HALITE_OPS_COMMON_WALK_H

#include "abi/tensor.h"

// Numpy broadcasting of up to three shapes into dims[HL_MAX_RANK]; false where they do not fit. b and c may be NULL.
bool hl_broadcast(const TfLiteIntArray *a, const TfLiteIntArray *b, const TfLiteIntArray *c, int *rank, int *dims);

// Walks the positions of a shape in memory order, keeping one offset (in elements) per operand:
//     struct hl_walk walk;
//     hl_walk_start(&walk, rank, dims, 2, (const TfLiteIntArray *[]){a->dims, b->dims});
//     for (int64_t i = 0; i < walk.count; i++, hl_walk_next(&walk)) y[i] = x0[walk.at[0]] + x1[walk.at[1]];
// Operands have broadcastable shapes (right-aligned, ones stretch). For speed, contiguous innermost runs can be taken
// whole: see hl_walk_run.
enum { HL_WALK_OPERANDS = 4 };
struct hl_walk {
    int rank, operands;
    int64_t count;                                 // positions in all
    int dims[HL_MAX_RANK];                         // after merging neighbors that every operand walks alike
    int64_t stride[HL_WALK_OPERANDS][HL_MAX_RANK]; // in elements, 0 where the operand is stretched
    int index[HL_MAX_RANK];
    int64_t at[HL_WALK_OPERANDS];
};
void hl_walk_start(struct hl_walk *walk, int rank, const int *dims, int operands, const TfLiteIntArray *const *shapes);
// The same with strides of one's own (transpose, reverse, slices): strides[o][axis] in elements.
void hl_walk_start_strided(struct hl_walk *walk, int rank, const int *dims, int operands,
                           const int64_t (*strides)[HL_MAX_RANK]);
// Leaves of a walk that has not moved `count` positions of its first axis, from `first` on.
void hl_walk_take(struct hl_walk *walk, int64_t first, int64_t count);
void hl_walk_next(struct hl_walk *walk);
// Length of the innermost run (walk->dims[rank-1]); each operand moves by stride[o][rank-1] in it. hl_walk_skip_run
// goes to the start of the next run. A walk of rank 0 has one run of one element.
int hl_walk_run(const struct hl_walk *walk);
void hl_walk_skip_run(struct hl_walk *walk);

#endif
