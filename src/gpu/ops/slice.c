// SPDX-License-Identifier: Apache-2.0
// Parts, permutations and repetitions of one tensor as affine movements: SLICE, STRIDED_SLICE, TRANSPOSE, REVERSE_V2,
// PAD, PADV2, MIRROR_PAD, TILE, BROADCAST_TO, SPLIT, SPLIT_V, UNPACK. Their integer inputs (begin, sizes, perm,
// paddings …) must be constants.
#include <string.h>

#include "gpu/graph/convert.h"
#include "gpu/ops/moves.h"
#include "gpu/ops/reshape.h"
#include "tensorflow/lite/builtin_ops.h"

// Checks that every entry of a constant list of axes is in [-rank, rank).
static bool check_axes(const struct gpu_node_view *view, int input, int rank)
{
    if (!gpu_check_integers(view, input, -1)) return false;
    const TfLiteTensor *axes = gpu_view_input(view, input);
    for (int64_t i = 0; i < hl_elements(axes); i++) {
        int axis = gpu_integer_at(axes, i);
        if (axis < -rank || axis >= rank)
            return gpu_refuse(view, DELEGATE_PARAMETER, input, "axis %d of a tensor of rank %d", axis, rank);
    }
    return true;
}

// ---- SLICE and STRIDED_SLICE --------------------------------------------------------------------

static bool slice_supported(const struct gpu_node_view *view)
{
    int rank = gpu_view_input(view, 0)->dims->size;
    if (!gpu_check_integers(view, 1, rank) || !gpu_check_integers(view, 2, rank)) return false;
    for (int i = 0; i < rank; i++) {
        int begin = gpu_integer_at(gpu_view_input(view, 1), i), length = gpu_view_input(view, 0)->dims->data[i];
        if (begin < 0 || begin >= length)
            return gpu_refuse(view, DELEGATE_PARAMETER, 1, "a slice that begins at %d of %d", begin, length);
    }
    return true;
}

static struct gpu_moves slice_moves(const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[0];
    struct gpu_moves moves = gpu_moves_none(x->rank, x->dims);
    for (int i = 0; i < x->rank; i++) {
        moves.out[i] = node->outputs[0]->dims[i];
        moves.offset[i] = gpu_constant_int(node->inputs[1], i);
    }
    return moves;
}

static bool slice_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    struct gpu_moves moves = slice_moves(node);
    return gpu_plan_moves(plan, node, node->inputs[0], node->outputs[0], &moves);
}

// The entries of begin, end and strides.
enum { MAX_ENTRIES = 8 };
struct entries {
    int count, begin[MAX_ENTRIES], end[MAX_ENTRIES], stride[MAX_ENTRIES];
};

// Finds the entry of each axis of x. Entries for new axes belong to no axis. An ellipsis stands for all axes without an
// entry, and like in the runtime for at least one, which may leave the last entries without an axis. entry_of: by axis,
// -1 for all of it.
static void match_axes(const TfLiteStridedSliceParams *params, int entries, int rank, int entry_of[GPU_MAX_RANK])
{
    int open = rank + 1 - entries, axis = 0;
    for (int i = 0; i < entries; i++) open += (params->new_axis_mask & ~params->ellipsis_mask) >> i & 1;
    for (int i = 0; i < rank; i++) entry_of[i] = -1;
    for (int i = 0; i < entries && axis < rank; i++) {
        if (params->ellipsis_mask >> i & 1)
            axis += open > 1 ? open : 1;
        else if (!(params->new_axis_mask >> i & 1))
            entry_of[axis++] = i;
    }
}

static int clamped(int64_t value, int low, int high)
{
    return value < low ? low : value > high ? high : (int)value;
}

