// SPDX-License-Identifier: Apache-2.0
// Operators that move elements: new shapes, parts, joins, borders. Shapes are known when a node is mapped, so lists
// that the runtime reads as tensors of any integer type go to NNAPI as constants of int32, counted from the shapes
// where they may be relative (-1 for "the rest", axes from the end).
#include "delegates/nnapi/op.h"

static void begin(struct nnapi_model *model, const struct nnapi_node *node)
{
    nnapi_add_tensor(model, nnapi_input_index(node, 0));
}

static void finish(struct nnapi_model *model, const struct nnapi_node *node)
{
    nnapi_set_output(model, node->node->outputs->data[0]);
    nnapi_end(model, node->op->operation);
}

static const TfLiteTensor *output_of(const struct nnapi_node *node, int index)
{
    return &node->context->tensors[node->node->outputs->data[index]];
}

static void add_dims(struct nnapi_model *model, const TfLiteTensor *tensor)
{
    nnapi_add_ints(model, tensor->dims->data, (uint32_t)tensor->dims->size);
}

static bool check_same_type(const struct delegate_view *view)
{
    return delegate_input(view, 0)->type == delegate_output(view, 0)->type ||
           delegate_refuse(view, DELEGATE_TYPE, DELEGATE_OUTPUT(0), "input and output have different types");
}

// All inputs behind the first are lists of constants.
static bool check_lists(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    for (int i = 1; i < view->node->inputs->size; i++)
        if (!nnapi_check_ints(view, i)) return false;
    return check_same_type(view);
}

// ---- new shapes ---------------------------------------------------------------------------------

static bool check_reshape(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    return nnapi_check_constant(view, 1) && check_same_type(view);
}

static void map_reshape(struct nnapi_model *model, const struct nnapi_node *node)
{
    begin(model, node);
    add_dims(model, output_of(node, 0));
    finish(model, node);
}

const struct nnapi_family nnapi_family_reshape = {
    .inputs = {1, 2}, .ints = 1u << 1, .same_scale = true, .check = check_reshape, .map = map_reshape};

static bool check_squeeze(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    const TfLiteSqueezeParams *params = view->node->builtin_data;
    if (nnapi_of(view)->level < NNAPI_LEVEL_3 && params->num_squeeze_dims == 0)
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "sdk 28 wants a list of dimensions");
    return check_same_type(view);
}

static void map_squeeze(struct nnapi_model *model, const struct nnapi_node *node)
{
    const TfLiteSqueezeParams *params = node->node->builtin_data;
    const TfLiteTensor *x = nnapi_input(node, 0);
    int32_t axes[8];
    uint32_t count = 0;
    for (int axis = 0; axis < hl_rank(x); axis++) {
        bool named = params->num_squeeze_dims == 0 && hl_dim(x, axis) == 1;
        for (int i = 0; i < params->num_squeeze_dims; i++)
            named = named || (params->squeeze_dims[i] + hl_rank(x)) % hl_rank(x) == axis;
        if (named) axes[count++] = axis;
    }
    begin(model, node);
    if (count > 0) {
        nnapi_add_ints(model, axes, count);
        finish(model, node);
    } else { // an empty list means all dimensions of length 1
        add_dims(model, x);
        nnapi_set_output(model, node->node->outputs->data[0]);
        nnapi_end(model, NNAPI_RESHAPE);
    }
}

const struct nnapi_family nnapi_family_squeeze = {
    .inputs = {1, 1}, .needs_params = true, .same_scale = true, .check = check_squeeze, .map = map_squeeze};

static void map_expand_dims(struct nnapi_model *model, const struct nnapi_node *node)
{
    int rank = hl_rank(output_of(node, 0));
    int axis = (int)hl_integer_at(nnapi_input(node, 1), 0);
    begin(model, node);
    nnapi_add_i32(model, axis < 0 ? axis + rank : axis);
    finish(model, node);
}

