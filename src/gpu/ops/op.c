// SPDX-License-Identifier: Apache-2.0
// What the GPU operators share: the table of the rows in ops.def, and the checks that nearly every `supported` begins
// with. In: a node of the runtime. Out: yes, or no with a reason as code and text.
#include "gpu/ops/op.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gpu/graph/convert.h"
#include "tensorflow/lite/builtin_ops.h"

// ---- the table ----------------------------------------------------------------------------------

#define GPU_OP(name, suffix, symbol) extern const struct gpu_op gpu_op_##symbol;
#define GPU_CUSTOM(name, symbol) extern const struct gpu_op gpu_op_##symbol;
#include "gpu/ops/ops.def"
#undef GPU_OP
#undef GPU_CUSTOM

static const struct row {
    int builtin;
    const char *custom;
    const struct gpu_op *op;
} rows[] = {
#define GPU_OP(name, suffix, symbol) {kTfLiteBuiltin##suffix, NULL, &gpu_op_##symbol},
#define GPU_CUSTOM(name, symbol) {kTfLiteBuiltinCustom, name, &gpu_op_##symbol},
#include "gpu/ops/ops.def"
#undef GPU_OP
#undef GPU_CUSTOM
};

const struct gpu_op *gpu_op_find(int builtin, const char *custom_name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].builtin != builtin) continue;
        if (!rows[i].custom || (custom_name && strcmp(custom_name, rows[i].custom) == 0)) return rows[i].op;
    }
    return NULL;
}

const struct gpu_op *gpu_op_of(const struct gpu_op *own, const TfLiteRegistration *registration)
{
    const char *name = registration->builtin_code == kTfLiteBuiltinCustom ? registration->custom_name : NULL;
    for (; name && own; own = own->next)
        if (strcmp(own->name, name) == 0) return own;
    return gpu_op_find(registration->builtin_code, registration->custom_name);
}

const char *gpu_node_name(const struct gpu_node *node)
{
    const struct gpu_op *op = node->op == &gpu_op_formula ? gpu_op_find(node->builtin, "") : NULL;
    return op ? op->name : node->op->name;
}

// ---- reasons ------------------------------------------------------------------------------------

bool gpu_refuse(const struct gpu_node_view *view, enum delegate_reason_code code, int input, const char *format, ...)
{
    const TfLiteIntArray *inputs = view->node->inputs;
    va_list args;
    va_start(args, format);
    delegate_set_reason(view->reason, code, input >= 0 && input < inputs->size ? inputs->data[input] : -1, format,
                        args);
    va_end(args);
    return false;
}

// Like gpu_refuse, for a tensor that may be an input or an output.
static bool refuse_tensor(const struct gpu_node_view *view, enum delegate_reason_code code, int tensor,
                          const char *format, ...) HL_PRINTF(4, 5);
static bool refuse_tensor(const struct gpu_node_view *view, enum delegate_reason_code code, int tensor,
                          const char *format, ...)
{
    va_list args;
    va_start(args, format);
    delegate_set_reason(view->reason, code, tensor, format, args);
    va_end(args);
    return false;
}

void gpu_custom_options(const struct gpu_node_view *view, void *options, size_t size)
{
    int given = view->node->custom_initial_data_size;
    memset(options, 0, size);
    if (given > 0) memcpy(options, view->node->custom_initial_data, (size_t)given < size ? (size_t)given : size);
}

// ---- one tensor ---------------------------------------------------------------------------------

struct operand {
    const char *kind; // "input"
    int number;       // of the kind
    int tensor;       // index in the graph
    bool integers;    // int32 and bool are allowed
    bool any_rank;
};

static bool is_integer(TfLiteType type)
{
    return type == kTfLiteInt32 || type == kTfLiteInt64 || type == kTfLiteBool;
}

// Refuses integers with a scale, which the device would read as real numbers.
static bool check_plain(const struct gpu_node_view *view, const struct operand *operand, const TfLiteTensor *tensor)
{
    const TfLiteAffineQuantization *affine = tensor->type == kTfLiteInt32 ? gpu_affine_of(tensor) : NULL;
    if (!affine || (affine->scale->size == 1 && affine->scale->data[0] == 1 && affine->zero_point->data[0] == 0))
        return true;
    return refuse_tensor(view, DELEGATE_QUANTIZATION, operand->tensor, "%s %d has integers with a scale of %g",
                         operand->kind, operand->number, (double)affine->scale->data[0]);
}

