// SPDX-License-Identifier: Apache-2.0
// BATCH_MATMUL: a [..., m, k] times b [..., k, n]. Either may have its last two axes swapped (adj_x, adj_y). The axes
// before them are batches, which broadcast. A constant b makes it a convolution with one tap. For everything else there
// is a kernel in which a work-item sums BLOCK rows of one output slice. The kernel counts batches along two axes, h and
// b. Above rank 4, where b stands for several axes, an operand that broadcasts over some of these is first written out
// over all of them.
#include "gpu/ops/convolve.h"
#include "gpu/ops/moves.h"
#include "gpu/ops/reshape.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
static const struct gpu_kernel kernel = {
    .name = "matmul",
    .group = {16, 4, 1},
    .args = {{GPU_IN, "left"}, {GPU_IN, "right"}, {GPU_OUT, "y"}},
    // left_steps, right_steps: vectors from one row, slice, h and b to the next; sum: rows of y, k, and whether the
    // rows are the batches of y
    .params = {"left_steps", "right_steps", "sum"},
    GPU_CONSTANTS({"ADJ_X", 0}, {"ADJ_Y", 0}, {"BLOCK", 4}),
    .epilogue = true,
    .body = GPU_TEXT(
        int o = GROUP1 * GROUP_Y + LID1;
        int first_row = GROUP0 * (GROUP_X * BLOCK) + LID0;
        int batch = 0;
        int layer = 0;
        if (P_sum.z == 0) {
            batch = GID2 / y_h;
            layer = GID2 - batch * y_h;
        }
        if (o >= y_s || first_row >= P_sum.x || batch >= y_b) return;
        int from_a = layer * P_left_steps.z + batch * P_left_steps.w;
        int from_b = layer * P_right_steps.z + batch * P_right_steps.w;
        int last = P_sum.y - 1;
        int slices = last / 4 + 1;
        int c = y_c - 1;
        acc4 sums[BLOCK];
        UNROLL for (int i = 0; i < BLOCK; i += 1) sums[i] = splatf4(0.0f);
        for (int s = 0; s < slices; s += 1) {
            acc4 b0 = splatf4(0.0f);
            acc4 b1 = splatf4(0.0f);
            acc4 b2 = splatf4(0.0f);
            acc4 b3 = splatf4(0.0f);
            if (ADJ_Y == 0) {
                int at = from_b + o * P_right_steps.y;
                b0 = to_acc4(load_right(at + s * 4 * P_right_steps.x));
                b1 = to_acc4(load_right(at + min(s * 4 + 1, last) * P_right_steps.x));
                b2 = to_acc4(load_right(at + min(s * 4 + 2, last) * P_right_steps.x));
                b3 = to_acc4(load_right(at + min(s * 4 + 3, last) * P_right_steps.x));
            } else {
                int at = from_b + s * P_right_steps.y;
                b0 = to_acc4(load_right(at + o * 4 * P_right_steps.x));
                b1 = to_acc4(load_right(at + min(o * 4 + 1, c) * P_right_steps.x));
                b2 = to_acc4(load_right(at + min(o * 4 + 2, c) * P_right_steps.x));
                b3 = to_acc4(load_right(at + min(o * 4 + 3, c) * P_right_steps.x));
            }
            UNROLL for (int i = 0; i < BLOCK; i += 1) {
                int row = min(first_row + i * GROUP_X, P_sum.x - 1);
                acc4 v = splatf4(0.0f);
                if (ADJ_X == 0) {
                    v = to_acc4(load_left(from_a + row * P_left_steps.x + s * P_left_steps.y));
                } else {
                    int at = from_a + row / 4 * P_left_steps.y + s * 4 * P_left_steps.x;
                    int lane_of = row % 4;
                    v.x = to_float(lane(load_left(at), lane_of));
                    if (s * 4 + 1 <= last) v.y = to_float(lane(load_left(at + P_left_steps.x), lane_of));
                    if (s * 4 + 2 <= last) v.z = to_float(lane(load_left(at + 2 * P_left_steps.x), lane_of));
                    if (s * 4 + 3 <= last) v.w = to_float(lane(load_left(at + 3 * P_left_steps.x), lane_of));
                }
                if (ADJ_Y == 0) {
                    sums[i] = mad(b0, v.x, sums[i]);
                    sums[i] = mad(b1, v.y, sums[i]);
                    sums[i] = mad(b2, v.z, sums[i]);
                    sums[i] = mad(b3, v.w, sums[i]);
                } else {
                    sums[i] += mkf4(dot4(v, b0), dot4(v, b1), dot4(v, b2), dot4(v, b3));
                }
            }
        }
        UNROLL for (int i = 0; i < BLOCK; i += 1) {
            int row = first_row + i * GROUP_X;
            int4 p = mki4(row, layer, o, batch);
            if (P_sum.z == 1) p = mki4(0, 0, o, row);
            if (row < P_sum.x) write_y(p, finish(to_real4(sums[i]), p));
        }
    ),
};
// clang-format on
// ---- operands that broadcast --------------------------------------------------------------------

