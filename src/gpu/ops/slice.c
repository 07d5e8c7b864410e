// SPDX-License-Identifier: Apache-2.0
// Parts, orders and repetitions of one tensor, all as affine movement: SLICE, STRIDED_SLICE, TRANSPOSE, PAD, PADV2,
// MIRROR_PAD, TILE, SPLIT, SPLIT_V, UNPACK. Their integer inputs (begin, sizes, perm, paddings …) must be constants.
#include "gpu/ops/affine.h"
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
    if (params->ellipsis_mask || params->new_axis_mask || params->shrink_axis_mask)
        return gpu_refuse(view, GPU_REASON_PARAMETER, -1, "ellipsis, new-axis and shrink-axis masks are not supported");
    if (params->offset) return gpu_refuse(view, GPU_REASON_PARAMETER, -1, "ends that count from the begin are not supported");
    int rank = gpu_view_input(view, 0)->dims->size;
    if (gpu_view_input(view, 1)->dims->size != 1 || gpu_view_input(view, 1)->dims->data[0] != rank)
        return gpu_refuse(view, GPU_REASON_SHAPE, 1, "the begin must have an entry for each of %d axes", rank);
    return true;
}

static bool strided_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const TfLiteStridedSliceParams *params = node->params;
    const struct gpu_value *x = node->inputs[0];
    struct gpu_affine affine = gpu_affine_identity();
    for (int i = 0; i < x->rank; i++) {
        int axis = gpu_axis_of(x->rank, i), size = x->dims[i];
        int stride = gpu_constant_int(node->inputs[3], i), begin = gpu_constant_int(node->inputs[1], i);
        if (begin < 0) begin += size;
        if (params->begin_mask >> i & 1) begin = stride > 0 ? 0 : size - 1;
        int low = stride > 0 ? 0 : -1, high = stride > 0 ? size : size - 1;
        affine.offset[axis] = begin < low ? low : begin > high ? high : begin;
        affine.stride[axis] = stride;
    }
    return gpu_plan_affine(plan, node, x, node->outputs[0], &affine);
}

// ---- TRANSPOSE ----------------------------------------------------------------------------------

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

// ---- TILE ---------------------------------------------------------------------------------------

static bool tile_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    struct gpu_affine affine = gpu_affine_identity();
    affine.edge = GPU_EDGE_WRAP;
    return gpu_plan_affine(plan, node, node->inputs[0], node->outputs[0], &affine);
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
const struct gpu_op gpu_op_split = {.name = "SPLIT", .max_version = 5, .supported = split_supported, .plan = split_plan,
                                    .params_size = sizeof(TfLiteSplitParams), .kernels = gpu_affine_kernels};
const struct gpu_op gpu_op_split_v = {.name = "SPLIT_V", .max_version = 3, .supported = split_supported, .plan = split_v_plan,
                                      .params_size = sizeof(TfLiteSplitVParams), .kernels = gpu_affine_kernels};
