// SPDX-License-Identifier: Apache-2.0
// What operators of the GPU share: the table of rows in ops.def, and the checks that nearly every `supported` begins
// with. In: a node of the runtime. Out: yes, or no with a reason as code and text.
#include "gpu/ops/op.h"

#include <math.h>
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

// ---- reasons ------------------------------------------------------------------------------------

bool gpu_refuse(const struct gpu_node_view *view, enum gpu_reason_code code, int input, const char *format, ...)
{
    struct gpu_reason *reason = view->reason;
    const TfLiteIntArray *inputs = view->node->inputs;
    reason->code = code;
    reason->tensor = input >= 0 && input < inputs->size ? inputs->data[input] : -1;
    va_list args;
    va_start(args, format);
    vsnprintf(reason->text, sizeof reason->text, format, args);
    va_end(args);
    return false;
}

// As gpu_refuse, for a tensor that may be an input or an output.
static bool refuse_tensor(const struct gpu_node_view *view, enum gpu_reason_code code, int tensor, const char *format,
                          ...) HL_PRINTF(4, 5);
static bool refuse_tensor(const struct gpu_node_view *view, enum gpu_reason_code code, int tensor, const char *format,
                          ...)
{
    view->reason->code = code;
    view->reason->tensor = tensor;
    va_list args;
    va_start(args, format);
    vsnprintf(view->reason->text, sizeof view->reason->text, format, args);
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

struct place {
    const char *kind; // "input"
    int number;       // of the kind
    int tensor;       // index in the graph
    bool integers;    // int32 and bool are fine
    bool any_rank;
};

static bool is_integer(TfLiteType type)
{
    return type == kTfLiteInt32 || type == kTfLiteInt64 || type == kTfLiteBool;
}

// Integers that are meant as they are stored: with a scale, they would be read as real numbers.
static bool check_plain(const struct gpu_node_view *view, const struct place *place, const TfLiteTensor *tensor)
{
    const TfLiteAffineQuantization *affine = tensor->type == kTfLiteInt32 ? gpu_affine_of(tensor) : NULL;
    if (!affine || (affine->scale->size == 1 && affine->scale->data[0] == 1 && affine->zero_point->data[0] == 0))
        return true;
    return refuse_tensor(view, GPU_REASON_QUANTIZATION, place->tensor, "%s %d has integers with a scale of %g",
                         place->kind, place->number, (double)affine->scale->data[0]);
}

static bool check_constant_type(const struct gpu_node_view *view, const struct place *place, const TfLiteTensor *tensor)
{
    if (place->integers && is_integer(tensor->type) && !tensor->sparsity) return check_plain(view, place, tensor);
    switch (tensor->type) {
    case kTfLiteFloat32:
    case kTfLiteFloat16: return true;
    case kTfLiteInt2:
    case kTfLiteInt4:
    case kTfLiteInt8:
    case kTfLiteUInt8:
    case kTfLiteInt32:
        if (gpu_affine_of(tensor)) return true;
        return refuse_tensor(view, GPU_REASON_QUANTIZATION, place->tensor,
                             "%s %d is a constant of type %s without scale and zero point", place->kind, place->number,
                             gpu_type_name(tensor->type));
    default:
        return refuse_tensor(view, GPU_REASON_TYPE, place->tensor,
                             "%s %d is a constant of type %s, which the GPU does not take here", place->kind,
                             place->number, gpu_type_name(tensor->type));
    }
}

static bool check_runtime_type(const struct gpu_node_view *view, const struct place *place, const TfLiteTensor *tensor)
{
    if (tensor->type == kTfLiteFloat32 || tensor->type == kTfLiteFloat16) return true;
    if (place->integers && is_integer(tensor->type)) return check_plain(view, place, tensor);
    if (tensor->type != kTfLiteInt8 && tensor->type != kTfLiteUInt8)
        return refuse_tensor(view, GPU_REASON_TYPE, place->tensor,
                             "%s %d has type %s, which the GPU does not take here", place->kind, place->number,
                             gpu_type_name(tensor->type));
    if (!view->quantized_allowed)
        return refuse_tensor(view, GPU_REASON_TYPE, place->tensor,
                             "%s %d has type %s, and quantized models are switched off in the options", place->kind,
                             place->number, gpu_type_name(tensor->type));
    const TfLiteAffineQuantization *affine = gpu_affine_of(tensor);
    if (!affine)
        return refuse_tensor(view, GPU_REASON_QUANTIZATION, place->tensor,
                             "%s %d has type %s without scale and zero point", place->kind, place->number,
                             gpu_type_name(tensor->type));
    if (affine->scale->size != 1)
        return refuse_tensor(view, GPU_REASON_QUANTIZATION, place->tensor,
                             "%s %d: Non-constant per-channel quantized tensor", place->kind, place->number);
    return true;
}

// What every device can count: 65535 work-groups of 128 over places, of 64 over slices and batches. A dimension is also
// exact as a float, and elements, channels rounded up to four, fit in 32 bits.
enum { MAX_PLACES = GPU_MAX_ROWS, MAX_LAYERS = 65535 * 64, MAX_LENGTH = 1 << 24, MAX_ELEMENTS = INT32_MAX / 16 };

static bool check_extent(const struct gpu_node_view *view, int tensor, struct gpu_shape shape)
{
    int64_t places = (int64_t)shape.b * shape.h * shape.w, layers = (int64_t)shape.b * gpu_slices(shape);
    if (places > MAX_PLACES)
        return refuse_tensor(view, GPU_REASON_SHAPE, tensor, "%lld places, the GPU takes up to %d", (long long)places,
                             MAX_PLACES);
    if (layers > MAX_LAYERS)
        return refuse_tensor(view, GPU_REASON_SHAPE, tensor,
                             "%lld slices of four channels in all batches, the GPU takes up to %d", (long long)layers,
                             MAX_LAYERS);
    if (gpu_elements(shape) > MAX_ELEMENTS)
        return refuse_tensor(view, GPU_REASON_SHAPE, tensor, "%lld elements, the GPU takes up to %d",
                             (long long)gpu_elements(shape), MAX_ELEMENTS);
    return true;
}

bool gpu_extent_fits(struct gpu_shape shape)
{
    int64_t places = (int64_t)shape.b * shape.h * shape.w, layers = (int64_t)shape.b * gpu_slices(shape);
    return places <= MAX_PLACES && layers <= MAX_LAYERS && places * gpu_slices(shape) <= MAX_ELEMENTS / 4;
}

bool gpu_check_extent(const struct gpu_node_view *view, int input, struct gpu_shape shape)
{
    return check_extent(view, input >= 0 ? view->node->inputs->data[input] : -1, shape);
}

static bool check_dims(const struct gpu_node_view *view, const struct place *place, const TfLiteTensor *tensor,
                       bool constant)
{
    if (!tensor->dims)
        return refuse_tensor(view, GPU_REASON_DYNAMIC, place->tensor, "%s %d has no shape yet", place->kind,
                             place->number);
    int most = place->any_rank ? GPU_MAX_RANK : 4;
    if (tensor->dims->size > most)
        return refuse_tensor(view, GPU_REASON_RANK, place->tensor, "%s %d has rank %d, the GPU takes up to %d here",
                             place->kind, place->number, tensor->dims->size, most);
    int64_t elements = 1;
    for (int i = 0; i < tensor->dims->size; i++) {
        int size = tensor->dims->data[i];
        if (size < (constant && place->integers ? 0 : 1) || size > MAX_LENGTH)
            return refuse_tensor(view, GPU_REASON_SHAPE, place->tensor, "%s %d has dimension %d of size %d",
                                 place->kind, place->number, i, size);
        elements *= size;
        if (elements > MAX_ELEMENTS)
            return refuse_tensor(view, GPU_REASON_SHAPE, place->tensor, "%s %d has more than %d elements", place->kind,
                                 place->number, MAX_ELEMENTS);
    }
    struct gpu_shape shape;
    return constant || !gpu_shape_of(tensor->dims, &shape) || check_extent(view, place->tensor, shape);
}

static bool check_tensor(const struct gpu_node_view *view, const struct place *place)
{
    const TfLiteTensor *tensor = &view->context->tensors[place->tensor];
    bool constant = gpu_is_constant(tensor);
    if (tensor->allocation_type == kTfLiteDynamic)
        return refuse_tensor(view, GPU_REASON_DYNAMIC, place->tensor,
                             "%s %d has a shape that is known only while running", place->kind, place->number);
    if (!check_dims(view, place, tensor, constant)) return false;
    if (!constant) return check_runtime_type(view, place, tensor);
    if (!check_constant_type(view, place, tensor)) return false;
    return gpu_can_read(tensor) ||
           refuse_tensor(view, GPU_REASON_CONSTANT, place->tensor,
                         "%s %d is a constant without as many elements as its shape has", place->kind, place->number);
}

// ---- whole nodes --------------------------------------------------------------------------------

static bool check_counts(const struct gpu_node_view *view, int min_inputs, int max_inputs, int outputs)
{
    const TfLiteIntArray *in = view->node->inputs, *out = view->node->outputs;
    int most = max_inputs < GPU_NODE_INPUTS ? max_inputs : GPU_NODE_INPUTS;
    if (in->size < min_inputs || in->size > most)
        return gpu_refuse(view, GPU_REASON_INPUT_COUNT, -1, "%d inputs, expected %d to %d", in->size, min_inputs, most);
    if (outputs >= 0 ? out->size != outputs : out->size > GPU_NODE_OUTPUTS)
        return gpu_refuse(view, GPU_REASON_INPUT_COUNT, -1, "%d outputs, expected %d", out->size,
                          outputs >= 0 ? outputs : GPU_NODE_OUTPUTS);
    for (int i = 0; i < min_inputs; i++)
        if (in->data[i] < 0) return gpu_refuse(view, GPU_REASON_INPUT_COUNT, -1, "input %d is left out", i);
    return true;
}

bool gpu_check_common(const struct gpu_node_view *view, int min_inputs, int max_inputs, int outputs,
                      unsigned integer_inputs)
{
    if (!check_counts(view, min_inputs, max_inputs, outputs)) return false;
    bool any_rank = (integer_inputs & GPU_ANY_RANK) != 0;
    const TfLiteIntArray *in = view->node->inputs, *out = view->node->outputs;
    for (int i = 0; i < in->size; i++) {
        struct place place = {"input", i, in->data[i], i < 30 && (integer_inputs >> i & 1), any_rank};
        if (place.tensor >= 0 && !check_tensor(view, &place)) return false;
    }
    for (int i = 0; i < out->size; i++) {
        struct place place = {"output", i, out->data[i], (integer_inputs & GPU_INTEGER_OUTPUTS) != 0, any_rank};
        if (place.tensor < 0) return gpu_refuse(view, GPU_REASON_INPUT_COUNT, -1, "output %d is left out", i);
        if (!check_tensor(view, &place)) return false;
        if (gpu_is_constant(&view->context->tensors[place.tensor]))
            return refuse_tensor(view, GPU_REASON_CONSTANT, place.tensor, "output %d is a constant", i);
    }
    return true;
}

bool gpu_check_same_dims(const struct gpu_node_view *view)
{
    const TfLiteIntArray *in = gpu_view_input(view, 0)->dims, *out = gpu_view_output(view, 0)->dims;
    bool same = in->size == out->size && memcmp(in->data, out->data, (size_t)in->size * sizeof *in->data) == 0;
    return same || gpu_refuse(view, GPU_REASON_SHAPE, 0, "input and output have different shapes");
}

bool gpu_check_no_codes(const struct gpu_node_view *view, int input)
{
    TfLiteType type = input < 0 ? gpu_view_output(view, 0)->type : gpu_view_input(view, input)->type;
    return (type != kTfLiteInt8 && type != kTfLiteUInt8) ||
           gpu_refuse(view, GPU_REASON_TYPE, input,
                      "it takes 8-bit tensors by their codes, which the GPU does not have");
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
    default: return gpu_refuse(view, GPU_REASON_PARAMETER, -1, "fused activation %d is not supported", (int)activation);
    }
}