static bool check_constant_type(const struct gpu_node_view *view, const struct operand *operand,
                                const TfLiteTensor *tensor)
{
    if (operand->integers && is_integer(tensor->type) && !tensor->sparsity) return check_plain(view, operand, tensor);
    switch (tensor->type) {
    case kTfLiteFloat32:
    case kTfLiteFloat16: return true;
    case kTfLiteInt2:
    case kTfLiteInt4:
    case kTfLiteInt8:
    case kTfLiteUInt8:
    case kTfLiteInt32:
        if (gpu_affine_of(tensor)) return true;
        return refuse_tensor(view, DELEGATE_QUANTIZATION, operand->tensor,
                             "%s %d is a constant of type %s without scale and zero point", operand->kind,
                             operand->number, hl_type_public_name(tensor->type));
    default:
        return refuse_tensor(view, DELEGATE_TYPE, operand->tensor,
                             "%s %d is a constant of type %s, which the GPU does not take here", operand->kind,
                             operand->number, hl_type_public_name(tensor->type));
    }
}

static bool check_runtime_type(const struct gpu_node_view *view, const struct operand *operand,
                               const TfLiteTensor *tensor)
{
    if (tensor->type == kTfLiteFloat32 || tensor->type == kTfLiteFloat16) return true;
    if (operand->integers && is_integer(tensor->type)) return check_plain(view, operand, tensor);
    if (tensor->type != kTfLiteInt8 && tensor->type != kTfLiteUInt8)
        return refuse_tensor(view, DELEGATE_TYPE, operand->tensor,
                             "%s %d has type %s, which the GPU does not take here", operand->kind, operand->number,
                             hl_type_public_name(tensor->type));
    if (!view->quantized_allowed)
        return refuse_tensor(view, DELEGATE_TYPE, operand->tensor,
                             "%s %d has type %s, and quantized models are switched off in the options", operand->kind,
                             operand->number, hl_type_public_name(tensor->type));
    const TfLiteAffineQuantization *affine = gpu_affine_of(tensor);
    if (!affine)
        return refuse_tensor(view, DELEGATE_QUANTIZATION, operand->tensor,
                             "%s %d has type %s without scale and zero point", operand->kind, operand->number,
                             hl_type_public_name(tensor->type));
    if (affine->scale->size != 1)
        return refuse_tensor(view, DELEGATE_QUANTIZATION, operand->tensor,
                             "%s %d: Non-constant per-channel quantized tensor", operand->kind, operand->number);
    return true;
}

static bool check_extent(const struct gpu_node_view *view, int tensor, struct gpu_shape shape)
{
    int64_t positions = (int64_t)shape.b * shape.h * shape.w, layers = (int64_t)shape.b * gpu_slices(shape);
    if (positions > GPU_MAX_ROWS)
        return refuse_tensor(view, DELEGATE_SHAPE, tensor, "%lld positions, the GPU takes up to %d",
                             (long long)positions, GPU_MAX_ROWS);
    if (layers > GPU_MAX_LAYERS)
        return refuse_tensor(view, DELEGATE_SHAPE, tensor,
                             "%lld slices of four channels in all batches, the GPU takes up to %d", (long long)layers,
                             GPU_MAX_LAYERS);
    if (gpu_elements(shape) > GPU_MAX_ELEMENTS)
        return refuse_tensor(view, DELEGATE_SHAPE, tensor, "%lld elements, the GPU takes up to %d",
                             (long long)gpu_elements(shape), GPU_MAX_ELEMENTS);
    return true;
}

bool gpu_check_extent(const struct gpu_node_view *view, int input, struct gpu_shape shape)
{
    return check_extent(view, input >= 0 ? view->node->inputs->data[input] : -1, shape);
}

