// SPDX-License-Identifier: Apache-2.0
// Operators with weights: convolutions and FULLY_CONNECTED. Weights in 8 bits beside float activations are dequantized
// by an operation of its own. A bias that is left out is a constant of zeros in NNAPI.
#include <stdlib.h>
#include <string.h>

#include "delegates/nnapi/op.h"

// ---- checks that these share --------------------------------------------------------------------

enum { X, WEIGHTS, BIAS };
enum { TRANSPOSED_SHAPE, TRANSPOSED_WEIGHTS, TRANSPOSED_X, TRANSPOSED_BIAS };

// Feature levels 1 and 2 compute 8-bit results with a multiplier below 1, and know neither int8 nor scales by channel.
static bool check_low_level(const struct delegate_view *view)
{
    const TfLiteTensor *x = delegate_input(view, X), *weights = delegate_input(view, WEIGHTS);
    const TfLiteTensor *out = delegate_output(view, 0);
    if (nnapi_of(view)->level >= NNAPI_LEVEL_3) return true;
    if (x->type == kTfLiteFloat32)
        return weights->type == kTfLiteFloat32 ||
               delegate_refuse(view, DELEGATE_VERSION, WEIGHTS, "hybrid: Android sdk version less than 29");
    if (x->type != kTfLiteUInt8)
        return delegate_refuse(view, DELEGATE_VERSION, X, "int8: Android sdk version less than 29");
    if (nnapi_scale(x) * nnapi_scale(weights) < nnapi_scale(out)) return true;
    return delegate_refuse(view, DELEGATE_QUANTIZATION, DELEGATE_OUTPUT(0),
                           "the output's scale is not above the product of the inputs', as sdk 28 demands");
}

static bool check_weights(const struct delegate_view *view)
{
    const TfLiteTensor *x = delegate_input(view, X), *weights = delegate_input(view, WEIGHTS);
    const TfLiteTensor *bias = delegate_input(view, BIAS), *out = delegate_output(view, 0);
    if (!x || !weights) return delegate_refuse(view, DELEGATE_INPUT_COUNT, -1, "an input is left out");
    if (x->type != out->type) return delegate_refuse(view, DELEGATE_TYPE, DELEGATE_OUTPUT(0), "another type of output");
    bool floats = x->type == kTfLiteFloat32;
    if (floats && weights->type == kTfLiteUInt8)
        return delegate_refuse(view, DELEGATE_TYPE, WEIGHTS, "uint8 weights of floats, which the CPU reads as int8");
    if (floats && weights->type == kTfLiteInt8 && !nnapi_check_constant(view, WEIGHTS)) return false;
    if (!floats && weights->type != x->type)
        return delegate_refuse(view, DELEGATE_TYPE, WEIGHTS, "weights of another type than the input");
    if (floats ? weights->type != kTfLiteFloat32 && weights->type != kTfLiteInt8 : !nnapi_is_8_bit(weights))
        return delegate_refuse(view, DELEGATE_TYPE, WEIGHTS, "weights of type %s", hl_type_name(weights->type));
    if (bias && bias->type != (floats ? kTfLiteFloat32 : kTfLiteInt32))
        return delegate_refuse(view, DELEGATE_TYPE, BIAS, "a bias of type %s", hl_type_name(bias->type));
    return check_low_level(view);
}

// ---- operands that these share ------------------------------------------------------------------

static void add_zeros(struct nnapi_model *model, const struct nnapi_type *type)
{
    void *zeros = calloc(type->dims[0], 4);
    if (zeros)
        nnapi_add_operand(model, nnapi_new_constant(model, type, zeros, type->dims[0] * (size_t)4));
    else
        nnapi_model_memory(model, SIZE_MAX); // fails the model
    free(zeros);
}