bool gpu_check_constant(const struct gpu_node_view *view, int input)
{
    const TfLiteTensor *tensor = gpu_view_input(view, input);
    if (!tensor) return gpu_refuse(view, GPU_REASON_INPUT_COUNT, -1, "input %d is left out", input);
    if (gpu_is_constant(tensor) && tensor->data.raw_const) return true;
    return gpu_refuse(view, GPU_REASON_NOT_CONSTANT, input, "input %d must be a constant", input);
}

bool gpu_check_integers(const struct gpu_node_view *view, int input, int64_t count)
{
    if (!gpu_check_constant(view, input)) return false;
    const TfLiteTensor *tensor = gpu_view_input(view, input);
    if (tensor->type != kTfLiteInt32 && tensor->type != kTfLiteInt64)
        return gpu_refuse(view, GPU_REASON_TYPE, input, "input %d must be int32 or int64", input);
    int64_t elements = gpu_tensor_elements(tensor);
    return count < 0 || elements == count ||
           gpu_refuse(view, GPU_REASON_SHAPE, input, "input %d has %lld elements, expected %lld", input,
                      (long long)elements, (long long)count);
}

bool gpu_check_axis(const struct gpu_node_view *view, int input, int rank)
{
    if (!gpu_check_integers(view, input, 1)) return false;
    int axis = gpu_integer_at(gpu_view_input(view, input), 0);
    return (axis >= -rank && axis < rank) ||
           gpu_refuse(view, GPU_REASON_PARAMETER, input, "axis %d of a tensor of rank %d", axis, rank);
}

int gpu_integer_at(const TfLiteTensor *tensor, int64_t index)
{
    if (tensor->type == kTfLiteInt32) return tensor->data.i32[index];
    int64_t value = tensor->data.i64[index];
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int)value;
}

// Constants travel as floats: exact up to 2^24, which every axis, size and padding of a tensor that fits is. Larger
// ones, the "to the end" of slices, are clamped to int.
int gpu_constant_int(const struct gpu_value *value, int index)
{
    float v = value->data[index];
    if (v >= 2147483648.0f) return INT32_MAX;
    if (v <= -2147483648.0f) return INT32_MIN;
    return (int)lrintf(v);
}