const struct nnapi_family nnapi_family_expand_dims = {.inputs = {2, 2},
                                                      .ints = 1u << 1,
                                                      .max_rank = -1,
                                                      .same_scale = true,
                                                      .check = check_lists,
                                                      .map = map_expand_dims};

// Input 1 as a list, as it is.
static void map_with_list(struct nnapi_model *model, const struct nnapi_node *node)
{
    begin(model, node);
    nnapi_add_list(model, nnapi_input(node, 1), 0);
    finish(model, node);
}

const struct nnapi_family nnapi_family_transpose = {
    .inputs = {2, 2}, .ints = 1u << 1, .same_scale = true, .check = check_lists, .map = map_with_list};
const struct nnapi_family nnapi_family_tile = {
    .inputs = {2, 2}, .ints = 1u << 1, .max_rank = -1, .same_scale = true, .check = check_lists, .map = map_with_list};

static void map_reverse(struct nnapi_model *model, const struct nnapi_node *node)
{
    begin(model, node);
    nnapi_add_list(model, nnapi_input(node, 1), hl_rank(nnapi_input(node, 0)));
    finish(model, node);
}

const struct nnapi_family nnapi_family_reverse = {
    .inputs = {2, 2}, .ints = 1u << 1, .max_rank = -1, .same_scale = true, .check = check_lists, .map = map_reverse};

// ---- joins --------------------------------------------------------------------------------------

enum { MOST_JOINED = NNAPI_MAX_OPERANDS - 2 };

static bool check_joined(const struct delegate_view *view, bool same_scales)
{
    const TfLiteTensor *out = delegate_output(view, 0);
    for (int i = 0; i < view->node->inputs->size; i++) {
        const TfLiteTensor *in = delegate_input(view, i);
        if (!in) return delegate_refuse(view, DELEGATE_INPUT_COUNT, -1, "input %d is left out", i);
        if (in->type != out->type) return delegate_refuse(view, DELEGATE_TYPE, i, "input %d has another type", i);
        if (same_scales && nnapi_is_8_bit(in) &&
            (nnapi_scale(in) != nnapi_scale(out) || nnapi_zero_point(in) != nnapi_zero_point(out)))
            return delegate_refuse(view, DELEGATE_QUANTIZATION, i, "input %d has another scale than the output", i);
    }
    return true;
}

static bool check_concatenation(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    const TfLiteConcatenationParams *params = view->node->builtin_data;
    if (params->activation != kTfLiteActNone)
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "No activation expected");
    return check_joined(view, nnapi_of(view)->level < NNAPI_LEVEL_3);
}

static void map_concatenation(struct nnapi_model *model, const struct nnapi_node *node)
{
    int axis = ((const TfLiteConcatenationParams *)node->node->builtin_data)->axis;
    for (int i = 0; i < node->node->inputs->size; i++) nnapi_add_tensor(model, nnapi_input_index(node, i));
    nnapi_add_i32(model, axis < 0 ? axis + hl_rank(output_of(node, 0)) : axis);
    finish(model, node);
}

const struct nnapi_family nnapi_family_concatenation = {.inputs = {1, MOST_JOINED},
                                                        .needs_params = true,
                                                        .check = check_concatenation,
                                                        .map = map_concatenation};

static int pack_axis(int axis, int rank)
{
    return axis < 0 ? axis + rank : axis;
}

static bool check_pack(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    const TfLitePackParams *params = view->node->builtin_data;
    int rank = hl_rank(delegate_output(view, 0));
    if (nnapi_of(view)->level < NNAPI_LEVEL_6 && pack_axis(params->axis, rank) == rank - 1)
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "along the last axis below feature level 6");
    return check_joined(view, true);
}

