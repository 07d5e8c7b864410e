// SPDX-License-Identifier: Apache-2.0
// Parts, orders and repetitions of one tensor, all as affine movement: SLICE, STRIDED_SLICE, TRANSPOSE, REVERSE_V2, PAD, PADV2,
// MIRROR_PAD, TILE, BROADCAST_TO, SPLIT, SPLIT_V, UNPACK. Their integer inputs (begin, sizes, perm, paddings …) must be
// constants.
#include "gpu/ops/affine.h"
#include "gpu/ops/reshape.h"
#include "tensorflow/lite/builtin_ops.h"

static bool constants_from(const struct gpu_node_view *view, int first)
{
    for (int i = first; i < view->node->inputs->size; i++)
        if (!gpu_check_constant(view, i)) return false;
    return true;
}

// ---- SLICE and STRIDED_SLICE --------------------------------------------------------------------

static bool slice_supported(const struct gpu_node_view *view)
{
    return gpu_check_common(view, 3, 3, 1, 6) && constants_from(view, 1);
}

static bool slice_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    struct gpu_affine affine = gpu_affine_identity();
    for (int i = 0; i < node->inputs[0]->rank; i++)
        affine.offset[gpu_axis_of(node->inputs[0]->rank, i)] = gpu_constant_int(node->inputs[1], i);
    return gpu_plan_affine(plan, node, node->inputs[0], node->outputs[0], &affine);
}

static bool strided_supported(const struct gpu_node_view *view)
{
    if (!gpu_check_common(view, 4, 4, 1, 14) || !constants_from(view, 1)) return false;
    const TfLiteStridedSliceParams *params = view->node->builtin_data;
    if (params->offset && params->end_mask)
        return gpu_refuse(view, GPU_REASON_PARAMETER, -1, "ends that count from the begin and an end mask");
    for (int i = 1; i < 4; i++) {
        const TfLiteTensor *entries = gpu_view_input(view, i);
        if (entries->dims->size != 1 || entries->dims->data[0] != gpu_view_input(view, 1)->dims->data[0] ||
            entries->dims->data[0] > 8)
            return gpu_refuse(view, GPU_REASON_SHAPE, i, "begins, ends and strides must be lists of one length, up to 8");
    }
    return true;
}

// Which entry of begin, end and strides is for which axis of x: entries for new axes are for none, an ellipsis is for all those
// without an entry and at least one (as the runtime has it), which may leave entries at the end without an axis.
// entry_of: by axis, -1: all of it.
static void match_axes(const TfLiteStridedSliceParams *params, int entries, int rank, int entry_of[4])
{
    int open = rank + 1 - entries, axis = 0;
    for (int i = 0; i < entries; i++) open += (params->new_axis_mask & ~params->ellipsis_mask) >> i & 1;
    for (int i = 0; i < rank; i++) entry_of[i] = -1;
    for (int i = 0; i < entries && axis < rank; i++) {
        if (params->ellipsis_mask >> i & 1) axis += open > 1 ? open : 1;
        else if (!(params->new_axis_mask >> i & 1)) entry_of[axis++] = i;
    }
}

static int clamped(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

// One axis of the input: where it begins, and how many places it gives. The stride's sign is the direction.
static int span(const struct gpu_node *node, int entry, int size, int *begin, int stride)
{
    const TfLiteStridedSliceParams *params = node->params;
    int low = stride > 0 ? 0 : -1, high = low + size, step = stride > 0 ? stride : -stride;
    int first = gpu_constant_int(node->inputs[1], entry), end = gpu_constant_int(node->inputs[2], entry);
    if (first < 0) first += size;
    if (params->begin_mask >> entry & 1) first = stride > 0 ? low : high;
    *begin = clamped(first, low, high);
    if (params->shrink_axis_mask >> entry & 1) return 1;
    if (params->offset) end = clamped(end, -2 * size, 2 * size) + *begin;
    if (end < 0) end += size;
    end = params->end_mask >> entry & 1 ? (stride > 0 ? high : low) : clamped(end, low, high);
    int length = stride > 0 ? end - *begin : *begin - end;
    return length > 0 ? (length + step - 1) / step : 0;
}

static bool strided_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[0];
    struct gpu_value *y = node->outputs[0];
    struct gpu_affine affine = gpu_affine_identity();
    struct gpu_shape kept = x->shape; // the output before axes are added or taken away
    int entry_of[4];
    match_axes(node->params, (int)gpu_elements(node->inputs[1]->shape), x->rank, entry_of);
    for (int i = 0; i < x->rank; i++) {
        int axis = gpu_axis_of(x->rank, i);
        if (entry_of[i] < 0) continue;
        affine.stride[axis] = gpu_constant_int(node->inputs[3], entry_of[i]);
        *gpu_along(&kept, axis) = span(node, entry_of[i], x->dims[i], &affine.offset[axis], affine.stride[axis]);
    }
    if (gpu_elements(kept) != gpu_elements(y->shape))
        return gpu_plan_fail(plan, "the output has %lld elements, the slice %lld", (long long)gpu_elements(y->shape),
                             (long long)gpu_elements(kept));
    return gpu_plan_affine_as(plan, node, x, x->shape, y, kept, &affine);
}

