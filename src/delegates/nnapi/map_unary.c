// SPDX-License-Identifier: Apache-2.0
// Operators of one tensor, element by element or along its last axis, with the numbers that some of them take.
#include "delegates/nnapi/op.h"

// One operation that reads input 0; the mappings below add to it.
static void begin(struct nnapi_model *model, const struct nnapi_node *node)
{
    nnapi_add_tensor(model, nnapi_input_index(node, 0));
}

static void finish(struct nnapi_model *model, const struct nnapi_node *node)
{
    nnapi_set_output(model, node->node->outputs->data[0]);
    nnapi_end(model, node->op->operation);
}

static bool check_same_type(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    return delegate_input(view, 0)->type == delegate_output(view, 0)->type ||
           delegate_refuse(view, DELEGATE_TYPE, DELEGATE_OUTPUT(0), "input and output have different types");
}

static void map_unary(struct nnapi_model *model, const struct nnapi_node *node)
{
    begin(model, node);
    finish(model, node);
}

const struct nnapi_family nnapi_family_unary = {.inputs = {1, 1},
                                                .max_rank = -1,
                                                .check = check_same_type,
                                                .map = map_unary};
const struct nnapi_family nnapi_family_rectifier = {.inputs = {1, 1},
                                                    .same_scale = true,
                                                    .check = check_same_type,
                                                    .map = map_unary};

// ---- 8-bit results of a fixed scale -------------------------------------------------------------

static bool check_fixed(const struct delegate_view *view, const struct nnapi_op *op)
{
    const TfLiteTensor *out = delegate_output(view, 0);
    if (!check_same_type(view, op)) return false;
    if (!nnapi_is_8_bit(out)) return true;
    bool around_zero = op->builtin == kTfLiteBuiltinTanh || op->builtin == kTfLiteBuiltinL2Normalization;
    float scale = around_zero ? 1.0f / 128 : 1.0f / 256;
    int zero = (around_zero ? 0 : -128) + (out->type == kTfLiteUInt8 ? 128 : 0);
    return (nnapi_scale(out) == scale && nnapi_zero_point(out) == zero) ||
           delegate_refuse(view, DELEGATE_QUANTIZATION, DELEGATE_OUTPUT(0),
                           "NNAPI's result has scale 1/%d and zero point %d", around_zero ? 128 : 256, zero);
}

const struct nnapi_family nnapi_family_squash = {.inputs = {1, 1}, .check = check_fixed, .map = map_unary};

static bool check_softmax(const struct delegate_view *view, const struct nnapi_op *op)
{
    int rank = hl_rank(delegate_input(view, 0));
    if (nnapi_of(view)->level < NNAPI_LEVEL_3 && rank != 2 && rank != 4)
        return delegate_refuse(view, DELEGATE_RANK, 0, "sdk 28 wants rank 2 or 4");
    const TfLiteSoftmaxParams *params = view->node->builtin_data;
    if (!(params->beta > 0)) return delegate_refuse(view, DELEGATE_PARAMETER, -1, "beta is not positive");
    return check_fixed(view, op);
}

static void map_softmax(struct nnapi_model *model, const struct nnapi_node *node)
{
    begin(model, node);
    nnapi_add_f32(model, ((const TfLiteSoftmaxParams *)node->node->builtin_data)->beta);
    finish(model, node);
}

const struct nnapi_family nnapi_family_softmax = {.inputs = {1, 1},
                                                  .needs_params = true,
                                                  .check = check_softmax,
                                                  .map = map_softmax};

static void map_log_softmax(struct nnapi_model *model, const struct nnapi_node *node)
{
    begin(model, node);
    nnapi_add_f32(model, 1);
    nnapi_add_i32(model, -1);
    finish(model, node);
}

const struct nnapi_family nnapi_family_log_softmax = {.inputs = {1, 1},
                                                      .check = check_same_type,
                                                      .map = map_log_softmax};

static bool check_l2_normalization(const struct delegate_view *view, const struct nnapi_op *op)
{
    const TfLiteL2NormParams *params = view->node->builtin_data;
    if (params->activation != kTfLiteActNone)
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "No activation expected");
    if (nnapi_of(view)->level < NNAPI_LEVEL_3 && hl_rank(delegate_input(view, 0)) != 4)
        return delegate_refuse(view, DELEGATE_RANK, 0, "sdk 28 wants rank 4");
    return check_fixed(view, op);
}

