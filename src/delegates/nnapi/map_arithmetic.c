// SPDX-License-Identifier: Apache-2.0
// Operators of two tensors that broadcast: sums, products, comparisons, logic.
#include <math.h>

#include "delegates/nnapi/op.h"

// ---- ADD, SUB, MUL, DIV -------------------------------------------------------------------------

static TfLiteFusedActivation activation_of(int builtin, const void *params)
{
    switch (builtin) {
    case kTfLiteBuiltinAdd: return ((const TfLiteAddParams *)params)->activation;
    case kTfLiteBuiltinSub: return ((const TfLiteSubParams *)params)->activation;
    case kTfLiteBuiltinMul: return ((const TfLiteMulParams *)params)->activation;
    default: return ((const TfLiteDivParams *)params)->activation;
    }
}

// Both inputs must have the type of the output; NNAPI has nothing for a mixture.
static bool check_same_types(const struct delegate_view *view)
{
    const TfLiteTensor *a = delegate_input(view, 0), *b = delegate_input(view, 1), *out = delegate_output(view, 0);
    if (!a || !b) return delegate_refuse(view, DELEGATE_INPUT_COUNT, -1, "an input is left out");
    if (a->type == b->type && a->type == out->type) return true;
    return delegate_refuse(view, DELEGATE_TYPE, 1, "inputs and output have different types");
}

static bool check_arithmetic(const struct delegate_view *view, const struct nnapi_op *op)
{
    const TfLiteTensor *a = delegate_input(view, 0), *b = delegate_input(view, 1), *out = delegate_output(view, 0);
    TfLiteFusedActivation activation = activation_of(op->builtin, view->node->builtin_data);
    if (!check_same_types(view) || !nnapi_check_activation(view, activation)) return false;
    if (op->builtin == kTfLiteBuiltinMul && view->registration->version > 2 && !nnapi_of(view)->asks_devices)
        return delegate_refuse(view, DELEGATE_VERSION, -1, "OP Version higher than 2, and no accelerator");
    if (a->type == kTfLiteInt32 && activation != kTfLiteActNone)
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "No activation expected with int32");
    if (op->builtin == kTfLiteBuiltinMul && nnapi_is_8_bit(a) && !(nnapi_scale(out) > nnapi_scale(a) * nnapi_scale(b)))
        return delegate_refuse(view, DELEGATE_QUANTIZATION, DELEGATE_OUTPUT(0),
                               "the output's scale is not above the product of the inputs'");
    return true;
}

static void map_arithmetic(struct nnapi_model *model, const struct nnapi_node *node)
{
    nnapi_add_tensor(model, nnapi_input_index(node, 0));
    nnapi_add_tensor(model, nnapi_input_index(node, 1));
    nnapi_add_i32(model, (int32_t)activation_of(node->op->builtin, node->node->builtin_data));
    nnapi_set_output(model, node->node->outputs->data[0]);
    nnapi_end(model, node->op->operation);
}

const struct nnapi_family nnapi_family_arithmetic = {
    .inputs = {2, 2},
    .needs_params = true,
    .check = check_arithmetic,
    .map = map_arithmetic,
};

// ---- SQUARED_DIFFERENCE -------------------------------------------------------------------------

static bool check_squared(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    return check_same_types(view);
}

// 8 bits for differences from 0 to the greatest that counts: which the inputs can have, and whose square the output
// holds.
static void set_difference_scale(const struct nnapi_node *node, const TfLiteTensor *out, struct nnapi_type *type)
{
    float low[2], high[2];
    for (int i = 0; i < 2; i++) {
        const TfLiteTensor *input = &node->context->tensors[nnapi_input_index(node, i)];
        int lowest = input->type == kTfLiteInt8 ? -128 : 0;
        low[i] = (float)(lowest - nnapi_zero_point(input)) * nnapi_scale(input);
        high[i] = low[i] + 255 * nnapi_scale(input);
    }
    float inputs = fmaxf(high[0] - low[1], high[1] - low[0]);
    int highest = out->type == kTfLiteInt8 ? 127 : 255;
    float outputs = sqrtf((float)(highest - nnapi_zero_point(out)) * nnapi_scale(out));
    type->scale = fminf(inputs, outputs) / 255;
    type->zero_point = type->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM ? 0 : -128;
}

static uint32_t map_difference(struct nnapi_model *model, const struct nnapi_node *node, int first,
                               const struct nnapi_type *type)
{
    uint32_t difference = nnapi_new_operand(model, type);
    nnapi_add_tensor(model, nnapi_input_index(node, first));
    nnapi_add_tensor(model, nnapi_input_index(node, 1 - first));
    nnapi_add_i32(model, kTfLiteActNone);
    nnapi_set_output_operand(model, difference);
    nnapi_end(model, NNAPI_SUB);
    return difference;
}

// Of 8 bits it is the square of |a - b|, which is the greater of max(a - b, 0) and max(b - a, 0): with a bit for the
// sign in the rounded difference, the square would be up to two steps off, and without it one.
static void map_squared(struct nnapi_model *model, const struct nnapi_node *node)
{
    int output = node->node->outputs->data[0];
    struct nnapi_type type = nnapi_type_of(model, output);
    const TfLiteTensor *out = &node->context->tensors[output];
    bool unsigned_parts = nnapi_is_8_bit(out);
    if (unsigned_parts) set_difference_scale(node, out, &type);
    uint32_t difference = map_difference(model, node, 0, &type);
    if (unsigned_parts) {
        uint32_t opposite = map_difference(model, node, 1, &type), greater = nnapi_new_operand(model, &type);
        nnapi_add_operand(model, difference);
        nnapi_add_operand(model, opposite);
        nnapi_set_output_operand(model, greater);
        nnapi_end(model, NNAPI_MAXIMUM);
        difference = greater;
    }
    nnapi_add_operand(model, difference);
    nnapi_add_operand(model, difference);
    nnapi_add_i32(model, kTfLiteActNone);
    nnapi_set_output(model, output);
    nnapi_end(model, NNAPI_MUL);
}

const struct nnapi_family nnapi_family_squared_difference = {
    .inputs = {2, 2},
    .check = check_squared,
    .map = map_squared,
};

// ---- two tensors and nothing else ---------------------------------------------------------------

static bool check_binary(const struct delegate_view *view, const struct nnapi_op *op)
{
    const TfLiteTensor *a = delegate_input(view, 0), *b = delegate_input(view, 1), *out = delegate_output(view, 0);
    bool compares = out->type == kTfLiteBool && a && a->type != kTfLiteBool;
    if (!a || !b) return delegate_refuse(view, DELEGATE_INPUT_COUNT, -1, "an input is left out");
    if (a->type != b->type) return delegate_refuse(view, DELEGATE_TYPE, 1, "inputs have different types");
    if (!compares && a->type != out->type)
        return delegate_refuse(view, DELEGATE_TYPE, DELEGATE_OUTPUT(0), "the output has another type");
    (void)op;
    return true;
}

static void map_binary(struct nnapi_model *model, const struct nnapi_node *node)
{
    nnapi_add_tensor(model, nnapi_input_index(node, 0));
    nnapi_add_tensor(model, nnapi_input_index(node, 1));
    nnapi_set_output(model, node->node->outputs->data[0]);
    nnapi_end(model, node->op->operation);
}

const struct nnapi_family nnapi_family_binary = {
    .inputs = {2, 2},
    .max_rank = -1,
    .check = check_binary,
    .map = map_binary,
};