// Below feature level 6 tensors are joined along the axis before which they are to be stacked; that has the right
// elements in the right order, and a RESHAPE gives it the right shape.
static void map_pack(struct nnapi_model *model, const struct nnapi_node *node)
{
    int output = node->node->outputs->data[0], count = node->node->inputs->size;
    struct nnapi_type type = nnapi_type_of(model, output);
    int axis = pack_axis(((const TfLitePackParams *)node->node->builtin_data)->axis, (int)type.rank);
    if (model->delegate->level >= NNAPI_LEVEL_6) {
        nnapi_add_i32(model, axis);
        for (int i = 0; i < count; i++) nnapi_add_tensor(model, nnapi_input_index(node, i));
        finish(model, node);
        return;
    }
    type.dims[axis] *= type.dims[axis + 1];
    for (uint32_t i = (uint32_t)axis + 1; i + 1 < type.rank; i++) type.dims[i] = type.dims[i + 1];
    type.rank--;
    uint32_t joined = nnapi_new_operand(model, &type);
    for (int i = 0; i < count; i++) nnapi_add_tensor(model, nnapi_input_index(node, i));
    nnapi_add_i32(model, axis);
    nnapi_set_output_operand(model, joined);
    nnapi_end(model, NNAPI_CONCATENATION);
    nnapi_add_operand(model, joined);
    add_dims(model, output_of(node, 0));
    nnapi_set_output(model, output);
    nnapi_end(model, NNAPI_RESHAPE);
}

const struct nnapi_family nnapi_family_pack = {.inputs = {1, MOST_JOINED},
                                               .needs_params = true,
                                               .check = check_pack,
                                               .map = map_pack};

// ---- parts --------------------------------------------------------------------------------------

static bool check_outputs(const struct delegate_view *view, const TfLiteTensor *in)
{
    if (view->node->outputs->size > NNAPI_MAX_OPERANDS)
        return delegate_refuse(view, DELEGATE_INPUT_COUNT, -1, "%d outputs", view->node->outputs->size);
    for (int i = 0; i < view->node->outputs->size; i++)
        if (delegate_output(view, i)->type != in->type)
            return delegate_refuse(view, DELEGATE_TYPE, DELEGATE_OUTPUT(i), "output %d has another type", i);
    return true;
}

static bool check_split(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    return nnapi_check_ints(view, 0) && check_outputs(view, delegate_input(view, 1));
}

static void map_split(struct nnapi_model *model, const struct nnapi_node *node)
{
    int axis = (int)hl_integer_at(nnapi_input(node, 0), 0), count = node->node->outputs->size;
    nnapi_add_tensor(model, nnapi_input_index(node, 1));
    nnapi_add_i32(model, axis < 0 ? axis + hl_rank(nnapi_input(node, 1)) : axis);
    nnapi_add_i32(model, count);
    for (int i = 0; i < count; i++) nnapi_set_output(model, node->node->outputs->data[i]);
    nnapi_end(model, NNAPI_SPLIT);
}

const struct nnapi_family nnapi_family_split = {.inputs = {2, 2},
                                                .ints = 1u << 0,
                                                .outputs = -1,
                                                .typed = 1,
                                                .max_rank = -1,
                                                .same_scale = true,
                                                .check = check_split,
                                                .map = map_split};

static bool check_split_v(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    return nnapi_check_ints(view, 1) && nnapi_check_ints(view, 2) && check_outputs(view, delegate_input(view, 0));
}

static void map_split_v(struct nnapi_model *model, const struct nnapi_node *node)
{
    const TfLiteTensor *x = nnapi_input(node, 0);
    int axis = (int)hl_integer_at(nnapi_input(node, 2), 0);
    int32_t first[8] = {0};
    if (axis < 0) axis += hl_rank(x);
    for (int i = 0; i < node->node->outputs->size; i++) {
        begin(model, node);
        nnapi_add_ints(model, first, (uint32_t)hl_rank(x));
        add_dims(model, output_of(node, i));
        nnapi_set_output(model, node->node->outputs->data[i]);
        nnapi_end(model, NNAPI_SLICE);
        first[axis] += hl_dim(output_of(node, i), axis);
    }
}