// Finds where the slice of an axis begins, and returns its number of positions. The sign of the stride is the
// direction.
static int span(const TfLiteStridedSliceParams *params, const struct entries *entries, int i, int size, int *begin)
{
    bool forward = entries->stride[i] > 0;
    int low = forward ? 0 : -1, high = low + size;
    int64_t step = forward ? entries->stride[i] : -(int64_t)entries->stride[i], first = entries->begin[i];
    if (first < 0) first += size;
    if (params->begin_mask >> i & 1) first = forward ? low : high;
    *begin = clamped(first, low, high);
    if (params->shrink_axis_mask >> i & 1) return 1;
    int64_t end = (int64_t)entries->end[i] + (params->offset ? *begin : 0);
    if (end < 0) end += size;
    end = params->end_mask >> i & 1 ? (forward ? high : low) : clamped(end, low, high);
    int64_t length = forward ? end - *begin : *begin - end;
    return length > 0 ? (int)((length + step - 1) / step) : 0;
}

// Finds the movement to the output, before axes are added or removed.
static struct gpu_moves find_cut(const TfLiteStridedSliceParams *params, const struct entries *entries, int rank,
                                 const int *dims)
{
    struct gpu_moves moves = gpu_moves_none(rank, dims);
    int entry_of[GPU_MAX_RANK];
    match_axes(params, entries->count, rank, entry_of);
    for (int i = 0; i < rank; i++) {
        if (entry_of[i] < 0) continue;
        moves.stride[i] = entries->stride[entry_of[i]];
        moves.out[i] = span(params, entries, entry_of[i], dims[i], &moves.offset[i]);
    }
    return moves;
}

static bool strided_supported(const struct gpu_node_view *view)
{
    const TfLiteStridedSliceParams *params = view->node->builtin_data;
    if (params->offset && params->end_mask)
        return gpu_refuse(view, DELEGATE_PARAMETER, -1, "ends that count from the begin and an end mask");
    const TfLiteTensor *x = gpu_view_input(view, 0), *y = gpu_view_output(view, 0);
    const TfLiteTensor *begins = gpu_view_input(view, 1), *ends = gpu_view_input(view, 2),
                       *strides = gpu_view_input(view, 3);
    int64_t count = hl_elements(begins);
    if (count > MAX_ENTRIES)
        return gpu_refuse(view, DELEGATE_SHAPE, 1, "an index of %lld entries, the GPU takes up to %d", (long long)count,
                          MAX_ENTRIES);
    for (int i = 1; i < 4; i++)
        if (!gpu_check_integers(view, i, count)) return false;
    struct entries entries = {.count = (int)count};
    for (int i = 0; i < entries.count; i++) {
        entries.begin[i] = gpu_integer_at(begins, i);
        entries.end[i] = gpu_integer_at(ends, i);
        entries.stride[i] = gpu_integer_at(strides, i);
        if (entries.stride[i] == 0) return gpu_refuse(view, DELEGATE_PARAMETER, 3, "stride %d is 0", i);
    }
    struct gpu_moves moves = find_cut(params, &entries, x->dims->size, x->dims->data);
    int64_t kept = gpu_elements(gpu_shape_from(moves.rank, moves.out));
    return kept == hl_elements(y) ||
           gpu_refuse(view, DELEGATE_SHAPE, -1, "the output has %lld elements, the slice %lld",
                      (long long)hl_elements(y), (long long)kept);
}

static struct gpu_moves strided_moves(const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[0];
    struct entries entries = {.count = (int)gpu_elements(node->inputs[1]->shape)};
    for (int i = 0; i < entries.count; i++) {
        entries.begin[i] = gpu_constant_int(node->inputs[1], i);
        entries.end[i] = gpu_constant_int(node->inputs[2], i);
        entries.stride[i] = gpu_constant_int(node->inputs[3], i);
    }
    return find_cut(node->params, &entries, x->rank, x->dims);
}

static bool strided_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    struct gpu_moves moves = strided_moves(node);
    return gpu_plan_moves(plan, node, node->inputs[0], node->outputs[0], &moves);
}

