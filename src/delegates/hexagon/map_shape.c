// SPDX-License-Identifier: Apache-2.0
// Operators that move elements and compute nothing.
#include "delegates/hexagon/op.h"

static struct hexagon_shape shape_of(const struct hexagon_node *node, int tensor)
{
    return hexagon_shape_of(hexagon_tensor(node, tensor));
}

// Ends an operation whose result keeps the range of the input.
static void finish(struct hexagon_graph *graph, const struct hexagon_node *node, hexagon_nn_padding_type padding)
{
    int out = hexagon_out(node, 0);
    struct hexagon_shape shape = shape_of(node, out);
    hexagon_set_data(graph, out, hexagon_end(graph, node->op->operation, padding, shape).data, shape);
}

// The numbers of a list by dimension, those that the tensor does not have before them.
static void read_list(const struct hexagon_node *node, int input, int32_t missing, int32_t values[4])
{
    const TfLiteTensor *list = hexagon_tensor(node, hexagon_in(node, input));
    int count = (int)hl_elements(list);
    for (int i = 0; i < 4; i++) values[i] = i < 4 - count ? missing : (int32_t)hl_integer_at(list, i - (4 - count));
}

// ---- RESHAPE and TRANSPOSE ----------------------------------------------------------------------

static void map_reshape(struct hexagon_graph *graph, const struct hexagon_node *node)
{
    hexagon_set_data(graph, hexagon_out(node, 0), hexagon_data(graph, hexagon_in(node, 0)),
                     shape_of(node, hexagon_in(node, 0)));
}

const struct hexagon_family hexagon_family_reshape = {.inputs = {1, 2},
                                                      .same_scale = true,
                                                      .constants = 1 << 1,
                                                      .map = map_reshape};

static void map_transpose(struct hexagon_graph *graph, const struct hexagon_node *node)
{
    const TfLiteTensor *list = hexagon_tensor(node, hexagon_in(node, 1));
    int rank = hl_rank(hexagon_tensor(node, hexagon_in(node, 0)));
    int32_t permutation[4] = {0, 1, 2, 3};
    for (int i = 0; i < rank; i++) permutation[4 - rank + i] = (int32_t)hexagon_axis((int)hl_integer_at(list, i), rank);
    hexagon_add_data(graph, hexagon_in(node, 0));
    hexagon_add_ints(graph, permutation);
    hexagon_add_range(graph, hexagon_in(node, 0));
    finish(graph, node, HEXAGON_PAD_NA);
}

const struct hexagon_family hexagon_family_transpose = {
    .inputs = {2, 2}, .same_scale = true, .constants = 1 << 1, .check = hexagon_check_list, .map = map_transpose};

// ---- CONCATENATION and PACK ---------------------------------------------------------------------

static bool check_concatenation(const struct delegate_view *view, const struct hexagon_op *op)
{
    (void)op;
    return hexagon_check_no_activation(view, ((const TfLiteConcatenationParams *)view->node->builtin_data)->activation);
}

// Whether all inputs have the first one's range.
static bool have_one_range(const struct hexagon_node *node)
{
    struct hexagon_range first = hexagon_range_of(hexagon_tensor(node, hexagon_in(node, 0)));
    for (int i = 1; i < node->node->inputs->size; i++)
        if (!hexagon_is_near(hexagon_range_of(hexagon_tensor(node, hexagon_in(node, i))), first)) return false;
    return true;
}

// The operation brings what it joins into a range that all inputs fit in, and the output may have another: that would
// round twice. Inputs of several ranges get the output's range before it.
static void join(struct hexagon_graph *graph, const struct hexagon_node *node, int axis)
{
    int count = node->node->inputs->size, out = hexagon_out(node, 0);
    bool one_range = have_one_range(node);
    struct hexagon_range range = hexagon_range_of(hexagon_tensor(node, one_range ? hexagon_in(node, 0) : out));
    hexagon_nn_input parts[HEXAGON_MAX_TENSORS];
    for (int i = 0; i < count; i++) parts[i] = hexagon_data_in(graph, hexagon_in(node, i), range);
    hexagon_add_int(graph, axis);
    for (int i = 0; i < count; i++) hexagon_add(graph, parts[i]);
    for (int i = 0; i < count; i++) hexagon_add_float(graph, range.min);
    for (int i = 0; i < count; i++) hexagon_add_float(graph, range.max);
    struct hexagon_shape shape = shape_of(node, out);
    struct hexagon_value value = hexagon_end(graph, node->op->operation, HEXAGON_PAD_NA, shape);
    hexagon_set(graph, out, value, shape, &range);
}

