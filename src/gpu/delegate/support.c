// SPDX-License-Identifier: Apache-2.0
// Which nodes of a graph can run on the GPU, and which only make constants. In: a node of the runtime. Out: yes, or no
// with a reason. Weights that are stored in half precision, in 8 bits or sparsely reach their operators through a
// DEQUANTIZE or DENSIFY of a constant. The checks of an operator then see the constant itself, and the node before it
// does not run on the GPU.
#include <stdlib.h>

#include "gpu/delegate/delegate.h"
#include "gpu/graph/convert.h"
#include "gpu/ops/op.h"
#include "tensorflow/lite/builtin_ops.h"

// ---- constants behind DEQUANTIZE ----------------------------------------------------------------

// The constant that the node dequantizes or densifies; -1 if it does something else.
static int copied_constant(const TfLiteContext *context, const TfLiteNode *node, const TfLiteRegistration *registration,
                           const int *source)
{
    bool dequantize = registration->builtin_code == kTfLiteBuiltinDequantize;
    bool densify = registration->builtin_code == kTfLiteBuiltinDensify;
    if (!(dequantize || densify) || node->inputs->size != 1 || node->outputs->size != 1) return -1;
    int tensor = node->inputs->data[0];
    if (tensor < 0 || node->outputs->data[0] < 0) return -1;
    if (source[tensor] >= 0) tensor = source[tensor]; // DENSIFY, then DEQUANTIZE
    const TfLiteTensor *from = &context->tensors[tensor];
    bool floats = from->type == kTfLiteFloat16 || from->type == kTfLiteFloat32;
    bool bytes = from->type == kTfLiteInt8 || from->type == kTfLiteUInt8 || from->type == kTfLiteInt4;
    const TfLiteTensor *to = &context->tensors[node->outputs->data[0]];
    bool whole = from->dims && to->dims && hl_elements(from) == hl_elements(to);
    return hl_is_constant(from) && (floats || bytes) && whole && gpu_can_read(from) ? tensor : -1;
}

// Whether the runtime has already computed all outputs in its prepare, as it does for SHAPE and what follows from
// shapes alone. Such a node is claimed together with its readers, so that it does not separate partitions.
static bool is_folded(const TfLiteContext *context, const TfLiteNode *node)
{
    bool all = node->outputs->size > 0;
    for (int i = 0; i < node->outputs->size && all; i++) {
        int tensor = node->outputs->data[i];
        all = tensor >= 0 && hl_is_constant(&context->tensors[tensor]) && context->tensors[tensor].data.raw;
    }
    return all;
}

bool gpu_makes_constant(const struct delegate_view *view, int *constant)
{
    *constant = copied_constant(view->context, view->node, view->registration, view->delegate->source);
    return *constant >= 0 || is_folded(view->context, view->node);
}

// ---- one node -----------------------------------------------------------------------------------

// The node as its operator sees it, with constants in place of their copies. inputs: room for all inputs.
static TfLiteNode shown_node(const TfLiteNode *node, const int *source, TfLiteIntArray *inputs)
{
    inputs->size = node->inputs->size;
    for (int i = 0; i < inputs->size; i++) {
        int tensor = node->inputs->data[i];
        inputs->data[i] = tensor >= 0 && source[tensor] >= 0 ? source[tensor] : tensor;
    }
    TfLiteNode shown = *node;
    shown.inputs = inputs;
    return shown;
}

// The CPU's kernels that copy bytes ignore scales. If input and output have different scales, floats would become other
// bytes than on the CPU.
static bool check_scales(const struct gpu_node_view *view, const struct gpu_op *op)
{
    const TfLiteTensor *out = gpu_view_output(view, 0);
    bool bytes = out && (out->type == kTfLiteInt8 || out->type == kTfLiteUInt8);
    if (!bytes || op->integers || (op->bytes != GPU_BYTES_MOVED && op->bytes != GPU_BYTES_SAME)) return true;
    const TfLiteAffineQuantization *to = gpu_affine_of(out);
    for (int i = 0; i < view->node->inputs->size; i++) {
        const TfLiteTensor *in = gpu_view_input(view, i);
        const TfLiteAffineQuantization *from = in && in->type == out->type ? gpu_affine_of(in) : NULL;
        if (!from || !to) continue;
        if (from->scale->data[0] != to->scale->data[0] || from->zero_point->data[0] != to->zero_point->data[0])
            return gpu_refuse(view, DELEGATE_QUANTIZATION, i,
                              "input %d and the output have different scales or zero points", i);
    }
    return true;
}