// ---- TRANSPOSE and REVERSE_V2 -------------------------------------------------------------------

static bool transpose_supported(const struct gpu_node_view *view)
{
    return gpu_check_common(view, 2, 2, 1, 2) && constants_from(view, 1);
}

static bool transpose_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    struct gpu_affine affine = gpu_affine_identity();
    int rank = node->inputs[0]->rank;
    for (int i = 0; i < rank; i++) {
        int from = gpu_constant_int(node->inputs[1], i);
        if (from < 0) from += rank;
        affine.from[gpu_axis_of(rank, from)] = gpu_axis_of(rank, i); // output axis i follows input axis `from`
    }
    return gpu_plan_affine(plan, node, node->inputs[0], node->outputs[0], &affine);
}

static bool reverse_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[0], *axes = node->inputs[1];
    struct gpu_affine affine = gpu_affine_identity();
    for (int i = 0; i < gpu_elements(axes->shape); i++) {
        int axis = gpu_constant_int(axes, i);
        if (axis < 0) axis += x->rank;
        if (axis < 0 || axis >= x->rank) return gpu_plan_fail(plan, "axis %d of a tensor of rank %d", axis, x->rank);
        affine.stride[gpu_axis_of(x->rank, axis)] = -1;
        affine.offset[gpu_axis_of(x->rank, axis)] = x->dims[axis] - 1;
    }
    return gpu_plan_affine(plan, node, x, node->outputs[0], &affine);
}

// ---- PAD, PADV2, MIRROR_PAD ---------------------------------------------------------------------

static bool pad_supported(const struct gpu_node_view *view)
{
    int inputs = view->node->inputs->size;
    if (!gpu_check_common(view, 2, 3, 1, 2) || !constants_from(view, 1)) return false;
    const TfLiteTensor *paddings = gpu_view_input(view, 1);
    int rank = gpu_view_input(view, 0)->dims->size;
    if (paddings->dims->size != 2 || paddings->dims->data[0] != rank || paddings->dims->data[1] != 2)
        return gpu_refuse(view, GPU_REASON_SHAPE, 1, "the paddings must be [%d, 2]", rank);
    if (inputs == 3 && gpu_view_input(view, 2) && gpu_view_input(view, 2)->type != kTfLiteFloat32)
        return gpu_refuse(view, GPU_REASON_TYPE, 2, "the pad value must be float32");
    return true;
}

static bool pad_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    struct gpu_affine affine = gpu_affine_identity();
    const struct gpu_value *x = node->inputs[0];
    affine.edge = GPU_EDGE_FILL;
    if (node->builtin == kTfLiteBuiltinMirrorPad) {
        const TfLiteMirrorPaddingParams *params = node->params;
        affine.edge = params->mode == kTfLiteMirrorPaddingReflect ? GPU_EDGE_REFLECT : GPU_EDGE_SYMMETRIC;
    }
    if (node->input_count > 2 && node->inputs[2]) affine.fill = node->inputs[2]->data[0];
    for (int i = 0; i < x->rank; i++) affine.offset[gpu_axis_of(x->rank, i)] = -gpu_constant_int(node->inputs[1], 2 * i);
    return gpu_plan_affine(plan, node, x, node->outputs[0], &affine);
}

// ---- TILE and BROADCAST_TO ----------------------------------------------------------------------

static bool tile_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    struct gpu_affine affine = gpu_affine_identity();
    affine.edge = GPU_EDGE_WRAP;
    return gpu_plan_affine(plan, node, node->inputs[0], node->outputs[0], &affine);
}

// Axes of length one are read again and again; the output may have more axes in front.
static bool broadcast_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[0];
    struct gpu_value *y = node->outputs[0];
    int dims[4] = {1, 1, 1, 1};
    if (x->rank > y->rank) return gpu_plan_fail(plan, "the input has more axes than the output");
    for (int i = 0; i < x->rank; i++) dims[y->rank - x->rank + i] = x->dims[i];
    struct gpu_affine affine = gpu_affine_identity();
    affine.edge = GPU_EDGE_WRAP;
    return gpu_plan_affine_as(plan, node, x, gpu_shape_from(y->rank, dims), y, y->shape, &affine);
}

// ---- SPLIT, SPLIT_V, UNPACK ---------------------------------------------------------------------

static bool split_supported(const struct gpu_node_view *view)
{
    int outputs = view->node->outputs->size;
    if (outputs > GPU_NODE_OUTPUTS) return gpu_refuse(view, GPU_REASON_INPUT_COUNT, -1, "%d outputs are too many", outputs);
    if (!gpu_check_common(view, 2, 3, outputs, 7)) return false;
    bool by_sizes = view->node->inputs->size == 3; // x, sizes, axis; SPLIT has axis, x
    return by_sizes ? constants_from(view, 1) : gpu_check_constant(view, 0);
}