static bool check_dims(const struct gpu_node_view *view, const struct operand *operand, const TfLiteTensor *tensor,
                       bool constant)
{
    if (!tensor->dims)
        return refuse_tensor(view, DELEGATE_DYNAMIC, operand->tensor, "%s %d has no shape yet", operand->kind,
                             operand->number);
    int most = operand->any_rank ? GPU_MAX_RANK : 4;
    if (tensor->dims->size > most)
        return refuse_tensor(view, DELEGATE_RANK, operand->tensor, "%s %d has rank %d, the GPU takes up to %d here",
                             operand->kind, operand->number, tensor->dims->size, most);
    int64_t elements = 1;
    for (int i = 0; i < tensor->dims->size; i++) {
        int size = tensor->dims->data[i];
        if (size < (constant && operand->integers ? 0 : 1) || size > GPU_MAX_LENGTH)
            return refuse_tensor(view, DELEGATE_SHAPE, operand->tensor, "%s %d has dimension %d of size %d",
                                 operand->kind, operand->number, i, size);
        elements *= size;
        if (elements > GPU_MAX_ELEMENTS)
            return refuse_tensor(view, DELEGATE_SHAPE, operand->tensor, "%s %d has more than %d elements",
                                 operand->kind, operand->number, GPU_MAX_ELEMENTS);
    }
    struct gpu_shape shape;
    return constant || !gpu_shape_of(tensor->dims, &shape) || check_extent(view, operand->tensor, shape);
}

static bool check_tensor(const struct gpu_node_view *view, const struct operand *operand)
{
    const TfLiteTensor *tensor = &view->context->tensors[operand->tensor];
    bool constant = hl_is_constant(tensor);
    if (tensor->allocation_type == kTfLiteDynamic)
        return refuse_tensor(view, DELEGATE_DYNAMIC, operand->tensor,
                             "%s %d has a shape that is known only while running", operand->kind, operand->number);
    if (!check_dims(view, operand, tensor, constant)) return false;
    if (!constant) return check_runtime_type(view, operand, tensor);
    if (!check_constant_type(view, operand, tensor)) return false;
    return gpu_can_read(tensor) || refuse_tensor(view, DELEGATE_CONSTANT, operand->tensor,
                                                 "%s %d is a constant without as many elements as its shape has",
                                                 operand->kind, operand->number);
}

// ---- whole nodes --------------------------------------------------------------------------------

static bool check_counts(const struct gpu_node_view *view, int min_inputs, int max_inputs, int outputs)
{
    const TfLiteIntArray *in = view->node->inputs, *out = view->node->outputs;
    int most = max_inputs < GPU_NODE_INPUTS ? max_inputs : GPU_NODE_INPUTS;
    if (in->size < min_inputs || in->size > most)
        return gpu_refuse(view, DELEGATE_INPUT_COUNT, -1, "%d inputs, expected %d to %d", in->size, min_inputs, most);
    if (outputs >= 0 ? out->size != outputs : out->size > GPU_NODE_OUTPUTS)
        return gpu_refuse(view, DELEGATE_INPUT_COUNT, -1, "%d outputs, expected %d", out->size,
                          outputs >= 0 ? outputs : GPU_NODE_OUTPUTS);
    for (int i = 0; i < min_inputs; i++)
        if (in->data[i] < 0) return gpu_refuse(view, DELEGATE_INPUT_COUNT, -1, "input %d is left out", i);
    return true;
}

bool gpu_check_operands(const struct gpu_node_view *view, const struct gpu_operands *operands)
{
    int most = operands->inputs[1] ? operands->inputs[1] : operands->inputs[0];
    if (!check_counts(view, operands->inputs[0], most, operands->outputs ? operands->outputs : 1)) return false;
    const TfLiteIntArray *in = view->node->inputs, *out = view->node->outputs;
    for (int i = 0; i < in->size; i++) {
        struct operand operand = {"input", i, in->data[i], i < 32 && (operands->integer_inputs >> i & 1),
                                  operands->any_rank};
        if (operand.tensor >= 0 && !check_tensor(view, &operand)) return false;
    }
    for (int i = 0; i < out->size; i++) {
        struct operand operand = {"output", i, out->data[i], operands->integer_outputs, operands->any_rank};
        if (operand.tensor < 0) return gpu_refuse(view, DELEGATE_INPUT_COUNT, -1, "output %d is left out", i);
        if (!check_tensor(view, &operand)) return false;
        if (hl_is_constant(&view->context->tensors[operand.tensor]))
            return refuse_tensor(view, DELEGATE_CONSTANT, operand.tensor, "output %d is a constant", i);
    }
    return true;
}

