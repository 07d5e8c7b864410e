// SPDX-License-Identifier: Apache-2.0
// Operators that pick elements, sum them up along axes, or make them anew: GATHER, SELECT, resizing, reductions.
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

static bool check_type(const struct delegate_view *view, int input, TfLiteType type)
{
    const TfLiteTensor *tensor = delegate_input(view, input);
    return (tensor && tensor->type == type) ||
           delegate_refuse(view, DELEGATE_TYPE, input, "input %d must be %s", input, hl_type_name(type));
}

static bool check_same_type(const struct delegate_view *view, int input)
{
    return delegate_input(view, input)->type == delegate_output(view, 0)->type ||
           delegate_refuse(view, DELEGATE_TYPE, DELEGATE_OUTPUT(0), "input and output have different types");
}

// ---- GATHER, SELECT, lookups --------------------------------------------------------------------

static bool check_gather(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    const TfLiteGatherParams *params = view->node->builtin_data;
    if (params->batch_dims != 0) return delegate_refuse(view, DELEGATE_PARAMETER, -1, "batch_dims is not 0");
    if (hl_rank(delegate_input(view, 1)) == 0) return delegate_refuse(view, DELEGATE_RANK, 1, "a position of rank 0");
    return check_type(view, 1, kTfLiteInt32) && check_same_type(view, 0);
}

static void map_gather(struct nnapi_model *model, const struct nnapi_node *node)
{
    int axis = ((const TfLiteGatherParams *)node->node->builtin_data)->axis;
    begin(model, node);
    nnapi_add_i32(model, axis < 0 ? axis + hl_rank(nnapi_input(node, 0)) : axis);
    nnapi_add_tensor(model, nnapi_input_index(node, 1));
    finish(model, node);
}

const struct nnapi_family nnapi_family_gather = {.inputs = {2, 2},
                                                 .max_rank = -1,
                                                 .needs_params = true,
                                                 .same_scale = true,
                                                 .check = check_gather,
                                                 .map = map_gather};

static bool check_select(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    const TfLiteTensor *a = delegate_input(view, 1), *b = delegate_input(view, 2);
    if (!check_type(view, 0, kTfLiteBool) || !check_type(view, 2, a->type) || !check_same_type(view, 1)) return false;
    if (nnapi_is_8_bit(a) && (nnapi_scale(a) != nnapi_scale(b) || nnapi_zero_point(a) != nnapi_zero_point(b)))
        return delegate_refuse(view, DELEGATE_QUANTIZATION, 2, "values of different scales");
    if (!hl_same_shape(delegate_input(view, 0), a) || !hl_same_shape(a, b))
        return delegate_refuse(view, DELEGATE_SHAPE, 0, "the condition has another shape than the values");
    return true;
}

static void map_inputs(struct nnapi_model *model, const struct nnapi_node *node)
{
    for (int i = 0; i < node->node->inputs->size; i++) nnapi_add_tensor(model, nnapi_input_index(node, i));
    finish(model, node);
}

const struct nnapi_family nnapi_family_select = {
    .inputs = {3, 3}, .typed = 1, .max_rank = -1, .same_scale = true, .check = check_select, .map = map_inputs};

static bool check_embedding_lookup(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    if (hl_rank(delegate_input(view, 0)) != 1 || hl_rank(delegate_input(view, 1)) < 2)
        return delegate_refuse(view, DELEGATE_RANK, 0, "positions of rank 1 and values of rank 2 or more are wanted");
    return check_type(view, 0, kTfLiteInt32) && check_same_type(view, 1);
}

const struct nnapi_family nnapi_family_embedding_lookup = {.inputs = {2, 2},
                                                           .typed = 1,
                                                           .check = check_embedding_lookup,
                                                           .map = map_inputs};

static bool check_hashtable_lookup(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    if (hl_rank(delegate_input(view, 0)) != 1 || hl_rank(delegate_input(view, 1)) != 1 ||
        hl_rank(delegate_input(view, 2)) < 2)
        return delegate_refuse(view, DELEGATE_RANK, 0, "lists of keys and values of rank 2 or more are wanted");
    return check_type(view, 0, kTfLiteInt32) && check_type(view, 1, kTfLiteInt32) && check_same_type(view, 2);
}

