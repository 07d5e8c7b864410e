// SPDX-License-Identifier: Apache-2.0
// Which nodes NNAPI can run. In: a node of the runtime and the feature level. Out: yes, or no with a reason. What all
// operators have in common is checked here: version, level, number, types, ranks and quantization of tensors; what is
// an operator's own, by its family.
#include "delegates/nnapi/op.h"

static const struct nnapi_op ops[] = {
#define NNAPI_OP(builtin, operation, version, f32, u8, i8, i32, f16, boolean, family)        \
    {#operation, kTfLiteBuiltin##builtin, NNAPI_##operation, version, f32, u8, i8, i32, f16, \
     boolean,    &nnapi_family_##family},
#include "delegates/nnapi/ops.def"
#undef NNAPI_OP
};

const struct nnapi_op *nnapi_op_find(int builtin)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (ops[i].builtin == builtin) return &ops[i];
    return NULL;
}

const char *nnapi_op_refusal(int builtin)
{
    switch (builtin) {
#define NNAPI_REFUSED(builtin, reason) \
    case kTfLiteBuiltin##builtin:      \
        return reason;
#include "delegates/nnapi/refused.def"
#undef NNAPI_REFUSED
    default: return NULL;
    }
}

// ---- for families -------------------------------------------------------------------------------

bool nnapi_check_activation(const struct delegate_view *view, TfLiteFusedActivation activation)
{
    if (activation >= kTfLiteActNone && activation <= kTfLiteActRelu6) return true;
    return delegate_refuse(view, DELEGATE_PARAMETER, -1, "fused activation %d is none of NNAPI's", (int)activation);
}

bool nnapi_check_level(const struct delegate_view *view, int64_t level, const char *what)
{
    if (nnapi_of(view)->level >= level) return true;
    return delegate_refuse(view, DELEGATE_VERSION, -1, "%s: Android sdk version less than %lld", what,
                           (long long)level);
}

bool nnapi_check_constant(const struct delegate_view *view, int input)
{
    const TfLiteTensor *tensor = delegate_input(view, input);
    if (!tensor || (hl_is_constant(tensor) && tensor->data.raw)) return true;
    return delegate_refuse(view, DELEGATE_NOT_CONSTANT, input, "input %d must be a constant", input);
}

bool nnapi_check_ints(const struct delegate_view *view, int input)
{
    const TfLiteTensor *tensor = delegate_input(view, input);
    if (!tensor) return delegate_refuse(view, DELEGATE_INPUT_COUNT, -1, "input %d is left out", input);
    if (!nnapi_check_constant(view, input)) return false;
    if (tensor->type != kTfLiteInt32 && tensor->type != kTfLiteInt64)
        return delegate_refuse(view, DELEGATE_TYPE, input, "a list of %s", hl_type_name(tensor->type));
    if (hl_elements(tensor) > NNAPI_MAX_INTS)
        return delegate_refuse(view, DELEGATE_SHAPE, input, "a list of more than %d numbers", NNAPI_MAX_INTS);
    for (int64_t i = 0; i < hl_elements(tensor); i++)
        if (hl_integer_at(tensor, i) != (int32_t)hl_integer_at(tensor, i))
            return delegate_refuse(view, DELEGATE_PARAMETER, input, "a number that does not fit in int32");
    return true;
}

// ---- one tensor ---------------------------------------------------------------------------------

static int32_t level_of_type(const struct nnapi_op *op, TfLiteType type)
{
    switch (type) {
    case kTfLiteFloat32: return op->f32;
    case kTfLiteUInt8: return op->u8;
    case kTfLiteInt8: return op->i8;
    case kTfLiteInt32: return op->i32;
    case kTfLiteFloat16: return op->f16;
    case kTfLiteBool: return op->boolean;
    default: return 0;
    }
}

static bool check_shape(const struct delegate_view *view, const struct nnapi_op *op, const TfLiteTensor *tensor,
                        int which)
{
    int max_rank = op->family->max_rank == 0 ? 4 : op->family->max_rank < 0 ? 8 : op->family->max_rank;
    if (hl_is_dynamic(tensor) || !tensor->dims)
        return delegate_refuse(view, DELEGATE_DYNAMIC, which, "the shape is known only while running");
    if (tensor->dims->size == 0 && !hl_is_constant(tensor))
        return delegate_refuse(view, DELEGATE_RANK, which, "NNAPI has no tensors of rank 0");
    if (tensor->dims->size > max_rank)
        return delegate_refuse(view, DELEGATE_RANK, which, "Input rank should be <= %d", max_rank);
    for (int i = 0; i < tensor->dims->size; i++)
        if (tensor->dims->data[i] <= 0)
            return delegate_refuse(view, DELEGATE_SHAPE, which, "a dimension is 0, which NNAPI takes for unknown");
    return true;
}

static bool check_sparsity(const struct delegate_view *view, const TfLiteTensor *tensor, int which)
{
    return !tensor->sparsity || delegate_refuse(view, DELEGATE_TYPE, which, "the tensor is sparse");
}