static void map_concatenation(struct hexagon_graph *graph, const struct hexagon_node *node)
{
    int axis = ((const TfLiteConcatenationParams *)node->node->builtin_data)->axis;
    join(graph, node, hexagon_axis(axis, hl_rank(hexagon_tensor(node, hexagon_out(node, 0)))));
}

const struct hexagon_family hexagon_family_concatenation = {.inputs = {1, 0},
                                                            .needs_params = true,
                                                            .check = check_concatenation,
                                                            .map = map_concatenation};

static void map_pack(struct hexagon_graph *graph, const struct hexagon_node *node)
{
    int axis = ((const TfLitePackParams *)node->node->builtin_data)->axis;
    join(graph, node, hexagon_axis(axis, hl_rank(hexagon_tensor(node, hexagon_out(node, 0)))));
}

const struct hexagon_family hexagon_family_pack = {.inputs = {1, 0}, .needs_params = true, .map = map_pack};

// ---- SPLIT --------------------------------------------------------------------------------------

static bool check_split(const struct delegate_view *view, const struct hexagon_op *op)
{
    (void)op;
    return hexagon_check_constant(view, 0, kTfLiteInt32);
}

static void map_split(struct hexagon_graph *graph, const struct hexagon_node *node)
{
    int in = hexagon_in(node, 1), count = node->node->outputs->size;
    struct hexagon_shape shapes[HEXAGON_MAX_TENSORS];
    for (int i = 0; i < count; i++) shapes[i] = shape_of(node, hexagon_out(node, i));
    int axis = (int)hl_integer_at(hexagon_tensor(node, hexagon_in(node, 0)), 0);
    hexagon_add_int(graph, hexagon_axis(axis, hl_rank(hexagon_tensor(node, in))));
    hexagon_add_data(graph, in);
    hexagon_add_range(graph, in);
    hexagon_nn_input part = hexagon_end_many(graph, HEXAGON_QuantizedSplit_8, shapes, count);
    for (int i = 0; i < count; i++, part.output_idx++) hexagon_set_data(graph, hexagon_out(node, i), part, shapes[i]);
}

const struct hexagon_family hexagon_family_split = {.inputs = {2, 2},
                                                    .many_outputs = true,
                                                    .same_scale = true,
                                                    .typed = 1,
                                                    .constants = 1 << 0,
                                                    .check = check_split,
                                                    .map = map_split};

// ---- SLICE and STRIDED_SLICE --------------------------------------------------------------------

static bool check_slice(const struct delegate_view *view, const struct hexagon_op *op)
{
    (void)op;
    return hexagon_check_constant(view, 1, kTfLiteInt32) && hexagon_check_constant(view, 2, kTfLiteInt32);
}

static void map_slice(struct hexagon_graph *graph, const struct hexagon_node *node)
{
    struct hexagon_shape shape = shape_of(node, hexagon_out(node, 0));
    int32_t begin[4], size[4];
    read_list(node, 1, 0, begin);
    for (int i = 0; i < 4; i++) size[i] = (int32_t)shape.dims[i];
    hexagon_add_data(graph, hexagon_in(node, 0));
    hexagon_add_ints(graph, begin);
    hexagon_add_ints(graph, size);
    hexagon_add_range(graph, hexagon_in(node, 0));
    finish(graph, node, HEXAGON_PAD_NA);
}

const struct hexagon_family hexagon_family_slice = {
    .inputs = {3, 3}, .same_scale = true, .constants = 3 << 1, .check = check_slice, .map = map_slice};

static bool check_strided_slice(const struct delegate_view *view, const struct hexagon_op *op)
{
    const TfLiteStridedSliceParams *params = view->node->builtin_data;
    if (params->ellipsis_mask != 0 || params->new_axis_mask != 0 || params->offset)
        return delegate_refuse(view, DELEGATE_PARAMETER, -1,
                               "it has an ellipsis, a new axis, or ends that are offsets");
    if (hl_elements(delegate_input(view, 1)) != hl_rank(delegate_input(view, 0)))
        return delegate_refuse(view, DELEGATE_PARAMETER, 1, "it does not name all axes");
    return check_slice(view, op) && hexagon_check_constant(view, 3, kTfLiteInt32);
}

