// SPDX-License-Identifier: Apache-2.0
// Which nodes Hexagon can run. In: a node of the runtime. Out: yes, or no with a reason. What all operators have in
// common is checked here: version, number, types, ranks and quantization of tensors; what is an operator's own, by its
// family.
#include "delegates/hexagon/op.h"

static const struct hexagon_op ops[] = {
#define B false
#define S true
#define HEXAGON_OP(builtin, operation, version, types, family) \
    {kTfLiteBuiltin##builtin, HEXAGON_##operation, version, types, &hexagon_family_##family},
#include "delegates/hexagon/ops.def"
#undef HEXAGON_OP
#undef S
#undef B
};

const struct hexagon_op *hexagon_op_find(int builtin)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (ops[i].builtin == builtin) return &ops[i];
    return NULL;
}

// ---- for families -------------------------------------------------------------------------------

bool hexagon_check_activation(const struct delegate_view *view, TfLiteFusedActivation activation)
{
    if (activation < kTfLiteActNone || activation > kTfLiteActRelu6)
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "fused activation %d is none of Hexagon's",
                               (int)activation);
    struct hexagon_range range = hexagon_activated(hexagon_range_of(delegate_output(view, 0)), activation);
    return range.min < range.max || delegate_refuse(view, DELEGATE_QUANTIZATION, DELEGATE_OUTPUT(0),
                                                    "the fused activation leaves one value of the range");
}

bool hexagon_check_no_activation(const struct delegate_view *view, TfLiteFusedActivation activation)
{
    return activation == kTfLiteActNone ||
           delegate_refuse(view, DELEGATE_PARAMETER, -1, "it has a fused activation, which Hexagon's has not");
}

bool hexagon_check_strides(const struct delegate_view *view, int height, int width)
{
    return (height >= 1 && height <= 3 && width >= 1 && width <= 3) ||
           delegate_refuse(view, DELEGATE_PARAMETER, -1, "strides %dx%d; Hexagon has 1 to 3", height, width);
}

bool hexagon_check_constant(const struct delegate_view *view, int input, TfLiteType type)
{
    const TfLiteTensor *tensor = delegate_input(view, input);
    if (!tensor) return delegate_refuse(view, DELEGATE_INPUT_COUNT, -1, "input %d is left out", input);
    if (!hl_is_constant(tensor) || !tensor->data.raw)
        return delegate_refuse(view, DELEGATE_NOT_CONSTANT, input, "input %d must be a constant", input);
    return tensor->type == type || delegate_refuse(view, DELEGATE_TYPE, input, "input %d is %s, expected %s", input,
                                                   hl_type_name(tensor->type), hl_type_name(type));
}

bool hexagon_check_list(const struct delegate_view *view, const struct hexagon_op *op)
{
    (void)op;
    return hexagon_check_constant(view, 1, kTfLiteInt32);
}

// ---- one tensor ---------------------------------------------------------------------------------

static bool check_shape(const struct delegate_view *view, const TfLiteTensor *tensor, int which)
{
    if (hl_is_dynamic(tensor) || !tensor->dims)
        return delegate_refuse(view, DELEGATE_DYNAMIC, which, "the shape is known only while running");
    if (tensor->dims->size > 4)
        return delegate_refuse(view, DELEGATE_RANK, which, "Hexagon has tensors of at most 4 dimensions");
    if (hl_elements(tensor) == 0) return delegate_refuse(view, DELEGATE_SHAPE, which, "the tensor has no elements");
    return !tensor->sparsity || delegate_refuse(view, DELEGATE_TYPE, which, "the tensor is sparse");
}

bool hexagon_by_channel(const TfLiteTensor *tensor)
{
    const TfLiteAffineQuantization *affine = tensor->quantization.params;
    return tensor->quantization.type == kTfLiteAffineQuantization && affine && affine->scale && affine->scale->size > 1;
}

// An 8-bit value of the graph.
static bool check_value(const struct delegate_view *view, const struct hexagon_op *op, const TfLiteTensor *tensor,
                        int which)
{
    if (!hexagon_is_8_bit(tensor))
        return delegate_refuse(view, DELEGATE_TYPE, which, "Hexagon computes with 8 bits, this is %s",
                               hl_type_name(tensor->type));
    if (op->int8_only && tensor->type == kTfLiteUInt8)
        return delegate_refuse(view, DELEGATE_TYPE, which, "this operator is for int8 alone, this is uint8");
    if (!(tensor->params.scale > 0) && !hexagon_by_channel(tensor))
        return delegate_refuse(view, DELEGATE_QUANTIZATION, which, "the tensor has no scale");
    return check_shape(view, tensor, which);
}