static void check_node(const struct gpu_node_view *view)
{
    const TfLiteRegistration *registration = view->registration;
    const struct gpu_op *op = view->op;
    if (!op && view->exact_integers) {
        gpu_refuse(view, DELEGATE_NO_KERNEL, -1, "exact integers: there is no kernel for it");
        return;
    }
    if (!op) {
        gpu_refuse(view, DELEGATE_NO_KERNEL, -1, "Operation is not supported.");
        return;
    }
    if (registration->version > op->max_version) {
        gpu_refuse(view, DELEGATE_VERSION, -1, "Max version supported: %d. Requested version %d.", op->max_version,
                   registration->version);
        return;
    }
    bool builtin = registration->builtin_code != kTfLiteBuiltinCustom;
    bool params = builtin ? view->node->builtin_data != NULL : view->node->custom_initial_data != NULL;
    if (op->params_size > 0 &&
        (!params || (!builtin && view->node->custom_initial_data_size < (int)op->min_params_size))) {
        gpu_refuse(view, DELEGATE_PARAMETER, -1, "its options are missing");
        return;
    }
    bool counted = op->operands.inputs[0] == 0 || gpu_check_operands(view, &op->operands);
    TfLiteFusedActivation activation = gpu_fused_activation(op, view->node->builtin_data);
    if (counted && (!op->supported || op->supported(view)) && gpu_check_activation(view, activation) &&
        check_scales(view, op)) {
        view->reason->code = DELEGATE_OK;
        view->reason->text[0] = 0;
        view->reason->tensor = -1;
    } else if (view->reason->code == DELEGATE_OK) {
        gpu_refuse(view, DELEGATE_PARAMETER, -1, "OP is supported, but tensor type/shape isn't compatible.");
    }
}

// Whether the CPU, like the original, reads uint8 weights as int8 because the activations are floats.
static bool reads_as_signed(const TfLiteContext *context, const TfLiteNode *node, const struct gpu_op *op)
{
    if (!op || !op->hybrid || node->outputs->size < 1) return false;
    int output = node->outputs->data[node->outputs->size - 1];
    if (output < 0 || context->tensors[output].type != kTfLiteFloat32) return false;
    for (int i = 0; i < node->inputs->size; i++)
        if (node->inputs->data[i] >= 0 && context->tensors[node->inputs->data[i]].type == kTfLiteUInt8) return true;
    return false;
}

bool gpu_supported(const struct delegate_view *view)
{
    const struct gpu_delegate *delegate = (const struct gpu_delegate *)view->delegate;
    TfLiteIntArray *inputs = delegate_int_array(view->node->inputs->size);
    if (!inputs) return delegate_refuse(view, DELEGATE_DEVICE, -1, "out of memory");
    TfLiteNode shown = shown_node(view->node, view->delegate->source, inputs);
    const struct gpu_options *options = &delegate->engine->options;
    bool integers = options->exact_integers && gpu_has_codes(view->context, view->node);
    struct gpu_node_view gpu_view = {
        .context = view->context,
        .node = &shown,
        .registration = view->registration,
        .quantized_allowed = options->quantized,
        .exact_integers = integers,
        .op = integers ? gpu_integer_op_find(view->registration->builtin_code, view->registration->custom_name)
                       : gpu_op_of(delegate->engine->custom_ops, view->registration),
        .reason = view->reason,
    };
    if (reads_as_signed(view->context, view->node, gpu_view.op))
        gpu_refuse(&gpu_view, DELEGATE_TYPE, -1, "uint8 weights of floats, which the CPU reads as int8");
    else
        check_node(&gpu_view);
    free(inputs);
    return view->reason->code == DELEGATE_OK;
}