bool gpu_check_same_dims(const struct gpu_node_view *view)
{
    const TfLiteIntArray *in = gpu_view_input(view, 0)->dims, *out = gpu_view_output(view, 0)->dims;
    bool same = in->size == out->size && memcmp(in->data, out->data, (size_t)in->size * sizeof *in->data) == 0;
    return same || gpu_refuse(view, DELEGATE_SHAPE, 0, "input and output have different shapes");
}

bool gpu_check_no_codes(const struct gpu_node_view *view, int input)
{
    TfLiteType type = input < 0 ? gpu_view_output(view, 0)->type : gpu_view_input(view, input)->type;
    return (type != kTfLiteInt8 && type != kTfLiteUInt8) ||
           gpu_refuse(view, DELEGATE_TYPE, input, "it takes 8-bit tensors by their codes, which the GPU does not have");
}

bool gpu_check_activation(const struct gpu_node_view *view, TfLiteFusedActivation activation)
{
    switch (activation) {
    case kTfLiteActNone:
    case kTfLiteActRelu:
    case kTfLiteActReluN1To1:
    case kTfLiteActRelu6:
    case kTfLiteActTanh:
    case kTfLiteActSigmoid: return true;
    default: return gpu_refuse(view, DELEGATE_PARAMETER, -1, "fused activation %d is not supported", (int)activation);
    }
}

bool gpu_check_constant(const struct gpu_node_view *view, int input)
{
    const TfLiteTensor *tensor = gpu_view_input(view, input);
    if (!tensor) return gpu_refuse(view, DELEGATE_INPUT_COUNT, -1, "input %d is left out", input);
    if (hl_is_constant(tensor) && tensor->data.raw_const) return true;
    return gpu_refuse(view, DELEGATE_NOT_CONSTANT, input, "input %d must be a constant", input);
}

bool gpu_check_integers(const struct gpu_node_view *view, int input, int64_t count)
{
    if (!gpu_check_constant(view, input)) return false;
    const TfLiteTensor *tensor = gpu_view_input(view, input);
    if (tensor->type != kTfLiteInt32 && tensor->type != kTfLiteInt64)
        return gpu_refuse(view, DELEGATE_TYPE, input, "input %d must be int32 or int64", input);
    int64_t elements = hl_elements(tensor);
    return count < 0 || elements == count ||
           gpu_refuse(view, DELEGATE_SHAPE, input, "input %d has %lld elements, expected %lld", input,
                      (long long)elements, (long long)count);
}

bool gpu_check_axis(const struct gpu_node_view *view, int input, int rank)
{
    if (!gpu_check_integers(view, input, 1)) return false;
    int axis = gpu_integer_at(gpu_view_input(view, input), 0);
    return (axis >= -rank && axis < rank) ||
           gpu_refuse(view, DELEGATE_PARAMETER, input, "axis %d of a tensor of rank %d", axis, rank);
}

int gpu_integer_at(const TfLiteTensor *tensor, int64_t index)
{
    if (tensor->type == kTfLiteInt32) return tensor->data.i32[index];
    int64_t value = tensor->data.i64[index];
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int)value;
}

int64_t gpu_macs_of_weights(const struct gpu_node_view *view)
{
    const TfLiteTensor *weights = gpu_view_input(view, view->op->weighted.weights), *y = gpu_view_output(view, 0);
    int channels = weights && y && y->dims && y->dims->size > 0 ? y->dims->data[y->dims->size - 1] : 0;
    return channels > 0 ? hl_elements(weights) / channels : 0;
}

// ---- facts --------------------------------------------------------------------------------------

TfLiteFusedActivation gpu_fused_activation(const struct gpu_op *op, const void *params)
{
    TfLiteFusedActivation activation = kTfLiteActNone;
    if (op->has_activation && params) memcpy(&activation, (const char *)params + op->activation, sizeof activation);
    return activation;
}

bool gpu_always(const struct gpu_node *node)
{
    (void)node;
    return true;
}
