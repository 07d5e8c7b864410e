// SPDX-License-Identifier: Apache-2.0
// Arithmetic on shapes, and the walks of walk.h. In: shapes (right-aligned where ranks differ) or strides. Out:
// broadcast shapes, and one offset for each operand at each position of a shape, in memory order.
#include "ops/op.h"

#include <limits.h>
#include <string.h>

bool hl_normalize_axis(int64_t axis, int rank, int *result)
{
    if (axis < -(int64_t)rank || axis >= rank) return false;
    *result = (int)(axis < 0 ? axis + rank : axis);
    return true;
}

TfLiteStatus hl_require_same_type(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *input,
                                  const TfLiteTensor *output)
{
    HL_REQUIRE(ctx, node, hl_same_type(input, output), "the output is %s, the input %s", hl_type_name(output->type),
               hl_type_name(input->type));
    return kTfLiteOk;
}

TfLiteStatus hl_require_like_input_0(TfLiteContext *ctx, const TfLiteNode *node, int input)
{
    const TfLiteTensor *first = hl_input(ctx, node, 0), *x = hl_input(ctx, node, input);
    HL_REQUIRE(ctx, node, x, "input %d is absent", input);
    HL_REQUIRE(ctx, node, hl_same_type(first, x), "input %d is %s, input 0 is %s", input, hl_type_name(x->type),
               hl_type_name(first->type));
    HL_REQUIRE(ctx, node, hl_same_shape(first, x), "the shape of input %d is not that of input 0", input);
    return kTfLiteOk;
}

size_t hl_dense_bytes(const TfLiteTensor *tensor)
{
    size_t bytes = 0;
    return hl_tensor_bytes(tensor->type, tensor->dims->size, tensor->dims->data, &bytes) ? bytes : 0;
}

// ---- broadcasting -------------------------------------------------------------------------------

// Stretches dims, right-aligned at its end, by one more shape of at most the same rank.
static bool stretch(int rank, int *dims, const TfLiteIntArray *shape)
{
    int first = rank - shape->size;
    for (int axis = first; axis < rank; axis++) {
        int dim = shape->data[axis - first];
        if (dims[axis] == 1)
            dims[axis] = dim;
        else if (dim != 1 && dim != dims[axis])
            return false;
    }
    return true;
}

bool hl_broadcast(const TfLiteIntArray *a, const TfLiteIntArray *b, const TfLiteIntArray *c, int *rank, int *dims)
{
    const TfLiteIntArray *const shapes[] = {a, b, c};
    int result_rank = 0;
    for (int i = 0; i < 3; i++)
        if (shapes[i] && shapes[i]->size > result_rank) result_rank = shapes[i]->size;
    if (result_rank > HL_MAX_RANK) return false;

    for (int axis = 0; axis < result_rank; axis++) dims[axis] = 1;
    *rank = result_rank;
    for (int i = 0; i < 3; i++)
        if (shapes[i] && !stretch(result_rank, dims, shapes[i])) return false;
    return true;
}

// ---- walks --------------------------------------------------------------------------------------

// Whether one step along the walk's last axis is `dim` steps along this one, for every operand.
static bool continues(const struct hl_walk *walk, const int64_t (*strides)[HL_MAX_RANK], int axis, int dim)
{
    int last = walk->rank - 1;
    if (last < 0 || walk->dims[last] > INT_MAX / dim) return false;
    for (int o = 0; o < walk->operands; o++)
        if (walk->stride[o][last] != strides[o][axis] * dim) return false;
    return true;
}

void hl_walk_start_strided(struct hl_walk *walk, int rank, const int *dims, int operands,
                           const int64_t (*strides)[HL_MAX_RANK])
{
    walk->rank = 0;
    walk->operands = operands;
    walk->count = 1;
    memset(walk->at, 0, sizeof walk->at);
    for (int axis = 0; axis < rank; axis++) walk->count *= dims[axis];
    if (walk->count == 0) return;

    for (int axis = 0; axis < rank; axis++) {
        if (dims[axis] == 1) continue;
        if (continues(walk, strides, axis, dims[axis])) {
            walk->dims[walk->rank - 1] *= dims[axis];
        } else {
            walk->index[walk->rank] = 0;
            walk->dims[walk->rank++] = dims[axis];
        }
        for (int o = 0; o < operands; o++) walk->stride[o][walk->rank - 1] = strides[o][axis];
    }
}

void hl_walk_start(struct hl_walk *walk, int rank, const int *dims, int operands, const TfLiteIntArray *const *shapes)
{
    int64_t strides[HL_WALK_OPERANDS][HL_MAX_RANK];
    for (int o = 0; o < operands; o++) {
        int64_t step = 1;
        for (int axis = rank - 1; axis >= 0; axis--) {
            int own_axis = axis - (rank - shapes[o]->size);
            int dim = own_axis < 0 ? 1 : shapes[o]->data[own_axis];
            strides[o][axis] = dim == 1 ? 0 : step;
            step *= dim;
        }
    }
    hl_walk_start_strided(walk, rank, dims, operands, (const int64_t(*)[HL_MAX_RANK])strides);
}

void hl_walk_take(struct hl_walk *walk, int64_t first, int64_t count)
{
    walk->count = walk->count / walk->dims[0] * count;
    walk->dims[0] = (int)count;
    for (int o = 0; o < walk->operands; o++) walk->at[o] += first * walk->stride[o][0];
}

// One step along `axis`, carrying into the axes before it.
static void step_along(struct hl_walk *walk, int axis)
{
    for (; axis >= 0; axis--) {
        if (++walk->index[axis] < walk->dims[axis]) {
            for (int o = 0; o < walk->operands; o++) walk->at[o] += walk->stride[o][axis];
            return;
        }
        walk->index[axis] = 0;
        for (int o = 0; o < walk->operands; o++) walk->at[o] -= walk->stride[o][axis] * (walk->dims[axis] - 1);
    }
}

void hl_walk_next(struct hl_walk *walk)
{
    step_along(walk, walk->rank - 1);
}

int hl_walk_run(const struct hl_walk *walk)
{
    return walk->rank == 0 ? 1 : walk->dims[walk->rank - 1];
}

void hl_walk_skip_run(struct hl_walk *walk)
{
    int last = walk->rank - 1;
    if (last < 0) return;
    for (int o = 0; o < walk->operands; o++) walk->at[o] -= walk->stride[o][last] * walk->index[last];
    walk->index[last] = 0;
    step_along(walk, last - 1);
}