static void map_strided_slice(struct hexagon_graph *graph, const struct hexagon_node *node)
{
    const TfLiteStridedSliceParams *params = node->node->builtin_data;
    int shift = 4 - hl_rank(hexagon_tensor(node, hexagon_in(node, 0)));
    int32_t begin[4], end[4], strides[4];
    read_list(node, 1, 0, begin);
    read_list(node, 2, 1, end);
    read_list(node, 3, 1, strides);
    hexagon_add_data(graph, hexagon_in(node, 0));
    hexagon_add_ints(graph, begin);
    hexagon_add_ints(graph, end);
    hexagon_add_ints(graph, strides);
    hexagon_add_int(graph, params->begin_mask << shift);
    hexagon_add_int(graph, params->end_mask << shift);
    hexagon_add_int(graph, params->shrink_axis_mask << shift);
    hexagon_add_range(graph, hexagon_in(node, 0));
    finish(graph, node, HEXAGON_PAD_NA);
}

const struct hexagon_family hexagon_family_strided_slice = {.inputs = {4, 4},
                                                            .needs_params = true,
                                                            .same_scale = true,
                                                            .constants = 7 << 1,
                                                            .check = check_strided_slice,
                                                            .map = map_strided_slice};

// ---- PAD and MIRROR_PAD -------------------------------------------------------------------------

// Pairs by dimension, how many elements come before and after.
static void add_paddings(struct hexagon_graph *graph, const struct hexagon_node *node)
{
    const TfLiteTensor *list = hexagon_tensor(node, hexagon_in(node, 1));
    int32_t pairs[8] = {0};
    int first = 8 - (int)hl_elements(list);
    for (int i = first; i < 8; i++) pairs[i] = (int32_t)hl_integer_at(list, i - first);
    hexagon_add_constant(graph, (struct hexagon_shape){{1, 1, 4, 2}}, pairs, sizeof pairs);
}

static void map_pad(struct hexagon_graph *graph, const struct hexagon_node *node)
{
    bool mirrors = node->op->builtin == kTfLiteBuiltinMirrorPad;
    hexagon_nn_padding_type padding = HEXAGON_PAD_NA;
    hexagon_add_data(graph, hexagon_in(node, 0));
    if (mirrors) {
        const TfLiteMirrorPaddingParams *params = node->node->builtin_data;
        padding =
            params->mode == kTfLiteMirrorPaddingReflect ? HEXAGON_PAD_MIRROR_REFLECT : HEXAGON_PAD_MIRROR_SYMMETRIC;
        add_paddings(graph, node);
    }
    hexagon_add_range(graph, hexagon_in(node, 0));
    if (!mirrors) add_paddings(graph, node);
    finish(graph, node, padding);
}

static bool check_pad(const struct delegate_view *view, const struct hexagon_op *op)
{
    if (op->builtin == kTfLiteBuiltinMirrorPad && !view->node->builtin_data)
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "its options are missing");
    return hexagon_check_list(view, op);
}

const struct hexagon_family hexagon_family_pad = {
    .inputs = {2, 2}, .same_scale = true, .constants = 1 << 1, .check = check_pad, .map = map_pad};

// ---- SPACE_TO_DEPTH and DEPTH_TO_SPACE ----------------------------------------------------------

static void map_depth(struct hexagon_graph *graph, const struct hexagon_node *node)
{
    const TfLiteSpaceToDepthParams *to_depth = node->node->builtin_data;
    const TfLiteDepthToSpaceParams *to_space = node->node->builtin_data;
    bool deepens = node->op->builtin == kTfLiteBuiltinSpaceToDepth;
    hexagon_add_data(graph, hexagon_in(node, 0));
    hexagon_add_int(graph, deepens ? to_depth->block_size : to_space->block_size);
    hexagon_add_range(graph, hexagon_in(node, 0));
    finish(graph, node, HEXAGON_PAD_NA);
}

const struct hexagon_family hexagon_family_depth = {.inputs = {1, 1},
                                                    .needs_params = true,
                                                    .same_scale = true,
                                                    .map = map_depth};