// The type must be one that the model can say at all.
static bool check_type(const struct delegate_view *view, const struct nnapi_op *op, const TfLiteTensor *tensor,
                       int which)
{
    bool known = tensor->type == kTfLiteFloat32 || tensor->type == kTfLiteFloat16 || tensor->type == kTfLiteInt32 ||
                 tensor->type == kTfLiteBool || nnapi_is_8_bit(tensor) ||
                 (op->family->takes_int16 && tensor->type == kTfLiteInt16);
    if (!known)
        return delegate_refuse(view, DELEGATE_TYPE, which, "type %s is not supported", hl_type_name(tensor->type));
    if (nnapi_is_8_bit(tensor) && nnapi_scale_count(tensor) > 1 &&
        (tensor->type == kTfLiteUInt8 || !hl_is_constant(tensor) || nnapi_of(view)->level < NNAPI_LEVEL_3))
        return delegate_refuse(view, DELEGATE_QUANTIZATION, which,
                               "scales by channel are for int8 constants, from feature level 29 on");
    return true;
}

static bool check_operands(const struct delegate_view *view, const struct nnapi_op *op)
{
    const struct nnapi_family *family = op->family;
    const TfLiteIntArray *inputs = view->node->inputs, *outputs = view->node->outputs;
    if (inputs->size < family->inputs[0] || inputs->size > family->inputs[1])
        return delegate_refuse(view, DELEGATE_INPUT_COUNT, -1, "%d inputs", inputs->size);
    if (outputs->size < 1 || (family->outputs >= 0 && outputs->size != (family->outputs ? family->outputs : 1)))
        return delegate_refuse(view, DELEGATE_INPUT_COUNT, -1, "%d outputs", outputs->size);
    for (int i = 0; i < inputs->size; i++) {
        const TfLiteTensor *tensor = delegate_input(view, i);
        if (!tensor || (i < 32 && (family->ints & (1u << i)))) continue;
        if (!check_type(view, op, tensor, i) || !check_shape(view, op, tensor, i) || !check_sparsity(view, tensor, i))
            return false;
    }
    for (int i = 0; i < outputs->size; i++) {
        const TfLiteTensor *tensor = delegate_output(view, i);
        if (!tensor) return delegate_refuse(view, DELEGATE_INPUT_COUNT, -1, "output %d is left out", i);
        if (hl_is_constant(tensor))
            return delegate_refuse(view, DELEGATE_FOLDED, DELEGATE_OUTPUT(i),
                                   "its inputs are constants, so it has run");
        if (!check_type(view, op, tensor, DELEGATE_OUTPUT(i)) || !check_shape(view, op, tensor, DELEGATE_OUTPUT(i)))
            return false;
    }
    return true;
}

// ---- types and scales ---------------------------------------------------------------------------

static const TfLiteTensor *typed_tensor(const struct delegate_view *view, const struct nnapi_family *family)
{
    return family->typed < 0 ? delegate_output(view, 0) : delegate_input(view, family->typed);
}

static bool check_level_of_type(const struct delegate_view *view, const struct nnapi_op *op)
{
    const TfLiteTensor *tensor = typed_tensor(view, op->family);
    int which = op->family->typed < 0 ? DELEGATE_OUTPUT(0) : op->family->typed;
    if (!tensor) return delegate_refuse(view, DELEGATE_INPUT_COUNT, -1, "an input is left out");
    int32_t level = level_of_type(op, tensor->type);
    if (level == 0)
        return delegate_refuse(view, DELEGATE_TYPE, which, "%s does not take %s", op->name, hl_type_name(tensor->type));
    if (nnapi_of(view)->level < level)
        return delegate_refuse(view, DELEGATE_VERSION, which, "%s of %s: Android sdk version less than %d", op->name,
                               hl_type_name(tensor->type), (int)level);
    return true;
}

static bool check_same_scale(const struct delegate_view *view, const struct nnapi_family *family)
{
    const TfLiteTensor *in = typed_tensor(view, family);
    if (!family->same_scale || !nnapi_is_8_bit(in)) return true;
    for (int i = 0; i < view->node->outputs->size; i++) {
        const TfLiteTensor *out = delegate_output(view, i);
        if (out->type != in->type) continue;
        if (nnapi_scale(in) != nnapi_scale(out) || nnapi_zero_point(in) != nnapi_zero_point(out))
            return delegate_refuse(view, DELEGATE_QUANTIZATION, DELEGATE_OUTPUT(i),
                                   "input and output have different scales or zero points");
    }
    return true;
}

bool nnapi_supported(const struct delegate_view *view)
{
    const TfLiteRegistration *registration = view->registration;
    const struct nnapi_op *op = nnapi_op_find(registration->builtin_code);
    const char *refusal = op ? NULL : nnapi_op_refusal(registration->builtin_code);
    if (!op)
        return delegate_refuse(view, DELEGATE_NO_KERNEL, -1, "%s", refusal ? refusal : "Unsupported operation type.");
    if (registration->version > op->max_version)
        return delegate_refuse(view, DELEGATE_VERSION, -1, "OP Version higher than %d", op->max_version);
    if (op->family->needs_params && !view->node->builtin_data)
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "its options are missing");
    return check_operands(view, op) && check_level_of_type(view, op) && check_same_scale(view, op->family) &&
           (!op->family->check || op->family->check(view, op));
}