const struct nnapi_family nnapi_family_split_v = {.inputs = {3, 3},
                                                  .ints = 1u << 1 | 1u << 2,
                                                  .outputs = -1,
                                                  .max_rank = -1,
                                                  .same_scale = true,
                                                  .check = check_split_v,
                                                  .map = map_split_v};

static bool check_unpack(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    const TfLiteUnpackParams *params = view->node->builtin_data;
    const TfLiteTensor *x = delegate_input(view, 0);
    if (hl_rank(x) < 2 || pack_axis(params->axis, hl_rank(x)) == hl_rank(x) - 1)
        return delegate_refuse(view, DELEGATE_PARAMETER, 0, "along the last axis");
    return check_outputs(view, x);
}

// The axis is merged with the one behind it, along which the result is split.
static void map_unpack(struct nnapi_model *model, const struct nnapi_node *node)
{
    struct nnapi_type type = nnapi_type_of(model, nnapi_input_index(node, 0));
    int axis = pack_axis(((const TfLiteUnpackParams *)node->node->builtin_data)->axis, (int)type.rank);
    int count = node->node->outputs->size;
    type.dims[axis] *= type.dims[axis + 1];
    for (uint32_t i = (uint32_t)axis + 1; i + 1 < type.rank; i++) type.dims[i] = type.dims[i + 1];
    type.rank--;
    int32_t dims[8];
    for (uint32_t i = 0; i < type.rank; i++) dims[i] = (int32_t)type.dims[i];
    uint32_t merged = nnapi_new_operand(model, &type);
    begin(model, node);
    nnapi_add_ints(model, dims, type.rank);
    nnapi_set_output_operand(model, merged);
    nnapi_end(model, NNAPI_RESHAPE);
    nnapi_add_operand(model, merged);
    nnapi_add_i32(model, axis);
    nnapi_add_i32(model, count);
    for (int i = 0; i < count; i++) nnapi_set_output(model, node->node->outputs->data[i]);
    nnapi_end(model, NNAPI_SPLIT);
}

const struct nnapi_family nnapi_family_unpack = {.inputs = {1, 1},
                                                 .outputs = -1,
                                                 .needs_params = true,
                                                 .same_scale = true,
                                                 .check = check_unpack,
                                                 .map = map_unpack};

static void map_slice(struct nnapi_model *model, const struct nnapi_node *node)
{
    begin(model, node);
    nnapi_add_list(model, nnapi_input(node, 1), 0);
    add_dims(model, output_of(node, 0));
    finish(model, node);
}

const struct nnapi_family nnapi_family_slice = {.inputs = {3, 3},
                                                .ints = 1u << 1 | 1u << 2,
                                                .max_rank = -1,
                                                .same_scale = true,
                                                .check = check_lists,
                                                .map = map_slice};

static bool check_strided_slice(const struct delegate_view *view, const struct nnapi_op *op)
{
    const TfLiteStridedSliceParams *params = view->node->builtin_data;
    if (params->ellipsis_mask || params->new_axis_mask || params->offset)
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "ellipsis, new axes or an end relative to the beginning");
    return check_lists(view, op);
}

static void map_strided_slice(struct nnapi_model *model, const struct nnapi_node *node)
{
    const TfLiteStridedSliceParams *params = node->node->builtin_data;
    begin(model, node);
    for (int i = 1; i < 4; i++) nnapi_add_list(model, nnapi_input(node, i), 0);
    nnapi_add_i32(model, params->begin_mask);
    nnapi_add_i32(model, params->end_mask);
    nnapi_add_i32(model, params->shrink_axis_mask);
    finish(model, node);
}

const struct nnapi_family nnapi_family_strided_slice = {.inputs = {4, 4},
                                                        .ints = 1u << 1 | 1u << 2 | 1u << 3,
                                                        .needs_params = true,
                                                        .same_scale = true,
                                                        .check = check_strided_slice,
                                                        .map = map_strided_slice};

