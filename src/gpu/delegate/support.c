// SPDX-License-Identifier: Apache-2.0
// See support.h. Weights that are stored in half precision, in 8 bits or sparsely reach their operators through a
// DEQUANTIZE or DENSIFY of a constant. The checks of an operator then see the constant itself, and the node before it
// does not run on the GPU.
#include "gpu/delegate/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "gpu/graph/convert.h"
#include "gpu/ops/op.h"
#include "tensorflow/lite/builtin_ops.h"

// ---- names --------------------------------------------------------------------------------------

static void name_node(const TfLiteRegistration *registration, struct gpu_report_row *row)
{
    const char *name = registration->builtin_code == kTfLiteBuiltinCustom ? registration->custom_name
                                                                          : hl_builtin_name(registration->builtin_code);
    if (name)
        snprintf(row->op, sizeof row->op, "%s", name);
    else
        snprintf(row->op, sizeof row->op, "operator %d", (int)registration->builtin_code);
}

static void describe_tensor(const TfLiteContext *context, struct gpu_report_row *row)
{
    if (row->reason.tensor < 0 || (size_t)row->reason.tensor >= context->tensors_size) {
        row->reason.tensor = -1;
        return;
    }
    const TfLiteTensor *tensor = &context->tensors[row->reason.tensor];
    snprintf(row->tensor_name, sizeof row->tensor_name, "%s", tensor->name ? tensor->name : "");
    row->tensor_type = tensor->type;
    int rank = tensor->dims ? tensor->dims->size : 0;
    row->rank = rank < GPU_REPORT_RANK ? rank : GPU_REPORT_RANK;
    for (int i = 0; i < row->rank; i++) row->dims[i] = tensor->dims->data[i];
}

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
        all = tensor >= 0 && context->tensors[tensor].allocation_type == kTfLitePersistentRo &&
              context->tensors[tensor].data.raw;
    }
    return all;
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
    if (!bytes || (op->bytes != GPU_BYTES_MOVED && op->bytes != GPU_BYTES_SAME)) return true;
    const TfLiteAffineQuantization *to = gpu_affine_of(out);
    for (int i = 0; i < view->node->inputs->size; i++) {
        const TfLiteTensor *in = gpu_view_input(view, i);
        const TfLiteAffineQuantization *from = in && in->type == out->type ? gpu_affine_of(in) : NULL;
        if (!from || !to) continue;
        if (from->scale->data[0] != to->scale->data[0] || from->zero_point->data[0] != to->zero_point->data[0])
            return gpu_refuse(view, GPU_REASON_QUANTIZATION, i,
                              "input %d and the output have different scales or zero points", i);
    }
    return true;
}

static void check_node(const struct gpu_node_view *view)
{
    const TfLiteRegistration *registration = view->registration;
    const struct gpu_op *op = gpu_op_find(registration->builtin_code, registration->custom_name);
    if (!op) {
        gpu_refuse(view, GPU_REASON_NO_KERNEL, -1, "Operation is not supported.");
        return;
    }
    if (registration->version > op->max_version) {
        gpu_refuse(view, GPU_REASON_VERSION, -1, "Max version supported: %d. Requested version %d.", op->max_version,
                   registration->version);
        return;
    }
    bool builtin = registration->builtin_code != kTfLiteBuiltinCustom;
    bool params = builtin ? view->node->builtin_data != NULL : view->node->custom_initial_data != NULL;
    if (op->params_size > 0 &&
        (!params || (!builtin && view->node->custom_initial_data_size < (int)op->min_params_size))) {
        gpu_refuse(view, GPU_REASON_PARAMETER, -1, "its options are missing");
        return;
    }
    bool counted = op->operands.inputs[0] == 0 || gpu_check_operands(view, &op->operands);
    TfLiteFusedActivation activation = gpu_fused_activation(op, view->node->builtin_data);
    if (counted && (!op->supported || op->supported(view)) && gpu_check_activation(view, activation) &&
        check_scales(view, op)) {
        view->reason->code = GPU_REASON_OK;
        view->reason->text[0] = 0;
        view->reason->tensor = -1;
    } else if (view->reason->code == GPU_REASON_OK) {
        gpu_refuse(view, GPU_REASON_PARAMETER, -1, "OP is supported, but tensor type/shape isn't compatible.");
    }
}