// The bias's scale is the product of the others', also where the file has none for it, and none with scales by channel.
static void add_bias(struct nnapi_model *model, const struct nnapi_node *node, int input, int count)
{
    const TfLiteTensor *x = nnapi_input(node, X), *weights = nnapi_input(node, WEIGHTS);
    const TfLiteTensor *bias = nnapi_input(node, input);
    if (node->op->builtin == kTfLiteBuiltinTransposeConv) x = nnapi_input(node, TRANSPOSED_X);
    bool floats = x->type == kTfLiteFloat32;
    struct nnapi_type type = {
        .type = floats ? ANEURALNETWORKS_TENSOR_FLOAT32 : ANEURALNETWORKS_TENSOR_INT32,
        .rank = 1,
        .dims = {(uint32_t)count},
        .scale = floats || nnapi_scale_count(weights) > 1 ? 0 : nnapi_scale(x) * nnapi_scale(weights),
    };
    if (!bias)
        add_zeros(model, &type);
    else if (floats || !hl_is_constant(bias))
        nnapi_add_tensor(model, nnapi_input_index(node, input));
    else
        nnapi_add_operand(model, nnapi_new_constant(model, &type, bias->data.raw, bias->bytes));
}

static int32_t padding_of(TfLitePadding padding)
{
    return padding == kTfLitePaddingSame ? ANEURALNETWORKS_PADDING_SAME : ANEURALNETWORKS_PADDING_VALID;
}

static void add_dilation(struct nnapi_model *model, int width, int height)
{
    if (width == 1 && height == 1) return;
    nnapi_add_bool(model, false); // NHWC
    nnapi_add_i32(model, width);
    nnapi_add_i32(model, height);
}

// ---- CONV_2D ------------------------------------------------------------------------------------

static bool is_grouped(const TfLiteTensor *x, const TfLiteTensor *weights)
{
    return hl_dim(x, 3) != hl_dim(weights, 3);
}

static bool check_conv_2d(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    const TfLiteConvParams *params = view->node->builtin_data;
    const TfLiteTensor *x = delegate_input(view, X), *weights = delegate_input(view, WEIGHTS);
    if (!check_weights(view) || !nnapi_check_activation(view, params->activation)) return false;
    if (hl_rank(x) != 4 || hl_rank(weights) != 4)
        return delegate_refuse(view, DELEGATE_RANK, X, "input and filter must have rank 4");
    if (!delegate_input(view, BIAS)) return delegate_refuse(view, DELEGATE_INPUT_COUNT, -1, "Conv2D requires a bias");
    bool dilated = params->dilation_width_factor != 1 || params->dilation_height_factor != 1;
    if (dilated && !nnapi_check_level(view, NNAPI_LEVEL_3, "dilation")) return false;
    if (is_grouped(x, weights) && !nnapi_check_level(view, NNAPI_LEVEL_3, "groups")) return false;
    if (is_grouped(x, weights) && dilated)
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "groups together with dilation");
    return true;
}

static void map_conv_2d(struct nnapi_model *model, const struct nnapi_node *node)
{
    const TfLiteConvParams *params = node->node->builtin_data;
    const TfLiteTensor *x = nnapi_input(node, X), *weights = nnapi_input(node, WEIGHTS);
    bool floats = x->type == kTfLiteFloat32, grouped = is_grouped(x, weights);
    nnapi_add_tensor(model, nnapi_input_index(node, X));
    nnapi_add_weights(model, nnapi_input_index(node, WEIGHTS), floats);
    add_bias(model, node, BIAS, hl_dim(weights, 0));
    nnapi_add_i32(model, padding_of(params->padding));
    nnapi_add_i32(model, params->stride_width);
    nnapi_add_i32(model, params->stride_height);
    if (grouped) nnapi_add_i32(model, hl_dim(x, 3) / hl_dim(weights, 3));
    nnapi_add_i32(model, (int32_t)params->activation);
    if (grouped)
        nnapi_add_bool(model, false); // NHWC
    else
        add_dilation(model, params->dilation_width_factor, params->dilation_height_factor);
    nnapi_set_output(model, node->node->outputs->data[0]);
    nnapi_end(model, grouped ? NNAPI_GROUPED_CONV_2D : NNAPI_CONV_2D);
}