// Values, and for each of them whether its key was there.
static void map_hashtable_lookup(struct nnapi_model *model, const struct nnapi_node *node)
{
    for (int i = 0; i < 3; i++) nnapi_add_tensor(model, nnapi_input_index(node, i));
    for (int i = 0; i < 2; i++) nnapi_set_output(model, node->node->outputs->data[i]);
    nnapi_end(model, NNAPI_HASHTABLE_LOOKUP);
}

const struct nnapi_family nnapi_family_hashtable_lookup = {
    .inputs = {3, 3}, .outputs = 2, .typed = 2, .check = check_hashtable_lookup, .map = map_hashtable_lookup};

enum { HASHES, ITEMS, WEIGHTS };

static bool check_lsh_projection(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    const TfLiteLSHProjectionParams *params = view->node->builtin_data;
    const TfLiteTensor *items = delegate_input(view, ITEMS), *weights = delegate_input(view, WEIGHTS);
    if (params->type == kTfLiteLshProjectionSparse && !nnapi_check_level(view, NNAPI_LEVEL_3, "sparse")) return false;
    if (!items || items->type == kTfLiteInt8) // int8 is sent as uint8 to lower levels, which has other hashes
        return delegate_refuse(view, DELEGATE_TYPE, ITEMS, "items of int8");
    if (delegate_output(view, 0)->type != kTfLiteInt32)
        return delegate_refuse(view, DELEGATE_TYPE, DELEGATE_OUTPUT(0), "NNAPI's result is int32");
    return !weights || check_type(view, WEIGHTS, kTfLiteFloat32);
}

static void map_lsh_projection(struct nnapi_model *model, const struct nnapi_node *node)
{
    enum { DENSE = 2, SPARSE = 3 }; // 1 is a former kind of sparse, whose numbers overlap
    const TfLiteLSHProjectionParams *params = node->node->builtin_data;
    nnapi_add_tensor(model, nnapi_input_index(node, HASHES));
    nnapi_add_tensor(model, nnapi_input_index(node, ITEMS));
    if (nnapi_input(node, WEIGHTS))
        nnapi_add_tensor(model, nnapi_input_index(node, WEIGHTS));
    else
        nnapi_add_absent(model, ANEURALNETWORKS_TENSOR_FLOAT32);
    nnapi_add_i32(model, params->type == kTfLiteLshProjectionSparse ? SPARSE : DENSE);
    finish(model, node);
}

const struct nnapi_family nnapi_family_lsh_projection = {.inputs = {2, 3},
                                                         .needs_params = true,
                                                         .check = check_lsh_projection,
                                                         .map = map_lsh_projection};

// ---- FILL ---------------------------------------------------------------------------------------

static bool check_fill(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    const TfLiteTensor *value = delegate_input(view, 1);
    return nnapi_check_ints(view, 0) && nnapi_check_constant(view, 1) &&
           (value->type == delegate_output(view, 0)->type ||
            delegate_refuse(view, DELEGATE_TYPE, 1, "the value has another type than the output"));
}

static void map_fill(struct nnapi_model *model, const struct nnapi_node *node)
{
    const TfLiteTensor *value = nnapi_input(node, 1);
    nnapi_add_list(model, nnapi_input(node, 0), 0);
    if (value->type == kTfLiteFloat32)
        nnapi_add_f32(model, value->data.f[0]);
    else
        nnapi_add_i32(model, value->data.i32[0]);
    finish(model, node);
}

const struct nnapi_family nnapi_family_fill = {
    .inputs = {2, 2}, .ints = 1u << 0, .typed = -1, .max_rank = -1, .check = check_fill, .map = map_fill};

// ---- blocks and sizes ---------------------------------------------------------------------------

static bool check_depth(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    return hl_rank(delegate_input(view, 0)) == 4 ? check_same_type(view, 0)
                                                 : delegate_refuse(view, DELEGATE_RANK, 0, "NNAPI wants rank 4");
}

static void map_depth(struct nnapi_model *model, const struct nnapi_node *node)
{
    begin(model, node);
    nnapi_add_i32(model, node->op->builtin == kTfLiteBuiltinSpaceToDepth
                             ? ((const TfLiteSpaceToDepthParams *)node->node->builtin_data)->block_size
                             : ((const TfLiteDepthToSpaceParams *)node->node->builtin_data)->block_size);
    finish(model, node);
}