// ---- borders ------------------------------------------------------------------------------------

static bool check_pad(const struct delegate_view *view, const struct nnapi_op *op)
{
    const TfLiteTensor *x = delegate_input(view, 0), *value = delegate_input(view, 2);
    if (!nnapi_check_ints(view, 1) || !check_same_type(view)) return false;
    if (op->builtin == kTfLiteBuiltinPad)
        return view->node->inputs->size == 2 || delegate_refuse(view, DELEGATE_INPUT_COUNT, -1, "PAD with a value");
    if (!value || value->type != x->type)
        return delegate_refuse(view, DELEGATE_TYPE, 2, "the value is left out, or has another type");
    if (nnapi_is_8_bit(x) && (nnapi_scale(value) != nnapi_scale(x) || nnapi_zero_point(value) != nnapi_zero_point(x)))
        return delegate_refuse(view, DELEGATE_QUANTIZATION, 2, "the value has another scale than the input");
    return nnapi_check_constant(view, 2);
}

static void map_pad(struct nnapi_model *model, const struct nnapi_node *node)
{
    const TfLiteTensor *value = nnapi_input(node, 2);
    begin(model, node);
    nnapi_add_pairs(model, nnapi_input(node, 1));
    if (value && value->type == kTfLiteFloat32)
        nnapi_add_f32(model, value->data.f[0]);
    else if (value)
        nnapi_add_i32(model, (int32_t)hl_integer_at(value, 0) +
                                 (value->type == kTfLiteInt8 && model->delegate->level < NNAPI_LEVEL_4 ? 128 : 0));
    finish(model, node);
}

const struct nnapi_family nnapi_family_pad = {
    .inputs = {2, 3}, .ints = 1u << 1, .same_scale = true, .check = check_pad, .map = map_pad};

static void map_mirror_pad(struct nnapi_model *model, const struct nnapi_node *node)
{
    const TfLiteMirrorPaddingParams *params = node->node->builtin_data;
    begin(model, node);
    nnapi_add_pairs(model, nnapi_input(node, 1));
    nnapi_add_i32(model, params->mode == kTfLiteMirrorPaddingSymmetric);
    finish(model, node);
}

const struct nnapi_family nnapi_family_mirror_pad = {.inputs = {2, 2},
                                                     .ints = 1u << 1,
                                                     .needs_params = true,
                                                     .same_scale = true,
                                                     .check = check_lists,
                                                     .map = map_mirror_pad};

static bool check_space_to_batch(const struct delegate_view *view, const struct nnapi_op *op)
{
    if (!check_lists(view, op)) return false;
    if (hl_rank(delegate_input(view, 0)) != 4) return delegate_refuse(view, DELEGATE_RANK, 0, "NNAPI wants rank 4");
    const TfLiteTensor *crops = delegate_input(view, 2);
    for (int64_t i = 0; op->builtin == kTfLiteBuiltinBatchToSpaceNd && i < hl_elements(crops); i++)
        if (hl_integer_at(crops, i) != 0) return delegate_refuse(view, DELEGATE_PARAMETER, 2, "crops are not zero");
    return true;
}

static void map_space_to_batch(struct nnapi_model *model, const struct nnapi_node *node)
{
    begin(model, node);
    nnapi_add_list(model, nnapi_input(node, 1), 0);
    if (node->op->builtin == kTfLiteBuiltinSpaceToBatchNd) nnapi_add_pairs(model, nnapi_input(node, 2));
    finish(model, node);
}

const struct nnapi_family nnapi_family_space_to_batch = {.inputs = {3, 3},
                                                         .ints = 1u << 1 | 1u << 2,
                                                         .same_scale = true,
                                                         .check = check_space_to_batch,
                                                         .map = map_space_to_batch};