const struct nnapi_family nnapi_family_l2_normalization = {.inputs = {1, 1},
                                                           .needs_params = true,
                                                           .check = check_l2_normalization,
                                                           .map = map_unary};

static bool check_local_response(const struct delegate_view *view, const struct nnapi_op *op)
{
    return (hl_rank(delegate_input(view, 0)) == 4 || delegate_refuse(view, DELEGATE_RANK, 0, "rank 4 is wanted")) &&
           check_same_type(view, op);
}

static void map_local_response(struct nnapi_model *model, const struct nnapi_node *node)
{
    const TfLiteLocalResponseNormParams *params = node->node->builtin_data;
    begin(model, node);
    nnapi_add_i32(model, params->radius);
    nnapi_add_f32(model, params->bias);
    nnapi_add_f32(model, params->alpha);
    nnapi_add_f32(model, params->beta);
    finish(model, node);
}

const struct nnapi_family nnapi_family_local_response = {.inputs = {1, 1},
                                                         .needs_params = true,
                                                         .check = check_local_response,
                                                         .map = map_local_response};

// ---- made of several operations -----------------------------------------------------------------

static void map_elu(struct nnapi_model *model, const struct nnapi_node *node)
{
    begin(model, node);
    nnapi_add_f32(model, 1);
    finish(model, node);
}

const struct nnapi_family nnapi_family_elu = {.inputs = {1, 1}, .check = check_same_type, .map = map_elu};

static uint32_t one_float(struct nnapi_model *model, float value)
{
    struct nnapi_type type = {.type = ANEURALNETWORKS_TENSOR_FLOAT32, .rank = 1, .dims = {1}};
    return nnapi_new_constant(model, &type, &value, sizeof value);
}

// cos(x) = sin(pi / 2 - x)
static void map_cos(struct nnapi_model *model, const struct nnapi_node *node)
{
    struct nnapi_type type = nnapi_type_of(model, nnapi_input_index(node, 0));
    uint32_t difference = nnapi_new_operand(model, &type);
    nnapi_add_operand(model, one_float(model, 1.57079632679489662f));
    begin(model, node);
    nnapi_add_i32(model, kTfLiteActNone);
    nnapi_set_output_operand(model, difference);
    nnapi_end(model, NNAPI_SUB);
    nnapi_add_operand(model, difference);
    finish(model, node);
}

const struct nnapi_family nnapi_family_cos = {.inputs = {1, 1}, .check = check_same_type, .map = map_cos};

// One product on the way to HARD_SWISH.
static uint32_t times(struct nnapi_model *model, uint32_t a, uint32_t b, const struct nnapi_type *type,
                      TfLiteFusedActivation activation)
{
    uint32_t product = nnapi_new_operand(model, type);
    nnapi_add_operand(model, a);
    nnapi_add_operand(model, b);
    nnapi_add_i32(model, (int32_t)activation);
    nnapi_set_output_operand(model, product);
    nnapi_end(model, NNAPI_MUL);
    return product;
}

// Below feature level 4: x * relu6(x + 3) / 6 = x / 2 * relu1(x / 3) + x / 2
static void map_hard_swish(struct nnapi_model *model, const struct nnapi_node *node)
{
    if (model->delegate->level >= NNAPI_LEVEL_4) {
        map_unary(model, node);
        return;
    }
    int input = nnapi_input_index(node, 0);
    struct nnapi_type type = nnapi_type_of(model, input);
    uint32_t x = nnapi_operand_of(model, input);
    uint32_t gate = times(model, x, one_float(model, 1.0f / 3), &type, kTfLiteActReluN1To1);
    uint32_t half = times(model, x, one_float(model, 0.5f), &type, kTfLiteActNone);
    uint32_t gated = times(model, gate, half, &type, kTfLiteActNone);
    nnapi_add_operand(model, gated);
    nnapi_add_operand(model, half);
    nnapi_add_i32(model, kTfLiteActNone);
    nnapi_set_output(model, node->node->outputs->data[0]);
    nnapi_end(model, NNAPI_ADD);
}