const struct nnapi_family nnapi_family_conv_2d = {
    .inputs = {2, 3},
    .needs_params = true,
    .check = check_conv_2d,
    .map = map_conv_2d,
};

// ---- DEPTHWISE_CONV_2D --------------------------------------------------------------------------

static bool check_depthwise(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    const TfLiteDepthwiseConvParams *params = view->node->builtin_data;
    const TfLiteTensor *x = delegate_input(view, X), *weights = delegate_input(view, WEIGHTS);
    if (!check_weights(view) || !nnapi_check_activation(view, params->activation)) return false;
    if (hl_rank(x) != 4 || hl_rank(weights) != 4)
        return delegate_refuse(view, DELEGATE_RANK, X, "input and filter must have rank 4");
    bool dilated = params->dilation_width_factor != 1 || params->dilation_height_factor != 1;
    return !dilated || nnapi_check_level(view, NNAPI_LEVEL_3, "dilation");
}

static void map_depthwise(struct nnapi_model *model, const struct nnapi_node *node)
{
    const TfLiteDepthwiseConvParams *params = node->node->builtin_data;
    const TfLiteTensor *x = nnapi_input(node, X), *weights = nnapi_input(node, WEIGHTS);
    nnapi_add_tensor(model, nnapi_input_index(node, X));
    nnapi_add_weights(model, nnapi_input_index(node, WEIGHTS), x->type == kTfLiteFloat32);
    add_bias(model, node, BIAS, hl_dim(weights, 3));
    nnapi_add_i32(model, padding_of(params->padding));
    nnapi_add_i32(model, params->stride_width);
    nnapi_add_i32(model, params->stride_height);
    nnapi_add_i32(model, hl_dim(weights, 3) / hl_dim(x, 3));
    nnapi_add_i32(model, (int32_t)params->activation);
    add_dilation(model, params->dilation_width_factor, params->dilation_height_factor);
    nnapi_set_output(model, node->node->outputs->data[0]);
    nnapi_end(model, NNAPI_DEPTHWISE_CONV_2D);
}

const struct nnapi_family nnapi_family_depthwise_conv_2d = {
    .inputs = {2, 3},
    .needs_params = true,
    .check = check_depthwise,
    .map = map_depthwise,
};

// ---- TRANSPOSE_CONV -----------------------------------------------------------------------------

static bool check_transpose_conv(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    const TfLiteTransposeConvParams *params = view->node->builtin_data;
    const TfLiteTensor *x = delegate_input(view, TRANSPOSED_X), *weights = delegate_input(view, TRANSPOSED_WEIGHTS);
    const TfLiteTensor *bias = delegate_input(view, TRANSPOSED_BIAS), *out = delegate_output(view, 0);
    if (!nnapi_check_ints(view, TRANSPOSED_SHAPE) || !nnapi_check_constant(view, TRANSPOSED_WEIGHTS)) return false;
    if (!weights || weights->type != x->type || out->type != x->type)
        return delegate_refuse(view, DELEGATE_TYPE, TRANSPOSED_WEIGHTS, "weights and tensors of different types");
    if (hl_rank(x) != 4 || hl_rank(weights) != 4)
        return delegate_refuse(view, DELEGATE_RANK, TRANSPOSED_X, "input and filter must have rank 4");
    if (bias && bias->type != (x->type == kTfLiteFloat32 ? kTfLiteFloat32 : kTfLiteInt32))
        return delegate_refuse(view, DELEGATE_TYPE, TRANSPOSED_BIAS, "a bias of type %s", hl_type_name(bias->type));
    return nnapi_check_activation(view, params->activation);
}