// Scales by channel are for weights, which the families of convolutions name as constants.
static bool check_scales(const struct delegate_view *view, const TfLiteTensor *tensor, int which)
{
    return !hexagon_by_channel(tensor) ||
           delegate_refuse(view, DELEGATE_QUANTIZATION, which, "only weights of convolutions have scales by channel");
}

// ---- a node -------------------------------------------------------------------------------------

static bool check_inputs(const struct delegate_view *view, const struct hexagon_op *op)
{
    const struct hexagon_family *family = op->family;
    int count = view->node->inputs->size, most = family->inputs[1] ? family->inputs[1] : HEXAGON_MAX_TENSORS;
    if (count < family->inputs[0] || count > most)
        return delegate_refuse(view, DELEGATE_INPUT_COUNT, -1, "%d inputs; Hexagon has %d to %d", count,
                               family->inputs[0], most);
    for (int i = 0; i < count; i++) {
        const TfLiteTensor *tensor = delegate_input(view, i);
        if (i < 32 && (family->constants & (1u << i))) continue;
        if (!tensor) return delegate_refuse(view, DELEGATE_INPUT_COUNT, -1, "input %d is left out", i);
        if (!check_value(view, op, tensor, i) || !check_scales(view, tensor, i)) return false;
    }
    return true;
}

static bool check_outputs(const struct delegate_view *view, const struct hexagon_op *op)
{
    int count = view->node->outputs->size;
    if (count < 1 || count > (op->family->many_outputs ? HEXAGON_MAX_TENSORS : 1))
        return delegate_refuse(view, DELEGATE_INPUT_COUNT, -1, "%d outputs", count);
    for (int i = 0; i < count; i++) {
        const TfLiteTensor *tensor = delegate_output(view, i);
        int which = DELEGATE_OUTPUT(i);
        if (!tensor) return delegate_refuse(view, DELEGATE_INPUT_COUNT, -1, "output %d is left out", i);
        if (hl_is_constant(tensor))
            return delegate_refuse(view, DELEGATE_FOLDED, which, "its inputs are constants, so it has run");
        if (op->family->int32_result) {
            if (tensor->type != kTfLiteInt32)
                return delegate_refuse(view, DELEGATE_TYPE, which, "the result is %s, Hexagon's is int32",
                                       hl_type_name(tensor->type));
            if (!check_shape(view, tensor, which)) return false;
        } else if (!check_value(view, op, tensor, which) || !check_scales(view, tensor, which)) {
            return false;
        }
    }
    return true;
}

static bool check_same_scale(const struct delegate_view *view, const struct hexagon_family *family)
{
    const TfLiteTensor *in = delegate_input(view, family->typed);
    for (int i = 0; family->same_scale && i < view->node->outputs->size; i++) {
        const TfLiteTensor *out = delegate_output(view, i);
        if (in->type != out->type || in->params.scale != out->params.scale ||
            in->params.zero_point != out->params.zero_point)
            return delegate_refuse(view, DELEGATE_QUANTIZATION, DELEGATE_OUTPUT(i),
                                   "input and output have different types, scales or zero points");
    }
    return true;
}

bool hexagon_supported(const struct delegate_view *view)
{
    const TfLiteRegistration *registration = view->registration;
    const struct hexagon_op *op = hexagon_op_find(registration->builtin_code);
    if (!op)
        return delegate_refuse(view, DELEGATE_NO_KERNEL, -1,
                               registration->builtin_code == kTfLiteBuiltinSum
                                   ? "Hexagon's sum is not among the operations that the original sends"
                                   : "Hexagon does not have the operator");
    if (registration->version > op->max_version)
        return delegate_refuse(view, DELEGATE_VERSION, -1, "version %d; Hexagon has it up to version %d",
                               registration->version, op->max_version);
    if (op->family->needs_params && !view->node->builtin_data)
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "its options are missing");
    return check_inputs(view, op) && check_outputs(view, op) && check_same_scale(view, op->family) &&
           (!op->family->check || op->family->check(view, op));
}