// Returns the movement that repeats an operand over all batches of y but the last axis of them.
static struct gpu_moves moves_over(int rank, const int *dims, int y_rank, const int *y_dims)
{
    struct gpu_moves moves = gpu_moves_none(y_rank, y_dims);
    moves.edge = GPU_EDGE_WRAP;
    for (int i = 0; i < y_rank; i++) {
        int own = i - (y_rank - rank);
        moves.in[i] = own >= 0 ? dims[own] : 1;
        if (i >= y_rank - 3) moves.out[i] = moves.in[i];
    }
    return moves;
}

static bool check_folds(const struct gpu_node_view *view, int input)
{
    const TfLiteIntArray *x = gpu_view_input(view, input)->dims, *y = gpu_view_output(view, 0)->dims;
    if (gpu_folds(x->size, x->data, y->size, y->data)) return true;
    struct gpu_moves moves = moves_over(x->size, x->data, y->size, y->data);
    return gpu_check_extent(view, input, gpu_shape_from(moves.rank, moves.out));
}

static const struct gpu_value *folded(struct gpu_plan *plan, const struct gpu_value *x, const struct gpu_value *y)
{
    if (gpu_folds(x->rank, x->dims, y->rank, y->dims)) return x;
    struct gpu_moves moves = moves_over(x->rank, x->dims, y->rank, y->dims);
    struct gpu_value *copy = gpu_plan_scratch(plan, gpu_shape_from(moves.rank, moves.out));
    return copy && gpu_plan_moves(plan, NULL, x, copy, &moves) ? copy : NULL;
}

// ---- nodes --------------------------------------------------------------------------------------

static bool supported(const struct gpu_node_view *view)
{
    const TfLiteBatchMatMulParams *params = view->node->builtin_data;
    if (!params) return gpu_refuse(view, DELEGATE_PARAMETER, -1, "the operator has no options");
    const TfLiteIntArray *a = gpu_view_input(view, 0)->dims, *b = gpu_view_input(view, 1)->dims;
    const TfLiteIntArray *y = gpu_view_output(view, 0)->dims;
    if (a->size < 2 || b->size < 2 || y->size != (a->size > b->size ? a->size : b->size))
        return gpu_refuse(view, DELEGATE_RANK, -1, "ranks %d and %d with an output of rank %d", a->size, b->size,
                          y->size);
    int m = a->data[a->size - (params->adj_x ? 1 : 2)], k = a->data[a->size - (params->adj_x ? 2 : 1)];
    int n = b->data[b->size - (params->adj_y ? 2 : 1)], depth = b->data[b->size - (params->adj_y ? 1 : 2)];
    if (k != depth || y->data[y->size - 2] != m || y->data[y->size - 1] != n)
        return gpu_refuse(view, DELEGATE_SHAPE, -1, "%d x %d times %d x %d is not %d x %d", m, k, depth, n,
                          y->data[y->size - 2], y->data[y->size - 1]);
    if (hl_is_constant(gpu_view_input(view, 0)) && hl_is_constant(gpu_view_input(view, 1)))
        return gpu_refuse(view, DELEGATE_CONSTANT, 0, "both inputs are constants");
    if (!check_folds(view, 0) || !check_folds(view, 1)) return false;
    return !hl_is_constant(gpu_view_input(view, 1)) || gpu_check_weights(view, 1, n, 1, k);
}