static void map_transpose_conv(struct nnapi_model *model, const struct nnapi_node *node)
{
    const TfLiteTransposeConvParams *params = node->node->builtin_data;
    nnapi_add_tensor(model, nnapi_input_index(node, TRANSPOSED_X));
    nnapi_add_tensor(model, nnapi_input_index(node, TRANSPOSED_WEIGHTS));
    add_bias(model, node, TRANSPOSED_BIAS, hl_dim(nnapi_input(node, TRANSPOSED_WEIGHTS), 0));
    nnapi_add_list(model, nnapi_input(node, TRANSPOSED_SHAPE), 0);
    nnapi_add_i32(model, padding_of(params->padding));
    nnapi_add_i32(model, params->stride_width);
    nnapi_add_i32(model, params->stride_height);
    nnapi_add_i32(model, (int32_t)params->activation);
    nnapi_add_bool(model, false); // NHWC
    nnapi_set_output(model, node->node->outputs->data[0]);
    nnapi_end(model, NNAPI_TRANSPOSE_CONV_2D);
}

const struct nnapi_family nnapi_family_transpose_conv = {
    .inputs = {3, 4},
    .typed = TRANSPOSED_X,
    .ints = 1u << TRANSPOSED_SHAPE,
    .needs_params = true,
    .check = check_transpose_conv,
    .map = map_transpose_conv,
};

// ---- FULLY_CONNECTED ----------------------------------------------------------------------------

static bool check_fully_connected(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    const TfLiteFullyConnectedParams *params = view->node->builtin_data;
    const TfLiteTensor *weights = delegate_input(view, WEIGHTS);
    if (!check_weights(view) || !nnapi_check_activation(view, params->activation)) return false;
    if (params->weights_format != kTfLiteFullyConnectedWeightsFormatDefault)
        return delegate_refuse(view, DELEGATE_PARAMETER, WEIGHTS, "shuffled weights");
    if (hl_rank(weights) != 2) return delegate_refuse(view, DELEGATE_RANK, WEIGHTS, "weights must have rank 2");
    if (hl_rank(delegate_input(view, X)) < 2)
        return delegate_refuse(view, DELEGATE_RANK, X, "NNAPI wants an input of rank 2 or more");
    if (nnapi_is_8_bit(weights) && nnapi_scale_count(weights) > 1 && delegate_input(view, X)->type != kTfLiteFloat32)
        return delegate_refuse(view, DELEGATE_QUANTIZATION, WEIGHTS, "NNAPI has no scales by channel here");
    bool keeps = params->keep_num_dims || hl_rank(delegate_output(view, 0)) != 2;
    return !keeps || nnapi_check_level(view, NNAPI_LEVEL_4, "keep_num_dims");
}

static void map_fully_connected(struct nnapi_model *model, const struct nnapi_node *node)
{
    const TfLiteFullyConnectedParams *params = node->node->builtin_data;
    const TfLiteTensor *weights = nnapi_input(node, WEIGHTS);
    int output = node->node->outputs->data[0];
    const TfLiteTensor *out = &node->context->tensors[output];
    nnapi_add_tensor(model, nnapi_input_index(node, X));
    nnapi_add_weights(model, nnapi_input_index(node, WEIGHTS), nnapi_input(node, X)->type == kTfLiteFloat32);
    add_bias(model, node, BIAS, hl_dim(weights, 0));
    nnapi_add_i32(model, (int32_t)params->activation);
    if (hl_rank(out) == 2) {
        nnapi_set_output(model, output);
        nnapi_end(model, NNAPI_FULLY_CONNECTED);
        return;
    }
    // NNAPI's result has two dimensions; a RESHAPE gives it those of the tensor.
    struct nnapi_type flat = nnapi_type_of(model, output), shape = flat;
    flat.rank = 2;
    flat.dims[1] = (uint32_t)hl_dim(weights, 0);
    flat.dims[0] = (uint32_t)(hl_elements(out) / hl_dim(weights, 0));
    uint32_t result = nnapi_new_operand(model, &flat);
    nnapi_set_output_operand(model, result);
    nnapi_end(model, NNAPI_FULLY_CONNECTED);
    int32_t dims[8];
    for (uint32_t i = 0; i < shape.rank; i++) dims[i] = (int32_t)shape.dims[i];
    nnapi_add_operand(model, result);
    nnapi_add_ints(model, dims, shape.rank);
    nnapi_set_output(model, output);
    nnapi_end(model, NNAPI_RESHAPE);
}