const struct nnapi_family nnapi_family_depth = {
    .inputs = {1, 1}, .needs_params = true, .same_scale = true, .check = check_depth, .map = map_depth};

// Both operators have the same options.
static void resize_options(const void *params, int builtin, bool *align, bool *half)
{
    if (builtin == kTfLiteBuiltinResizeBilinear) {
        *align = ((const TfLiteResizeBilinearParams *)params)->align_corners;
        *half = ((const TfLiteResizeBilinearParams *)params)->half_pixel_centers;
    } else {
        *align = ((const TfLiteResizeNearestNeighborParams *)params)->align_corners;
        *half = ((const TfLiteResizeNearestNeighborParams *)params)->half_pixel_centers;
    }
}

static bool check_resize(const struct delegate_view *view, const struct nnapi_op *op)
{
    bool align, half;
    const TfLiteTensor *out = delegate_output(view, 0);
    resize_options(view->node->builtin_data, op->builtin, &align, &half);
    if (hl_rank(delegate_input(view, 0)) != 4) return delegate_refuse(view, DELEGATE_RANK, 0, "NNAPI wants rank 4");
    if ((align || half) && !nnapi_check_level(view, NNAPI_LEVEL_4, "align_corners or half_pixel_centers")) return false;
    if (nnapi_of(view)->level < NNAPI_LEVEL_3 && hl_dim(out, 1) != hl_dim(out, 2))
        return delegate_refuse(view, DELEGATE_SHAPE, DELEGATE_OUTPUT(0), "sdk 28 wants a square");
    return nnapi_check_ints(view, 1) && check_same_type(view, 0);
}

static void map_resize(struct nnapi_model *model, const struct nnapi_node *node)
{
    bool align, half;
    const TfLiteTensor *out = &node->context->tensors[node->node->outputs->data[0]];
    resize_options(node->node->builtin_data, node->op->builtin, &align, &half);
    begin(model, node);
    nnapi_add_i32(model, hl_dim(out, 2));
    nnapi_add_i32(model, hl_dim(out, 1));
    if (node->op->builtin != kTfLiteBuiltinResizeBilinear || align || half) nnapi_add_bool(model, false); // NHWC
    if (align || half) {
        nnapi_add_bool(model, align);
        nnapi_add_bool(model, half);
    }
    finish(model, node);
}

const struct nnapi_family nnapi_family_resize = {.inputs = {2, 2},
                                                 .ints = 1u << 1,
                                                 .needs_params = true,
                                                 .same_scale = true,
                                                 .check = check_resize,
                                                 .map = map_resize};

// ---- reductions ---------------------------------------------------------------------------------

static bool check_reduce(const struct delegate_view *view, const struct nnapi_op *op)
{
    const TfLiteTensor *x = delegate_input(view, 0), *out = delegate_output(view, 0);
    if (!nnapi_check_ints(view, 1) || !check_same_type(view, 0)) return false;
    if (hl_elements(delegate_input(view, 1)) == 0)
        return delegate_refuse(view, DELEGATE_PARAMETER, 1, "no axis to reduce");
    bool moves = op->builtin == kTfLiteBuiltinReduceMax || op->builtin == kTfLiteBuiltinReduceMin;
    if (moves && nnapi_is_8_bit(x) &&
        (nnapi_scale(x) != nnapi_scale(out) || nnapi_zero_point(x) != nnapi_zero_point(out)))
        return delegate_refuse(view, DELEGATE_QUANTIZATION, DELEGATE_OUTPUT(0), "the output has another scale");
    return true;
}

static void map_reduce(struct nnapi_model *model, const struct nnapi_node *node)
{
    begin(model, node);
    nnapi_add_list(model, nnapi_input(node, 1), hl_rank(nnapi_input(node, 0)));
    nnapi_add_bool(model, ((const TfLiteReducerParams *)node->node->builtin_data)->keep_dims);
    finish(model, node);
}

const struct nnapi_family nnapi_family_reduce = {
    .inputs = {2, 2}, .ints = 1u << 1, .max_rank = -1, .needs_params = true, .check = check_reduce, .map = map_reduce};

