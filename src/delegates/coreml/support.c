// SPDX-License-Identifier: Apache-2.0
// Which nodes Core ML can run. In: a node of the runtime and the version of Core ML. Out: yes, or no with a reason.
// What all operators have in common is checked here: version, number, types and ranks of tensors; what is an
// operator's own, by its family.
#include "delegates/coreml/constant.h"
#include "delegates/coreml/op.h"

static const struct coreml_op ops[] = {
#define COREML_OP(builtin, name, version, family) {name, kTfLiteBuiltin##builtin, version, &coreml_family_##family},
#include "delegates/coreml/ops.def"
#undef COREML_OP
};

const struct coreml_op *coreml_op_find(int builtin)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (ops[i].builtin == builtin) return &ops[i];
    return NULL;
}

// ---- for families -------------------------------------------------------------------------------

// TANH would have a layer, but the runtime's own kernels leave a fused TANH out, and models are made with them.
bool coreml_check_activation(const struct delegate_view *view, TfLiteFusedActivation activation)
{
    if (activation == kTfLiteActNone || activation == kTfLiteActRelu || activation == kTfLiteActReluN1To1 ||
        activation == kTfLiteActRelu6)
        return true;
    return delegate_refuse(view, DELEGATE_PARAMETER, -1, "fused activation %d is not taken", (int)activation);
}

bool coreml_check_no_activation(const struct delegate_view *view, TfLiteFusedActivation activation)
{
    return activation == kTfLiteActNone ||
           delegate_refuse(view, DELEGATE_PARAMETER, -1, "fused activation %d; none is taken", (int)activation);
}

static const TfLiteTensor *constant_at(const struct delegate_view *view, int input)
{
    const TfLiteIntArray *list = view->node->inputs;
    if (input >= list->size || list->data[input] < 0) return NULL;
    return coreml_constant(view->delegate, view->context, list->data[input]);
}

bool coreml_check_weights(const struct delegate_view *view, int input)
{
    const TfLiteTensor *constant = constant_at(view, input);
    if (!constant) return delegate_refuse(view, DELEGATE_NOT_CONSTANT, input, "input %d must be a constant", input);
    if (constant->sparsity) return delegate_refuse(view, DELEGATE_TYPE, input, "the tensor is sparse");
    return constant->type == kTfLiteFloat32 || constant->type == kTfLiteFloat16 ||
           delegate_refuse(view, DELEGATE_TYPE, input, "constants of %s; float32 or float16 is taken",
                           hl_type_name(constant->type));
}

bool coreml_check_bias(const struct delegate_view *view, int input, int64_t count)
{
    if (!delegate_input(view, input)) return true;
    if (!coreml_check_weights(view, input)) return false;
    return hl_elements(constant_at(view, input)) == count ||
           delegate_refuse(view, DELEGATE_SHAPE, input, "the bias has not %lld elements", (long long)count);
}

bool coreml_check_ints(const struct delegate_view *view, int input, int least, int most)
{
    const TfLiteTensor *tensor = delegate_input(view, input);
    if (!tensor || !hl_is_constant(tensor) || !tensor->data.raw)
        return delegate_refuse(view, DELEGATE_NOT_CONSTANT, input, "input %d must be a constant", input);
    if (tensor->type != kTfLiteInt32)
        return delegate_refuse(view, DELEGATE_TYPE, input, "a list of %s; int32 is taken", hl_type_name(tensor->type));
    int64_t count = hl_elements(tensor);
    return (count >= least && count <= most) ||
           delegate_refuse(view, DELEGATE_SHAPE, input, "a list of %lld numbers; %d to %d are taken", (long long)count,
                           least, most);
}

bool coreml_check_rank(const struct delegate_view *view, int input, int rank)
{
    return hl_rank(delegate_input(view, input)) == rank ||
           delegate_refuse(view, DELEGATE_RANK, input, "rank %d; %d is taken", hl_rank(delegate_input(view, input)),
                           rank);
}

bool coreml_check_strides(const struct delegate_view *view, int height, int width)
{
    return (height > 0 && width > 0) ||
           delegate_refuse(view, DELEGATE_PARAMETER, -1, "stride or dilation %d x %d", height, width);
}

// ---- all nodes ----------------------------------------------------------------------------------

static bool check_tensor(const struct delegate_view *view, const TfLiteTensor *tensor, int which)
{
    if (tensor->type != kTfLiteFloat32)
        return delegate_refuse(view, DELEGATE_TYPE, which, "type %s; Core ML's models compute with float32",
                               hl_type_name(tensor->type));
    if (hl_is_dynamic(tensor) || !tensor->dims)
        return delegate_refuse(view, DELEGATE_DYNAMIC, which, "the shape is known only while running");
    if (hl_rank(tensor) < 1 || hl_rank(tensor) > 4)
        return delegate_refuse(view, DELEGATE_RANK, which, "rank %d; 1 to 4 are taken", hl_rank(tensor));
    for (int i = 0; i < hl_rank(tensor); i++)
        if (hl_dim(tensor, i) <= 0) return delegate_refuse(view, DELEGATE_SHAPE, which, "dimension %d is 0", i);
    if (coreml_of(view)->version < 3 && coreml_shape_of(tensor).n != 1)
        return delegate_refuse(view, DELEGATE_SHAPE, which, "a batch of %d; Core ML 2 has batches of 1",
                               coreml_shape_of(tensor).n);
    return true;
}

static bool check_operands(const struct delegate_view *view, const struct coreml_family *family)
{
    const TfLiteIntArray *inputs = view->node->inputs;
    if (inputs->size < family->inputs[0] || (family->inputs[1] >= 0 && inputs->size > family->inputs[1]))
        return delegate_refuse(view, DELEGATE_INPUT_COUNT, -1, "%d inputs", inputs->size);
    if (view->node->outputs->size != 1 || !delegate_output(view, 0))
        return delegate_refuse(view, DELEGATE_INPUT_COUNT, -1, "%d outputs", view->node->outputs->size);
    for (int i = 0; i < inputs->size; i++) {
        unsigned bit = 1u << (i < 31 ? i : 31);
        const TfLiteTensor *tensor = delegate_input(view, i);
        if (!(family->data & bit)) continue;
        if (!tensor) return delegate_refuse(view, DELEGATE_INPUT_COUNT, -1, "input %d is left out", i);
        bool constant = constant_at(view, i);
        if (constant && !(family->maybe & bit))
            return delegate_refuse(view, DELEGATE_CONSTANT, i, "input %d is a constant", i);
        if (!constant && !check_tensor(view, tensor, i)) return false;
    }
    if (hl_is_constant(delegate_output(view, 0)))
        return delegate_refuse(view, DELEGATE_FOLDED, DELEGATE_OUTPUT(0), "its inputs are constants, so it has run");
    return check_tensor(view, delegate_output(view, 0), DELEGATE_OUTPUT(0));
}

bool coreml_supported(const struct delegate_view *view)
{
    const TfLiteRegistration *registration = view->registration;
    const struct coreml_op *op = coreml_op_find(registration->builtin_code);
    if (!op) return delegate_refuse(view, DELEGATE_NO_KERNEL, -1, "no layer of Core ML is used for it");
    if (registration->version > op->max_version)
        return delegate_refuse(view, DELEGATE_VERSION, -1, "version %d; up to %d is taken", registration->version,
                               op->max_version);
    if (op->family->needs_params && !view->node->builtin_data)
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "its options are missing");
    return check_operands(view, op->family) && (!op->family->check || op->family->check(view));
}