// Whether the CPU, like the original, reads uint8 weights as int8 because the activations are floats.
static bool reads_as_signed(const TfLiteContext *context, const TfLiteNode *node,
                            const TfLiteRegistration *registration)
{
    const struct gpu_op *op = gpu_op_find(registration->builtin_code, registration->custom_name);
    if (!op || !op->hybrid || node->outputs->size < 1) return false;
    int output = node->outputs->data[node->outputs->size - 1];
    if (output < 0 || context->tensors[output].type != kTfLiteFloat32) return false;
    for (int i = 0; i < node->inputs->size; i++)
        if (node->inputs->data[i] >= 0 && context->tensors[node->inputs->data[i]].type == kTfLiteUInt8) return true;
    return false;
}

// ---- all nodes ----------------------------------------------------------------------------------

TfLiteIntArray *gpu_int_array(int size)
{
    TfLiteIntArray *array = malloc(sizeof *array + (size_t)size * sizeof(int));
    if (array) array->size = size;
    return array;
}

static bool get_node(TfLiteContext *context, int index, TfLiteNode **node, TfLiteRegistration **registration)
{
    return context->GetNodeAndRegistration(context, index, node, registration) == kTfLiteOk;
}

bool gpu_support_find(TfLiteContext *context, const TfLiteIntArray *plan, bool quantized, struct gpu_report_row *rows,
                      int *source)
{
    TfLiteNode *node;
    TfLiteRegistration *registration;
    int max_inputs = 0;
    for (size_t i = 0; i < context->tensors_size; i++) source[i] = -1;
    for (int i = 0; i < plan->size; i++) {
        if (!get_node(context, plan->data[i], &node, &registration)) return false;
        if (node->inputs->size > max_inputs) max_inputs = node->inputs->size;
        if (is_folded(context, node)) rows[i].taken_away = true;
        int constant = copied_constant(context, node, registration, source);
        if (constant < 0) continue;
        source[node->outputs->data[0]] = constant;
        rows[i].taken_away = true;
    }
    TfLiteIntArray *inputs = gpu_int_array(max_inputs);
    if (!inputs) {
        context->ReportError(context, "TfLiteGpuDelegate Init: out of memory");
        return false;
    }
    for (int i = 0; i < plan->size; i++) {
        struct gpu_report_row *row = &rows[i];
        if (!get_node(context, plan->data[i], &node, &registration)) break;
        row->node = plan->data[i];
        row->version = registration->version;
        row->partition = row->reason.tensor = -1;
        name_node(registration, row);
        if (row->taken_away) continue;
        TfLiteNode shown = shown_node(node, source, inputs);
        struct gpu_node_view view = {context, &shown, registration, quantized, &row->reason};
        if (reads_as_signed(context, node, registration))
            gpu_refuse(&view, GPU_REASON_TYPE, -1, "uint8 weights of floats, which the CPU reads as int8");
        else
            check_node(&view);
        describe_tensor(context, row);
    }
    free(inputs);
    return true;
}

// ---- the message --------------------------------------------------------------------------------

static bool is_unsupported(const struct gpu_report_row *row)
{
    enum gpu_reason_code code = row->reason.code;
    return code != GPU_REASON_OK && code != GPU_REASON_PARTITION && code != GPU_REASON_COST &&
           code != GPU_REASON_FOLDED && code != GPU_REASON_DEVICE && code != GPU_REASON_REFUSED;
}

static bool is_repeated(const struct gpu_report_row *rows, int row)
{
    for (int i = 0; i < row; i++)
        if (is_unsupported(&rows[i]) && strcmp(rows[i].op, rows[row].op) == 0 &&
            strcmp(rows[i].reason.text, rows[row].reason.text) == 0)
            return true;
    return false;
}

char *gpu_support_text(const struct gpu_report_row *rows, int count)
{
    struct hl_text text = {0};
    int unsupported = 0, on_gpu = 0;
    hl_text_append(&text, "Following operations are not supported by GPU delegate:\n");
    for (int i = 0; i < count; i++) {
        on_gpu += rows[i].reason.code == GPU_REASON_OK;
        if (!is_unsupported(&rows[i])) continue;
        unsupported++;
        if (!is_repeated(rows, i)) hl_text_append(&text, "%s: %s\n", rows[i].op, rows[i].reason.text);
    }
    if (on_gpu > 0)
        hl_text_append(&text, "%d operations will run on the GPU, and the remaining %d operations will run on the CPU.",
                       on_gpu, count - on_gpu);
    else
        hl_text_append(&text, "No operations will run on the GPU, and all %d operations will run on the CPU.", count);
    if (unsupported > 0) return hl_text_take(&text);
    hl_text_free(&text);
    return NULL;
}
