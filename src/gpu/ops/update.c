// SPDX-License-Identifier: Apache-2.0
// DYNAMIC_UPDATE_SLICE: x with a piece replaced, at a position that is computed at run time. If the piece does not fit
// there, it begins earlier.
#include "gpu/graph/convert.h"
#include "gpu/ops/index.h"
#include "tensorflow/lite/builtin_ops.h"

enum { X, PIECE, INDICES };
enum { MAX_INDEX = 2048 };

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// P_number: the index of the number for b, h, w and c in the position; -1: none.
#define FROM(INDEX, NUMBER, ROOM) min(max(pick(NUMBER < 0, 0, INDEX(max(NUMBER, 0))), 0), ROOM)
#define LANE(I, NAME)                                                                                   \
    if (c + I >= 0 && c + I < piece_c && p.z * 4 + I < y_c)                                             \
        v.NAME = lane(read_piece(mki4(w, h, (c + I) / 4, b)), (c + I) % 4);
#define BODY(INDEX)                                                                                     \
    int4 p = position();                                                                                \
    if (outside_y(p)) return;                                                                           \
    int b = p.w - FROM(INDEX, P_number.x, y_b - piece_b);                                               \
    int h = p.y - FROM(INDEX, P_number.y, y_h - piece_h);                                               \
    int w = p.x - FROM(INDEX, P_number.z, y_w - piece_w);                                               \
    int c = p.z * 4 - FROM(INDEX, P_number.w, y_c - piece_c);                                           \
    real4 v = read_x(p);                                                                                \
    if (b >= 0 && b < piece_b && h >= 0 && h < piece_h && w >= 0 && w < piece_w) {                      \
        LANE(0, x)                                                                                      \
        LANE(1, y)                                                                                      \
        LANE(2, z)                                                                                      \
        LANE(3, w)                                                                                      \
    }                                                                                                   \
    write_y(p, v);

#define KERNEL(SYMBOL, NAME, K_KIND, INDEX)                                                             \
    static const struct gpu_kernel SYMBOL = {                                                           \
        .name = NAME,                                                                                   \
        .group = {32, 4, 1},                                                                            \
        .args = {{GPU_IN, "x"}, {GPU_IN, "piece"}, {K_KIND, "k"}, {GPU_OUT, "y"}},                       \
        .params = {"number"},                                                                           \
        .body = GPU_TEXT_OF(BODY(INDEX)),                                                                   \
    };
KERNEL(by_raw, "update_slice_raw", GPU_RAW_IN, GPU_INDEX_RAW)
KERNEL(by_value, "update_slice", GPU_IN, GPU_INDEX_VALUE)
// clang-format on

static bool supported(const struct gpu_node_view *view)
{
    const TfLiteTensor *x = gpu_view_input(view, X), *piece = gpu_view_input(view, PIECE);
    const TfLiteTensor *indices = gpu_view_input(view, INDICES), *y = gpu_view_output(view, 0);
    if (hl_is_constant(x) && hl_is_constant(piece))
        return gpu_refuse(view, DELEGATE_CONSTANT, X, "all elements are constants");
    if (indices->type != kTfLiteInt32 && indices->type != kTfLiteInt64)
        return gpu_refuse(view, DELEGATE_TYPE, INDICES, "the indices must be int32 or int64");
    int rank = x->dims->size;
    if (piece->dims->size != rank || y->dims->size != rank || hl_elements(indices) != rank)
        return gpu_refuse(view, DELEGATE_RANK, PIECE, "the ranks of tensor, piece and indices differ");
    for (int i = 0; i < rank && hl_is_constant(indices); i++) // limited to integers that halves represent
        if (gpu_integer_at(indices, i) > MAX_INDEX)
            return gpu_refuse(view, DELEGATE_PARAMETER, INDICES, "constant index %d, at most %d",
                              gpu_integer_at(indices, i), MAX_INDEX);
    for (int i = 0; i < rank; i++)
        if (y->dims->data[i] != x->dims->data[i] || piece->dims->data[i] > x->dims->data[i])
            return gpu_refuse(view, DELEGATE_SHAPE, PIECE, "dimension %d of the piece is %d, of the tensor %d", i,
                              piece->dims->data[i], x->dims->data[i]);
    return true;
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[X], *y = node->outputs[0];
    struct gpu_index index = gpu_index_of(node->inputs[INDICES]);
    struct gpu_dispatch_desc desc = {
        .kernel = index.raw ? &by_raw : &by_value,
        .operands = {{.value = x}, {.value = node->inputs[PIECE]}, {.value = index.value}, {.value = y}},
        .params = {{-1, -1, -1, -1}},
    };
    for (int i = 0; i < x->rank; i++) desc.params[0][gpu_axis_of(x->rank, i)] = i;
    gpu_grid_over(&desc, y->shape);
    return gpu_plan_dispatch(plan, &desc);
}

const struct gpu_op gpu_op_dynamic_update_slice = {
    .name = "DYNAMIC_UPDATE_SLICE",
    .max_version = 6,
    .operands = {.inputs = {3}, .integer_inputs = GPU_INPUT(INDICES)},
    .supported = supported,
    .plan = plan,
    .bytes = GPU_BYTES_MOVED,
    .moved_inputs = GPU_INPUT(X) | GPU_INPUT(PIECE),
    GPU_KERNELS(&by_raw, &by_value),
};