const struct nnapi_family nnapi_family_hard_swish = {.inputs = {1, 1}, .check = check_same_type, .map = map_hard_swish};

// ---- PRELU --------------------------------------------------------------------------------------

static bool check_leaky_relu(const struct delegate_view *view, const struct nnapi_op *op)
{
    const TfLiteLeakyReluParams *params = view->node->builtin_data;
    if (nnapi_is_8_bit(delegate_input(view, 0)) && !(params->alpha > 0))
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "alpha of 8 bits is a scale, which must be positive");
    return check_same_type(view, op);
}

static void map_leaky_relu(struct nnapi_model *model, const struct nnapi_node *node)
{
    float alpha = ((const TfLiteLeakyReluParams *)node->node->builtin_data)->alpha;
    struct nnapi_type type = nnapi_type_of(model, nnapi_input_index(node, 0));
    type.rank = 1;
    type.dims[0] = 1;
    begin(model, node);
    if (type.type == ANEURALNETWORKS_TENSOR_FLOAT32) {
        nnapi_add_operand(model, nnapi_new_constant(model, &type, &alpha, sizeof alpha));
    } else {
        uint8_t one = 1;
        type.scale = alpha;
        type.zero_point = 0;
        nnapi_add_operand(model, nnapi_new_constant(model, &type, &one, sizeof one));
    }
    finish(model, node);
}

const struct nnapi_family nnapi_family_leaky_relu = {.inputs = {1, 1},
                                                     .needs_params = true,
                                                     .check = check_leaky_relu,
                                                     .map = map_leaky_relu};

// ---- changes of type ----------------------------------------------------------------------------

static bool check_quantize(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    const TfLiteTensor *in = delegate_input(view, 0);
    return in->type == kTfLiteFloat32 || nnapi_is_8_bit(in) ||
           delegate_refuse(view, DELEGATE_TYPE, 0, "QUANTIZE does not take %s", hl_type_name(in->type));
}

static void map_quantize(struct nnapi_model *model, const struct nnapi_node *node)
{
    if (nnapi_input(node, 0)->type == kTfLiteFloat32) {
        map_unary(model, node);
        return;
    }
    struct nnapi_type floats = nnapi_type_of(model, nnapi_input_index(node, 0));
    floats.type = ANEURALNETWORKS_TENSOR_FLOAT32;
    floats.scale = 0;
    floats.zero_point = 0;
    uint32_t real = nnapi_new_operand(model, &floats);
    begin(model, node);
    nnapi_set_output_operand(model, real);
    nnapi_end(model, NNAPI_DEQUANTIZE);
    nnapi_add_operand(model, real);
    finish(model, node);
}

const struct nnapi_family nnapi_family_quantize = {
    .inputs = {1, 1}, .typed = -1, .max_rank = -1, .check = check_quantize, .map = map_quantize};

static bool check_dequantize(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    const TfLiteTensor *in = delegate_input(view, 0);
    if (in->type != kTfLiteFloat16 && view->registration->version > 2)
        return delegate_refuse(view, DELEGATE_VERSION, -1, "OP Version higher than 2");
    return delegate_output(view, 0)->type == kTfLiteFloat32 ||
           delegate_refuse(view, DELEGATE_TYPE, DELEGATE_OUTPUT(0), "the result is no float32");
}

const struct nnapi_family nnapi_family_dequantize = {.inputs = {1, 1}, .check = check_dequantize, .map = map_unary};

static bool check_cast(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    const TfLiteTensor *out = delegate_output(view, 0);
    bool takes = out->type == kTfLiteFloat32 || out->type == kTfLiteInt32 || out->type == kTfLiteUInt8 ||
                 (out->type == kTfLiteInt8 && nnapi_of(view)->level >= NNAPI_LEVEL_4);
    return takes || delegate_refuse(view, DELEGATE_TYPE, DELEGATE_OUTPUT(0), "CAST to %s", hl_type_name(out->type));
}

const struct nnapi_family nnapi_family_cast = {.inputs = {1, 1}, .max_rank = -1, .check = check_cast, .map = map_unary};