// Finds the number of vectors from one row, slice, layer (h) and batch (b) of an operand to the next. It is 0 along
// axes on which the operand broadcasts.
static void steps_of(const struct gpu_value *value, const struct gpu_value *y, int32_t steps[4])
{
    struct gpu_shape shape = value->shape;
    int slices = gpu_slices(shape);
    if (value->rank == 2) { // [rows, c] is stored as [b, 1, 1, c]
        steps[0] = slices;
        steps[1] = 1;
        steps[2] = steps[3] = 0;
        return;
    }
    steps[0] = 1;
    steps[1] = shape.h * shape.w;
    if (value->rank == 3 && y->rank >= 4) { // its batches are the layers of y
        steps[2] = shape.b == 1 ? 0 : slices * shape.w;
        steps[3] = 0;
        return;
    }
    steps[2] = shape.h == 1 && y->shape.h > 1 ? 0 : shape.w;
    steps[3] = shape.b == 1 && y->shape.b > 1 ? 0 : slices * shape.h * shape.w;
}

static bool is_matrix(const struct gpu_value *value)
{
    return value->rank == 2 || value->shape.b * value->shape.h == 1;
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const TfLiteBatchMatMulParams *params = node->params;
    const struct gpu_value *a = node->inputs[0], *b = node->inputs[1], *y = node->outputs[0];
    int n = y->shape.c, rows = y->rank == 2 ? y->shape.b : y->shape.w;
    int k = params->adj_x ? (a->rank == 2 ? a->shape.b : a->shape.w) : a->shape.c;
    struct gpu_shape positions = {a->shape.b, a->shape.h, a->shape.w, n};
    if (b->data && is_matrix(b) && !params->adj_x && !a->data && gpu_same_shape(positions, y->shape))
        return gpu_convolve(plan, &(struct gpu_convolution){.x = a,
                                                            .y = y,
                                                            .inputs = k,
                                                            .outputs = n,
                                                            GPU_ONE_POSITION,
                                                            .weights = b->data,
                                                            .by_output = params->adj_y ? k : 1,
                                                            .by_input = params->adj_y ? 1 : n});
    if (!(a = folded(plan, a, y)) || !(b = folded(plan, b, y))) return false;
    int units = plan->caps->compute_units > 0 ? plan->caps->compute_units : 16;
    int64_t outputs = (int64_t)gpu_slices(y->shape) * y->shape.b * y->shape.h * y->shape.w;
    outputs = gpu_in_first_batch(plan, outputs, y->shape.b);
    int block = outputs / 4 >= 256 * units ? 4 : outputs / 2 >= 128 * units ? 2 : 1;
    struct gpu_dispatch_desc desc = {
        .kernel = &kernel,
        .operands = {{.value = a}, {.value = b}, {.value = y}},
        .params = {[2] = {rows, k, y->rank == 2}},
        .constants = {{"ADJ_X", params->adj_x}, {"ADJ_Y", params->adj_y}, {"BLOCK", block}},
        .grid = {(rows + block - 1) / block, gpu_slices(y->shape), y->rank == 2 ? 1 : y->shape.b * y->shape.h},
        .epilogue = &node->epilogue,
    };
    steps_of(a, y, desc.params[0]);
    steps_of(b, y, desc.params[1]);
    return gpu_plan_dispatch(plan, &desc);
}

static int64_t macs(const struct gpu_node_view *view)
{
    const TfLiteIntArray *a = gpu_view_input(view, 0)->dims;
    const TfLiteBatchMatMulParams *params = view->node->builtin_data;
    return a->data[a->size - (params->adj_x ? 2 : 1)];
}

const struct gpu_op gpu_op_batch_matmul = {
    .name = "BATCH_MATMUL",
    .max_version = 4,
    .operands = {.inputs = {2}, .any_rank = true},
    .supported = supported,
    .plan = plan,
    GPU_PARAMS(TfLiteBatchMatMulParams),
    .epilogue = true,
    .bytes = GPU_BYTES_COMPUTED,
    .hybrid = true,
    .macs = macs,
    GPU_KERNELS(GPU_CONVOLVE_KERNELS, &kernel, GPU_AFFINE_KERNELS),
};