// Where the movement takes channels and nothing else.
static struct gpu_value *channels_by(struct gpu_value *x, const struct gpu_value *y, const struct gpu_moves *moves,
                                     int *first)
{
    const int last = x->rank - 1;
    bool taken = x->rank >= 1 && x->rank == y->rank && moves->stride[last] == 1;
    for (int i = 0; i < last && taken; i++)
        taken = moves->stride[i] == 1 && moves->offset[i] == 0 && moves->out[i] == x->dims[i];
    *first = taken ? moves->offset[last] : 0;
    return taken ? x : NULL;
}

static struct gpu_value *slice_channels(const struct gpu_node *node, int output, int *first)
{
    struct gpu_moves moves = slice_moves(node);
    return channels_by(node->inputs[0], node->outputs[output], &moves, first);
}

static struct gpu_value *strided_channels(const struct gpu_node *node, int output, int *first)
{
    struct gpu_moves moves = strided_moves(node);
    return channels_by(node->inputs[0], node->outputs[output], &moves, first);
}

// ---- TRANSPOSE and REVERSE_V2 -------------------------------------------------------------------

// A permutation in which axes that stay side by side are one, and axes of length 1 are left out.
struct merged {
    int rank;
    int from[GPU_MAX_RANK];                  // input axis, by output axis
    int in[GPU_MAX_RANK], out[GPU_MAX_RANK]; // lengths
};

static struct merged merge_axes(int rank, const int *dims, const int *from)
{
    struct merged merged = {0};
    int first[GPU_MAX_RANK] = {0}, length[GPU_MAX_RANK] = {0}, last = -1; // of each run, in the order of output axes
    for (int i = 0; i < rank; i++) {
        if (dims[from[i]] == 1) continue;
        bool follows = last >= 0 && from[i] > last;
        for (int k = last + 1; follows && k < from[i]; k++) follows = dims[k] == 1;
        if (!follows) first[merged.rank++] = from[i];
        int run = merged.rank - 1;
        length[run] = follows ? length[run] * dims[from[i]] : dims[from[i]];
        last = from[i];
    }
    for (int i = 0; i < merged.rank; i++) {
        for (int k = 0; k < merged.rank; k++) merged.from[i] += first[k] < first[i];
        merged.out[i] = merged.in[merged.from[i]] = length[i];
    }
    if (merged.rank == 0) merged.in[0] = merged.out[0] = merged.rank = 1;
    return merged;
}

static bool transpose_supported(const struct gpu_node_view *view)
{
    const TfLiteIntArray *x = gpu_view_input(view, 0)->dims;
    int rank = x->size, seen = 0, from[GPU_MAX_RANK];
    if (!gpu_check_integers(view, 1, rank) || !check_axes(view, 1, rank)) return false;
    for (int i = 0; i < rank; i++) {
        int axis = gpu_integer_at(gpu_view_input(view, 1), i);
        from[i] = axis < 0 ? axis + rank : axis;
        seen |= 1 << from[i];
    }
    if (seen != (1 << rank) - 1) return gpu_refuse(view, DELEGATE_PARAMETER, 1, "the permutation names an axis twice");
    if (rank <= 4) return true;
    struct merged merged = merge_axes(rank, x->data, from);
    if (merged.rank > 4)
        return gpu_refuse(view, DELEGATE_RANK, 0, "%d axes change places with each other, the GPU takes up to 4",
                          merged.rank);
    return gpu_check_extent(view, 0, gpu_shape_from(merged.rank, merged.in)) &&
           gpu_check_extent(view, 0, gpu_shape_from(merged.rank, merged.out));
}

static bool transpose_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[0];
    struct gpu_affine affine = gpu_affine_identity();
    struct gpu_value *y = node->outputs[0];
    struct gpu_shape x_shape = x->shape, y_shape = y->shape;
    int rank = x->rank, from[GPU_MAX_RANK];
    for (int i = 0; i < rank; i++) {
        from[i] = gpu_constant_int(node->inputs[1], i);
        if (from[i] < 0) from[i] += rank;
    }
    if (rank > 4) {
        struct merged merged = merge_axes(rank, x->dims, from);
        rank = merged.rank;
        memcpy(from, merged.from, sizeof from);
        x_shape = gpu_shape_from(rank, merged.in);
        y_shape = gpu_shape_from(rank, merged.out);
    }
    for (int i = 0; i < rank; i++) // output axis i follows input axis from[i]
        affine.from[gpu_axis_of(rank, from[i])] = gpu_axis_of(rank, i);
    return gpu_plan_affine_as(plan, node, x, x_shape, y, y_shape, &affine);
}