const struct nnapi_family nnapi_family_fully_connected = {
    .inputs = {2, 3},
    .needs_params = true,
    .check = check_fully_connected,
    .map = map_fully_connected,
};

// ---- BATCH_MATMUL -------------------------------------------------------------------------------

static bool check_batch_matmul(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    const TfLiteTensor *a = delegate_input(view, 0), *b = delegate_input(view, 1), *out = delegate_output(view, 0);
    if (!b || a->type != b->type || a->type != out->type)
        return delegate_refuse(view, DELEGATE_TYPE, 1, "inputs and output have different types");
    bool same = hl_rank(a) >= 2 && hl_rank(a) == hl_rank(b);
    for (int i = 0; same && i < hl_rank(a) - 2; i++) same = hl_dim(a, i) == hl_dim(b, i);
    return same || delegate_refuse(view, DELEGATE_SHAPE, 1, "NNAPI wants the same batches in both inputs");
}

static void map_batch_matmul(struct nnapi_model *model, const struct nnapi_node *node)
{
    const TfLiteBatchMatMulParams *params = node->node->builtin_data;
    nnapi_add_tensor(model, nnapi_input_index(node, 0));
    nnapi_add_tensor(model, nnapi_input_index(node, 1));
    nnapi_add_bool(model, params->adj_x);
    nnapi_add_bool(model, params->adj_y);
    nnapi_set_output(model, node->node->outputs->data[0]);
    nnapi_end(model, NNAPI_BATCH_MATMUL);
}

const struct nnapi_family nnapi_family_batch_matmul = {
    .inputs = {2, 2},
    .needs_params = true,
    .check = check_batch_matmul,
    .map = map_batch_matmul,
};

// ---- pools --------------------------------------------------------------------------------------

static bool check_pool(const struct delegate_view *view, const struct nnapi_op *op)
{
    const TfLitePoolParams *params = view->node->builtin_data;
    const TfLiteTensor *x = delegate_input(view, X);
    if (hl_rank(x) != 4) return delegate_refuse(view, DELEGATE_RANK, X, "NNAPI wants rank 4");
    if (x->type != delegate_output(view, 0)->type)
        return delegate_refuse(view, DELEGATE_TYPE, DELEGATE_OUTPUT(0), "input and output have different types");
    if (op->builtin == kTfLiteBuiltinL2Pool2d && params->activation != kTfLiteActNone &&
        !nnapi_check_level(view, NNAPI_LEVEL_3, "an activation"))
        return false;
    if (op->builtin == kTfLiteBuiltinAveragePool2d && nnapi_is_8_bit(x) && !nnapi_of(view)->asks_devices &&
        (int64_t)params->filter_width * params->filter_height > 256)
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "a window of more than 256 elements of 8 bits");
    return nnapi_check_activation(view, params->activation);
}

static void map_pool(struct nnapi_model *model, const struct nnapi_node *node)
{
    const TfLitePoolParams *params = node->node->builtin_data;
    nnapi_add_tensor(model, nnapi_input_index(node, X));
    nnapi_add_i32(model, padding_of(params->padding));
    nnapi_add_i32(model, params->stride_width);
    nnapi_add_i32(model, params->stride_height);
    nnapi_add_i32(model, params->filter_width);
    nnapi_add_i32(model, params->filter_height);
    nnapi_add_i32(model, (int32_t)params->activation);
    nnapi_set_output(model, node->node->outputs->data[0]);
    nnapi_end(model, node->op->operation);
}

const struct nnapi_family nnapi_family_pool = {
    .inputs = {1, 1},
    .needs_params = true,
    .same_scale = true,
    .check = check_pool,
    .map = map_pool,
};
