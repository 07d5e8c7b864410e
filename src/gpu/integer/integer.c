// SPDX-License-Identifier: Apache-2.0
// See integer.h: the table of ops.def, checks, and ranges.
#include "gpu/integer/integer.h"

#include <math.h>
#include <string.h>

#include "gpu/graph/convert.h"
#include "tensorflow/lite/builtin_ops.h"

#define INTEGER_OP(name, suffix, symbol) extern const struct gpu_op gpu_integer_##symbol;
#define INTEGER_CUSTOM(name, symbol) extern const struct gpu_op gpu_integer_##symbol;
#include "gpu/integer/ops.def"
#undef INTEGER_OP
#undef INTEGER_CUSTOM

static const struct {
    int builtin;
    const char *custom;
    const struct gpu_op *op;
} rows[] = {
#define INTEGER_OP(name, suffix, symbol) {kTfLiteBuiltin##suffix, NULL, &gpu_integer_##symbol},
#define INTEGER_CUSTOM(name, symbol) {kTfLiteBuiltinCustom, name, &gpu_integer_##symbol},
#include "gpu/integer/ops.def"
#undef INTEGER_OP
#undef INTEGER_CUSTOM
};

const struct gpu_op *gpu_integer_op_find(int builtin, const char *custom_name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].builtin == builtin &&
            (!rows[i].custom || (custom_name && strcmp(custom_name, rows[i].custom) == 0)))
            return rows[i].op;
    return NULL;
}

static bool is_8bit(TfLiteType type)
{
    return type == kTfLiteInt8 || type == kTfLiteUInt8;
}

static bool names_codes(const TfLiteContext *context, const TfLiteIntArray *tensors)
{
    for (int i = 0; i < tensors->size; i++) {
        const TfLiteTensor *tensor = tensors->data[i] >= 0 ? &context->tensors[tensors->data[i]] : NULL;
        if (tensor && is_8bit(tensor->type) && !hl_is_constant(tensor)) return true;
    }
    return false;
}

bool gpu_has_codes(const TfLiteContext *context, const TfLiteNode *node)
{
    return names_codes(context, node->inputs) || names_codes(context, node->outputs);
}

// ---- checks -------------------------------------------------------------------------------------

bool gpu_check_like_floats(const struct gpu_node_view *view)
{
    const struct gpu_op *op = gpu_op_find(view->registration->builtin_code, NULL);
    return !op->supported || op->supported(view);
}

static bool is_usable(const TfLiteAffineQuantization *affine, TfLiteType type)
{
    int low = type == kTfLiteUInt8 ? 0 : -128;
    if (!affine || affine->scale->size != 1 || !isfinite(affine->scale->data[0])) return false;
    return affine->zero_point->data[0] >= low && affine->zero_point->data[0] <= low + 255;
}

bool gpu_check_codes(const struct gpu_node_view *view, int input)
{
    const TfLiteTensor *tensor = input < 0 ? gpu_view_output(view, 0) : gpu_view_input(view, input);
    if (!is_8bit(tensor->type))
        return gpu_refuse(view, DELEGATE_TYPE, input, "exact integers: %s has type %s, expected 8 bits",
                          input < 0 ? "the output" : "an input", hl_type_public_name(tensor->type));
    return is_usable(gpu_affine_of(tensor), tensor->type) ||
           gpu_refuse(view, DELEGATE_QUANTIZATION, input, "exact integers: a scale or zero point out of range");
}

static bool check_same_types(const struct gpu_node_view *view)
{
    return gpu_view_input(view, 0)->type == gpu_view_output(view, 0)->type ||
           gpu_refuse(view, DELEGATE_TYPE, 0, "exact integers: input and output have different types");
}

bool gpu_check_unary_codes(const struct gpu_node_view *view)
{
    return gpu_check_codes(view, 0) && gpu_check_codes(view, -1) && check_same_types(view);
}

static bool check_zeros(const struct gpu_node_view *view, const TfLiteTensor *weights, bool any)
{
    const TfLiteIntArray *zeros = gpu_affine_of(weights)->zero_point;
    if (is_8bit(weights->type) && zeros->size == 1 && (any || weights->type == kTfLiteUInt8))
        return gpu_check_codes(view, 1);
    for (int i = 0; i < zeros->size; i++)
        if (zeros->data[i] != 0)
            return gpu_refuse(view, DELEGATE_QUANTIZATION, 1, "exact integers: the zero point of the weights is %d",
                              zeros->data[i]);
    return true;
}

bool gpu_check_integer_weights(const struct gpu_node_view *view, int outputs, bool any_zero)
{
    const TfLiteTensor *x = gpu_view_input(view, 0), *weights = gpu_view_input(view, 1);
    const TfLiteTensor *bias = gpu_view_input(view, 2);
    if (!gpu_check_unary_codes(view) || !gpu_check_constant(view, 1)) return false;
    bool packed = weights->type == kTfLiteInt4 || weights->type == kTfLiteInt2;
    bool fit = x->type == kTfLiteUInt8 ? weights->type == kTfLiteUInt8 : weights->type == kTfLiteInt8 || packed;
    if (!fit || weights->sparsity)
        return gpu_refuse(view, DELEGATE_TYPE, 1, "exact integers: weights of type %s%s beside %s",
                          weights->sparsity ? "sparse " : "", hl_type_public_name(weights->type),
                          hl_type_public_name(x->type));
    const TfLiteAffineQuantization *affine = gpu_affine_of(weights);
    if (!affine || (affine->scale->size != 1 && (affine->scale->size != outputs || x->type != kTfLiteInt8)))
        return gpu_refuse(view, DELEGATE_QUANTIZATION, 1, "exact integers: the scales of the weights");
    if (!check_zeros(view, weights, any_zero)) return false;
    if (!bias) return true;
    return (bias->type == kTfLiteInt32 && !bias->sparsity && gpu_check_constant(view, 2)) ||
           gpu_refuse(view, DELEGATE_TYPE, 2, "exact integers: the bias is no constant of int32");
}

// ---- ranges -------------------------------------------------------------------------------------

static int code_of(float bound, const struct gpu_quantization *q)
{
    float steps = roundf(bound / q->scale) + (float)gpu_code_zero(q);
    return steps < -128 ? -128 : steps > 127 ? 127 : (int)steps;
}

struct gpu_code_range gpu_code_range(TfLiteFusedActivation activation, const struct gpu_quantization *q)
{
    switch (activation) {
    case kTfLiteActRelu: return (struct gpu_code_range){code_of(0, q), 127};
    case kTfLiteActRelu6: return (struct gpu_code_range){code_of(0, q), code_of(6, q)};
    case kTfLiteActReluN1To1: return (struct gpu_code_range){code_of(-1, q), code_of(1, q)};
    default: return (struct gpu_code_range){-128, 127};
    }
}