static bool reverse_supported(const struct gpu_node_view *view)
{
    return check_axes(view, 1, gpu_view_input(view, 0)->dims->size);
}

static bool reverse_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[0], *axes = node->inputs[1];
    struct gpu_moves moves = gpu_moves_none(x->rank, x->dims);
    for (int i = 0; i < gpu_elements(axes->shape); i++) {
        int axis = gpu_constant_int(axes, i);
        if (axis < 0) axis += x->rank;
        moves.stride[axis] = -1;
        moves.offset[axis] = x->dims[axis] - 1;
    }
    return gpu_plan_moves(plan, node, x, node->outputs[0], &moves);
}

// ---- PAD, PADV2, MIRROR_PAD ---------------------------------------------------------------------

static bool pad_supported(const struct gpu_node_view *view)
{
    int rank = gpu_view_input(view, 0)->dims->size;
    if (!gpu_check_integers(view, 1, 2 * rank)) return false;
    const TfLiteTensor *fill = gpu_view_input(view, 2), *y = gpu_view_output(view, 0);
    if (!fill) return true;
    if (!gpu_check_constant(view, 2)) return false;
    const TfLiteAffineQuantization *from = gpu_affine_of(fill), *to = gpu_affine_of(y);
    if (from && to &&
        (from->scale->data[0] != to->scale->data[0] || from->zero_point->data[0] != to->zero_point->data[0]))
        return gpu_refuse(view, DELEGATE_QUANTIZATION, 2,
                          "the pad value and the output have different scales or zero points");
    return hl_elements(fill) == 1 || gpu_refuse(view, DELEGATE_SHAPE, 2, "the pad value has several elements");
}

static bool pad_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[0];
    struct gpu_moves moves = gpu_moves_none(x->rank, x->dims);
    moves.edge = GPU_EDGE_FILL;
    if (node->builtin == kTfLiteBuiltinMirrorPad) {
        const TfLiteMirrorPaddingParams *params = node->params;
        moves.edge = params->mode == kTfLiteMirrorPaddingReflect ? GPU_EDGE_REFLECT : GPU_EDGE_SYMMETRIC;
    }
    const struct gpu_value *fill = gpu_fill_of(node), *y = node->outputs[0];
    if (fill) moves.fill = y->codes ? (float)fill->integers[0] : fill->data[0];
    if (!fill && y->codes) moves.fill = (float)gpu_code_zero(&y->quantization);
    for (int i = 0; i < x->rank; i++) {
        moves.out[i] = y->dims[i];
        moves.offset[i] = -gpu_constant_int(node->inputs[1], 2 * i);
    }
    return gpu_plan_moves(plan, node, x, node->outputs[0], &moves);
}

// ---- TILE and BROADCAST_TO ----------------------------------------------------------------------

static bool repeat_supported(const struct gpu_node_view *view)
{
    if (!gpu_check_constant(view, 1)) return false;
    int rank = gpu_view_input(view, 0)->dims->size, most = gpu_view_output(view, 0)->dims->size;
    return rank <= most || gpu_refuse(view, DELEGATE_RANK, 0, "its rank is %d, that of the output %d", rank, most);
}

// Axes of length 1 are repeated, too. The output of BROADCAST_TO may have additional axes at the front.
static bool repeat_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[0];
    struct gpu_value *y = node->outputs[0];
    struct gpu_moves moves = gpu_moves_none(y->rank, y->dims);
    moves.edge = GPU_EDGE_WRAP;
    int added = y->rank - x->rank;
    for (int i = 0; i < y->rank; i++) moves.in[i] = i < added ? 1 : x->dims[i - added];
    return gpu_plan_moves(plan, node, x, y, &moves);
}