static bool plan_parts(struct gpu_plan *plan, const struct gpu_node *node, const struct gpu_value *x, int axis)
{
    int rank = x->rank, at = 0;
    if (axis < 0) axis += rank;
    for (int i = 0; i < node->output_count; i++) {
        struct gpu_affine affine = gpu_affine_identity();
        affine.offset[gpu_axis_of(rank, axis)] = at;
        if (!gpu_plan_affine(plan, NULL, x, node->outputs[i], &affine)) return false;
        at += node->outputs[i]->dims[axis];
    }
    return true;
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
    int outputs = view->node->outputs->size;
    if (outputs > GPU_NODE_OUTPUTS) return gpu_refuse(view, GPU_REASON_INPUT_COUNT, -1, "%d outputs are too many", outputs);
    if (!gpu_check_common(view, 1, 1, outputs, 0)) return false;
    const TfLiteTensor *x = gpu_view_input(view, 0);
    int axis = ((const TfLiteUnpackParams *)view->node->builtin_data)->axis, rank = x->dims->size;
    if (axis < -rank || axis >= rank || x->dims->data[axis < 0 ? axis + rank : axis] != outputs)
        return gpu_refuse(view, GPU_REASON_PARAMETER, 0, "axis %d does not have length %d", axis, outputs);
    return true;
}

static bool unpack_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[0];
    int axis = ((const TfLiteUnpackParams *)node->params)->axis, where = gpu_axis_of(x->rank, axis < 0 ? axis + x->rank : axis);
    struct gpu_shape part = x->shape;
    *gpu_along(&part, where) = 1;
    for (int i = 0; i < node->output_count; i++) {
        struct gpu_affine affine = gpu_affine_identity();
        affine.offset[where] = i;
        if (!gpu_plan_affine_as(plan, NULL, x, x->shape, node->outputs[i], part, &affine)) return false;
    }
    return true;
}

const struct gpu_op gpu_op_slice = {.name = "SLICE", .max_version = 8, .supported = slice_supported, .plan = slice_plan,
                                    .epilogue = true, .kernels = gpu_affine_kernels};
const struct gpu_op gpu_op_strided_slice = {
    .name = "STRIDED_SLICE", .max_version = 8, .supported = strided_supported, .plan = strided_plan, .epilogue = true,
    .params_size = sizeof(TfLiteStridedSliceParams), .kernels = gpu_affine_kernels};
const struct gpu_op gpu_op_transpose = {.name = "TRANSPOSE", .max_version = 9, .supported = transpose_supported,
                                        .plan = transpose_plan, .epilogue = true, .kernels = gpu_affine_kernels};
const struct gpu_op gpu_op_pad = {.name = "PAD", .max_version = 6, .supported = pad_supported, .plan = pad_plan,
                                  .epilogue = true, .kernels = gpu_affine_kernels};
const struct gpu_op gpu_op_padv2 = {.name = "PADV2", .max_version = 6, .supported = pad_supported, .plan = pad_plan,
                                    .epilogue = true, .kernels = gpu_affine_kernels};
const struct gpu_op gpu_op_mirror_pad = {.name = "MIRROR_PAD", .max_version = 3, .supported = pad_supported, .plan = pad_plan,
                                         .epilogue = true, .params_size = sizeof(TfLiteMirrorPaddingParams),
                                         .kernels = gpu_affine_kernels};
const struct gpu_op gpu_op_tile = {.name = "TILE", .max_version = 3, .supported = transpose_supported, .plan = tile_plan,
                                   .epilogue = true, .kernels = gpu_affine_kernels};
const struct gpu_op gpu_op_broadcast_to = {.name = "BROADCAST_TO", .max_version = 4, .supported = transpose_supported,
                                           .plan = broadcast_plan, .epilogue = true, .kernels = gpu_affine_kernels};
const struct gpu_op gpu_op_reverse_v2 = {.name = "REVERSE_V2", .max_version = 4, .supported = transpose_supported,
                                         .plan = reverse_plan, .epilogue = true, .kernels = gpu_affine_kernels};
const struct gpu_op gpu_op_unpack = {.name = "UNPACK", .max_version = 6, .supported = unpack_supported, .plan = unpack_plan,
                                     .params_size = sizeof(TfLiteUnpackParams), .kernels = gpu_affine_kernels};
const struct gpu_op gpu_op_split = {.name = "SPLIT", .max_version = 5, .supported = split_supported, .plan = split_plan,
                                    .params_size = sizeof(TfLiteSplitParams), .kernels = gpu_affine_kernels};
const struct gpu_op gpu_op_split_v = {.name = "SPLIT_V", .max_version = 3, .supported = split_supported, .plan = split_v_plan,
                                      .params_size = sizeof(TfLiteSplitVParams), .kernels = gpu_affine_kernels};