// A mean in steps of the input's scale is too coarse for an output with smaller ones.
static bool check_mean(const struct delegate_view *view, const struct nnapi_op *op)
{
    const TfLiteTensor *x = delegate_input(view, 0), *out = delegate_output(view, 0);
    if (nnapi_is_8_bit(x) && nnapi_scale(out) < nnapi_scale(x))
        return delegate_refuse(view, DELEGATE_QUANTIZATION, DELEGATE_OUTPUT(0),
                               "the output's scale is smaller than the input's, in which NNAPI rounds");
    return check_reduce(view, op);
}

// The mean has the input's scale in NNAPI; an ADD of zero gives it the output's.
static void map_mean(struct nnapi_model *model, const struct nnapi_node *node)
{
    const TfLiteTensor *x = nnapi_input(node, 0), *out = &node->context->tensors[node->node->outputs->data[0]];
    bool rescales =
        nnapi_is_8_bit(x) && (nnapi_scale(x) != nnapi_scale(out) || nnapi_zero_point(x) != nnapi_zero_point(out));
    struct nnapi_type type = nnapi_type_of(model, node->node->outputs->data[0]);
    struct nnapi_type from = nnapi_type_of(model, nnapi_input_index(node, 0));
    type.scale = from.scale;
    type.zero_point = from.zero_point;
    begin(model, node);
    nnapi_add_list(model, nnapi_input(node, 1), hl_rank(x));
    nnapi_add_i32(model, ((const TfLiteReducerParams *)node->node->builtin_data)->keep_dims);
    if (!rescales) {
        finish(model, node);
        return;
    }
    uint32_t mean = nnapi_new_operand(model, &type);
    nnapi_set_output_operand(model, mean);
    nnapi_end(model, NNAPI_MEAN);
    uint8_t zero = (uint8_t)type.zero_point;
    type.rank = 1;
    type.dims[0] = 1;
    nnapi_add_operand(model, mean);
    nnapi_add_operand(model, nnapi_new_constant(model, &type, &zero, sizeof zero));
    nnapi_add_i32(model, kTfLiteActNone);
    nnapi_set_output(model, node->node->outputs->data[0]);
    nnapi_end(model, NNAPI_ADD);
}

const struct nnapi_family nnapi_family_mean = {
    .inputs = {2, 2}, .ints = 1u << 1, .needs_params = true, .check = check_mean, .map = map_mean};

// ---- the largest --------------------------------------------------------------------------------

static bool check_arg(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    return nnapi_check_ints(view, 1) &&
           (delegate_output(view, 0)->type == kTfLiteInt32 ||
            delegate_refuse(view, DELEGATE_TYPE, DELEGATE_OUTPUT(0), "NNAPI's result is int32"));
}

static void map_arg(struct nnapi_model *model, const struct nnapi_node *node)
{
    int axis = (int)hl_integer_at(nnapi_input(node, 1), 0);
    begin(model, node);
    nnapi_add_i32(model, axis < 0 ? axis + hl_rank(nnapi_input(node, 0)) : axis);
    finish(model, node);
}

const struct nnapi_family nnapi_family_arg = {
    .inputs = {2, 2}, .ints = 1u << 1, .max_rank = -1, .check = check_arg, .map = map_arg};

static bool check_topk(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    if (delegate_output(view, 1)->type != kTfLiteInt32)
        return delegate_refuse(view, DELEGATE_TYPE, DELEGATE_OUTPUT(1), "NNAPI's positions are int32");
    return nnapi_check_ints(view, 1) && check_same_type(view, 0);
}

static void map_topk(struct nnapi_model *model, const struct nnapi_node *node)
{
    begin(model, node);
    nnapi_add_i32(model, (int32_t)hl_integer_at(nnapi_input(node, 1), 0));
    nnapi_set_output(model, node->node->outputs->data[0]);
    nnapi_set_output(model, node->node->outputs->data[1]);
    nnapi_end(model, NNAPI_TOPK_V2);
}

const struct nnapi_family nnapi_family_topk = {.inputs = {2, 2},
                                               .ints = 1u << 1,
                                               .outputs = 2,
                                               .max_rank = -1,
                                               .same_scale = true,
                                               .check = check_topk,
                                               .map = map_topk};