// ---- SPLIT, SPLIT_V, UNPACK ---------------------------------------------------------------------

static bool split_supported(const struct gpu_node_view *view)
{
    return gpu_check_axis(view, 0, gpu_view_input(view, 1)->dims->size);
}

static bool split_v_supported(const struct gpu_node_view *view)
{
    return gpu_check_axis(view, 2, gpu_view_input(view, 0)->dims->size);
}

static bool plan_parts(struct gpu_plan *plan, const struct gpu_node *node, const struct gpu_value *x, int axis)
{
    struct gpu_moves moves = gpu_moves_none(x->rank, x->dims);
    if (axis < 0) axis += x->rank;
    for (int i = 0; i < node->output_count; i++) {
        bool taken = node->outputs[i]->rank < x->rank; // UNPACK removes the axis
        moves.out[axis] = taken ? 1 : node->outputs[i]->dims[axis];
        if (!gpu_plan_moves(plan, NULL, x, node->outputs[i], &moves)) return false;
        moves.offset[axis] += moves.out[axis];
    }
    return true;
}

// The part of x along its last axis that output `output` is.
static struct gpu_value *part_channels(const struct gpu_node *node, struct gpu_value *x, int axis, int output,
                                       int *first)
{
    *first = 0;
    if ((axis < 0 ? axis + x->rank : axis) != x->rank - 1) return NULL;
    for (int i = 0; i < output; i++) *first += node->outputs[i]->shape.c;
    return x;
}

static struct gpu_value *split_channels(const struct gpu_node *node, int output, int *first)
{
    return part_channels(node, node->inputs[1], gpu_constant_int(node->inputs[0], 0), output, first);
}

static struct gpu_value *split_v_channels(const struct gpu_node *node, int output, int *first)
{
    return part_channels(node, node->inputs[0], gpu_constant_int(node->inputs[2], 0), output, first);
}

static bool split_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    return plan_parts(plan, node, node->inputs[1], gpu_constant_int(node->inputs[0], 0));
}

static bool split_v_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    return plan_parts(plan, node, node->inputs[0], gpu_constant_int(node->inputs[2], 0));
}

static bool unpack_supported(const struct gpu_node_view *view)
{
    const TfLiteTensor *x = gpu_view_input(view, 0);
    int outputs = view->node->outputs->size;
    int axis = ((const TfLiteUnpackParams *)view->node->builtin_data)->axis, rank = x->dims->size;
    if (axis < -rank || axis >= rank || x->dims->data[axis < 0 ? axis + rank : axis] != outputs)
        return gpu_refuse(view, DELEGATE_PARAMETER, 0, "axis %d does not have length %d", axis, outputs);
    return true;
}

static bool unpack_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    return plan_parts(plan, node, node->inputs[0], ((const TfLiteUnpackParams *)node->params)->axis);
}

// ---- rows ---------------------------------------------------------------------------------------

// Returns whether the slice reads every axis forwards.
static bool goes_forward(const struct gpu_node *node)
{
    const struct gpu_value *strides = node->inputs[3];
    for (int64_t i = 0; i < gpu_elements(strides->shape); i++)
        if (gpu_constant_int(strides, (int)i) < 0) return false;
    return true;
}

// Returns whether the axes longer than 1 keep their order.
static bool keeps_order(const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[0];
    int sizes[4] = {x->shape.b, x->shape.h, x->shape.w, x->shape.c}, last = -1;
    if (x->rank > 4) return false;
    for (int i = 0; i < x->rank; i++) {
        int axis = gpu_constant_int(node->inputs[1], i);
        axis = gpu_axis_of(x->rank, axis < 0 ? axis + x->rank : axis);
        if (sizes[axis] == 1) continue;
        if (axis < last) return false;
        last = axis;
    }
    return true;
}

static const struct gpu_kernel *const kernels[] = {GPU_AFFINE_KERNELS, NULL};
#define MOVES .epilogue = true, .bytes = GPU_BYTES_MOVED, .kernels = kernels
const struct gpu_op gpu_op_slice = {
    .name = "SLICE",
    .max_version = 8,
    .operands = {.inputs = {3}, .integer_inputs = GPU_INPUT(1) | GPU_INPUT(2), .any_rank = true},
    .supported = slice_supported,
    .plan = slice_plan,
    .channels_of = slice_channels,
    .copies = gpu_always,
    MOVES,
};
const struct gpu_op gpu_op_strided_slice = {
    .name = "STRIDED_SLICE",
    .max_version = 8,
    .operands = {.inputs = {4}, .integer_inputs = GPU_INPUT(1) | GPU_INPUT(2) | GPU_INPUT(3), .any_rank = true},
    .supported = strided_supported,
    .plan = strided_plan,
    .channels_of = strided_channels,
    GPU_PARAMS(TfLiteStridedSliceParams),
    .copies = goes_forward,
    MOVES,
};
// Rows for operators with one input of integers that says where elements go. `how` begins the names of their functions.
#define MOVES_BY(symbol, text, version, count, how, ...)                                \
    const struct gpu_op gpu_op_##symbol = {.name = text,                                \
                                           .max_version = version,                      \
                                           .operands = {.inputs = count,                \
                                                        .integer_inputs = GPU_INPUT(1), \
                                                        .any_rank = true},              \
                                           .supported = how##_supported,                \
                                           .plan = how##_plan,                          \
                                           __VA_ARGS__};
#define INPUTS(...) \
    {               \
        __VA_ARGS__ \
    }
#define PADS .axes = GPU_AXES_PADDED, .copies = gpu_always, .fill = 2, MOVES
MOVES_BY(transpose, "TRANSPOSE", 9, INPUTS(2), transpose, .copies = keeps_order, MOVES)
MOVES_BY(pad, "PAD", 6, INPUTS(2, 3), pad, PADS)
MOVES_BY(padv2, "PADV2", 6, INPUTS(2, 3), pad, PADS)
MOVES_BY(mirror_pad, "MIRROR_PAD", 3, INPUTS(2, 3), pad, GPU_PARAMS(TfLiteMirrorPaddingParams), PADS)
MOVES_BY(tile, "TILE", 3, INPUTS(2), repeat, .copies = gpu_always, MOVES)
MOVES_BY(broadcast_to, "BROADCAST_TO", 4, INPUTS(2), repeat, .copies = gpu_always, MOVES)
MOVES_BY(reverse_v2, "REVERSE_V2", 4, INPUTS(2), reverse, MOVES)

// Operators with several outputs have no epilogue.
#define PARTS .bytes = GPU_BYTES_MOVED, .kernels = kernels
const struct gpu_op gpu_op_unpack = {
    .name = "UNPACK",
    .max_version = 6,
    .operands = {.inputs = {1}, .outputs = GPU_ANY_OUTPUTS, .any_rank = true},
    .supported = unpack_supported,
    .plan = unpack_plan,
    GPU_PARAMS(TfLiteUnpackParams),
    PARTS,
};
const struct gpu_op gpu_op_split = {
    .name = "SPLIT",
    .max_version = 5,
    .operands = {.inputs = {2}, .outputs = GPU_ANY_OUTPUTS, .integer_inputs = GPU_INPUT(0), .any_rank = true},
    .supported = split_supported,
    .plan = split_plan,
    .channels_of = split_channels,
    GPU_PARAMS(TfLiteSplitParams),
    .moved_inputs = GPU_INPUT(1),
    PARTS,
};
const struct gpu_op gpu_op_split_v = {
    .name = "SPLIT_V",
    .max_version = 3,
    .operands = {.inputs = {3},
                 .outputs = GPU_ANY_OUTPUTS,
                 .integer_inputs = GPU_INPUT(1) | GPU_INPUT(2),
                 .any_rank = true},
    .supported = split_v_supported,
    .plan = split_v_plan,
    .channels_of = split_v_channels,
    GPU_PARAMS(TfLiteSplitVParams),
    PARTS,
};
