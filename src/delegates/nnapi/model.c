// SPDX-License-Identifier: Apache-2.0
// See model.h. int8 came to NNAPI with feature level 4: below it, int8 tensors are uint8 tensors there whose zero point
// and values are 128 higher; kernel.c converts inputs and outputs, and constants are converted here.
#include "delegates/nnapi/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/grow.h"
#include "delegates/common/widened.h"
#include "delegates/nnapi/op.h"

struct nnapi_block {
    struct nnapi_block *next;
    max_align_t data[];
};

static bool fail(struct nnapi_model *model, const char *what)
{
    if (!model->failed) model->context->ReportError(model->context, "TfLiteNnapiDelegate: %s", what);
    model->failed = true;
    return false;
}

// Makes a call of the system unless an earlier one has failed.
#define TRY(model, call, doing)                                                                         \
    ((model)->failed = (model)->failed || !NNAPI_TRY((model)->delegate, (model)->context, call, doing), \
     !(model)->failed)

void *nnapi_model_memory(struct nnapi_model *model, size_t size)
{
    size_t bytes;
    struct nnapi_block *block = hl_add_size(sizeof *block, size, &bytes) ? malloc(bytes) : NULL;
    if (!block) {
        fail(model, "out of memory");
        return NULL;
    }
    block->next = model->blocks;
    model->blocks = block;
    return block->data;
}

// ---- types --------------------------------------------------------------------------------------

static bool is_by_channel(const TfLiteTensor *tensor)
{
    return tensor->type == kTfLiteInt8 && nnapi_scale_count(tensor) > 1;
}

static bool is_shifted(const struct nnapi_model *model, const TfLiteTensor *tensor)
{
    return tensor->type == kTfLiteInt8 && !is_by_channel(tensor) && model->delegate->level < NNAPI_LEVEL_4;
}

static int32_t type_number(const struct nnapi_model *model, const TfLiteTensor *tensor)
{
    switch (tensor->type) {
    case kTfLiteFloat32: return ANEURALNETWORKS_TENSOR_FLOAT32;
    case kTfLiteFloat16: return ANEURALNETWORKS_TENSOR_FLOAT16;
    case kTfLiteInt32: return ANEURALNETWORKS_TENSOR_INT32;
    case kTfLiteBool: return ANEURALNETWORKS_TENSOR_BOOL8;
    case kTfLiteInt16: return ANEURALNETWORKS_TENSOR_QUANT16_SYMM;
    case kTfLiteUInt8: return ANEURALNETWORKS_TENSOR_QUANT8_ASYMM;
    case kTfLiteInt8:
        if (is_by_channel(tensor)) return ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL;
        return is_shifted(model, tensor) ? ANEURALNETWORKS_TENSOR_QUANT8_ASYMM
                                         : ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
    default: return -1;
    }
}

struct nnapi_type nnapi_type_of(struct nnapi_model *model, int index)
{
    const TfLiteTensor *tensor = &model->context->tensors[index];
    struct nnapi_type type = {.type = type_number(model, tensor)};
    if (type.type < 0) fail(model, "a tensor has a type that NNAPI does not have");
    int rank = tensor->dims ? tensor->dims->size : 0;
    type.rank = rank == 0 ? 1 : rank < 8 ? (uint32_t)rank : 8; // support.c has seen to it
    type.dims[0] = 1;
    for (int i = 0; i < rank && i < 8; i++) type.dims[i] = (uint32_t)tensor->dims->data[i];
    if (nnapi_is_8_bit(tensor) || tensor->type == kTfLiteInt16) {
        type.scale = nnapi_scale(tensor) > 0 ? nnapi_scale(tensor) : 1;
        type.zero_point = nnapi_zero_point(tensor) + (is_shifted(model, tensor) ? 128 : 0);
    } else if (tensor->type == kTfLiteInt32) {
        type.scale = nnapi_scale_count(tensor) == 1 ? nnapi_scale(tensor) : 0;
    }
    if (is_by_channel(tensor)) {
        type.scale = 0;
        type.zero_point = 0;
    }
    return type;
}

// ---- operands -----------------------------------------------------------------------------------

uint32_t nnapi_new_operand(struct nnapi_model *model, const struct nnapi_type *type)
{
    ANeuralNetworksOperandType own = {type->type, type->rank, type->rank ? type->dims : NULL, type->scale,
                                      type->zero_point};
    if (!TRY(model, model->delegate->system.model_add_operand(model->handle, &own), "adding operand")) return 0;
    return model->operand_count++;
}

static void set_value(struct nnapi_model *model, uint32_t operand, const void *bytes, size_t size)
{
    (void)TRY(model, model->delegate->system.model_set_operand_value(model->handle, (int32_t)operand, bytes, size),
              "setting new operand value");
}

uint32_t nnapi_new_constant(struct nnapi_model *model, const struct nnapi_type *type, const void *bytes, size_t size)
{
    uint32_t operand = nnapi_new_operand(model, type);
    const void *kept = bytes;
    if (size > ANEURALNETWORKS_COPIED_VALUE_BYTES) {
        void *copy = nnapi_model_memory(model, size);
        if (!copy) return 0;
        kept = memcpy(copy, bytes, size);
    }
    set_value(model, operand, kept, size);
    return operand;
}

static void set_channel_scales(struct nnapi_model *model, uint32_t operand, const TfLiteTensor *tensor)
{
    const TfLiteAffineQuantization *affine = tensor->quantization.params;
    ANeuralNetworksSymmPerChannelQuantParams scales = {(uint32_t)affine->quantized_dimension,
                                                       (uint32_t)affine->scale->size, affine->scale->data};
    (void)TRY(model, model->delegate->system.model_set_operand_channel_scales(model->handle, (int32_t)operand, &scales),
              "setting new operand per channel quantization params");
}

// Gives an operand the value of a constant tensor. The bytes of a model's file live longer than this model; others may
// move when the runtime plans its memory anew.
static void set_tensor_value(struct nnapi_model *model, uint32_t operand, const TfLiteTensor *tensor, bool shifted)
{
    const void *bytes = tensor->data.raw;
    if (shifted || tensor->allocation_type != kTfLiteMmapRo) {
        uint8_t *copy = nnapi_model_memory(model, tensor->bytes);
        if (!copy) return;
        memcpy(copy, tensor->data.raw, tensor->bytes);
        for (size_t i = 0; shifted && i < tensor->bytes; i++) copy[i] ^= 0x80;
        bytes = copy;
    }
    set_value(model, operand, bytes, tensor->bytes);
}

// The float16 constant that a tensor is widened from; NULL: it is none.
static const TfLiteTensor *narrow_source(const struct nnapi_model *model, int tensor)
{
    int source = delegate_widened_source(&model->delegate->base, tensor);
    return source >= 0 ? &model->context->tensors[source] : NULL;
}

static void set_widened_value(struct nnapi_model *model, uint32_t operand, const TfLiteTensor *narrow)
{
    size_t count = narrow->bytes / sizeof(uint16_t);
    float *floats = nnapi_model_memory(model, count * sizeof *floats);
    if (!floats) return;
    delegate_widen(narrow, floats);
    set_value(model, operand, floats, count * sizeof *floats);
}

// After the operation that writes a state, its operand still has the old value.
static bool is_outdated(const struct nnapi_model *model, int tensor)
{
    for (int i = 0; i < model->state_count; i++)
        if (model->states[i].tensor == tensor) return true;
    return false;
}

uint32_t nnapi_operand_of(struct nnapi_model *model, int index)
{
    if (is_outdated(model, index)) fail(model, "a state is read again after the node that it belongs to");
    if (model->operand_of[index] >= 0) return (uint32_t)model->operand_of[index];
    const TfLiteTensor *tensor = &model->context->tensors[index];
    const TfLiteTensor *narrow = narrow_source(model, index);
    struct nnapi_type type = nnapi_type_of(model, index);
    uint32_t operand = model->failed ? 0 : nnapi_new_operand(model, &type);
    if (model->failed) return 0;
    model->operand_of[index] = (int)operand;
    if (is_by_channel(tensor)) set_channel_scales(model, operand, tensor);
    if (narrow)
        set_widened_value(model, operand, narrow);
    else if (hl_is_constant(tensor) && tensor->data.raw)
        set_tensor_value(model, operand, tensor, is_shifted(model, tensor));
    return operand;
}

// ---- the operation that is being built ----------------------------------------------------------

void nnapi_add_operand(struct nnapi_model *model, uint32_t operand)
{
    if (model->from_count < NNAPI_MAX_OPERANDS)
        model->from[model->from_count++] = operand;
    else
        fail(model, "an operation has too many inputs");
}

void nnapi_set_output_operand(struct nnapi_model *model, uint32_t operand)
{
    if (model->to_count < NNAPI_MAX_OPERANDS)
        model->to[model->to_count++] = operand;
    else
        fail(model, "an operation has too many outputs");
}

void nnapi_add_tensor(struct nnapi_model *model, int tensor)
{
    nnapi_add_operand(model, nnapi_operand_of(model, tensor));
}

void nnapi_set_output(struct nnapi_model *model, int tensor)
{
    nnapi_set_output_operand(model, nnapi_operand_of(model, tensor));
}

void nnapi_add_absent(struct nnapi_model *model, int32_t type)
{
    bool quantized = type != ANEURALNETWORKS_TENSOR_FLOAT32 && type != ANEURALNETWORKS_TENSOR_INT32;
    struct nnapi_type empty = {.type = type, .rank = 1, .scale = quantized ? 1 : 0};
    uint32_t operand = nnapi_new_operand(model, &empty);
    set_value(model, operand, NULL, 0);
    nnapi_add_operand(model, operand);
}

void nnapi_set_state(struct nnapi_model *model, int tensor)
{
    struct nnapi_type type = nnapi_type_of(model, tensor);
    struct nnapi_state *grown = model->states;
    if (model->state_count == model->state_room)
        grown = hl_grow(model->states, model->state_count, &model->state_room, sizeof *grown);
    if (!grown) {
        fail(model, "out of memory");
        return;
    }
    model->states = grown;
    uint32_t operand = nnapi_new_operand(model, &type);
    grown[model->state_count++] = (struct nnapi_state){tensor, operand};
    nnapi_set_output_operand(model, operand);
}

static void add_scalar(struct nnapi_model *model, int32_t type, const void *value, size_t size)
{
    struct nnapi_type scalar = {.type = type};
    nnapi_add_operand(model, nnapi_new_constant(model, &scalar, value, size));
}

void nnapi_add_i32(struct nnapi_model *model, int32_t value)
{
    add_scalar(model, ANEURALNETWORKS_INT32, &value, sizeof value);
}

void nnapi_add_f32(struct nnapi_model *model, float value)
{
    add_scalar(model, ANEURALNETWORKS_FLOAT32, &value, sizeof value);
}

void nnapi_add_bool(struct nnapi_model *model, bool value)
{
    uint8_t byte = value;
    add_scalar(model, ANEURALNETWORKS_BOOL, &byte, sizeof byte);
}

void nnapi_add_ints(struct nnapi_model *model, const int32_t *values, uint32_t count)
{
    struct nnapi_type type = {.type = ANEURALNETWORKS_TENSOR_INT32, .rank = 1, .dims = {count}};
    nnapi_add_operand(model, nnapi_new_constant(model, &type, values, count * sizeof *values));
}

static uint32_t read_ints(const TfLiteTensor *tensor, int axes, int32_t values[NNAPI_MAX_INTS])
{
    uint32_t count = 0;
    for (int64_t i = 0; i < hl_elements(tensor) && count < NNAPI_MAX_INTS; i++) {
        int32_t value = (int32_t)hl_integer_at(tensor, i);
        values[count++] = axes > 0 && value < 0 ? value + axes : value;
    }
    return count;
}

void nnapi_add_list(struct nnapi_model *model, const TfLiteTensor *tensor, int axes)
{
    int32_t values[NNAPI_MAX_INTS];
    uint32_t count = read_ints(tensor, axes, values);
    nnapi_add_ints(model, values, count);
}

void nnapi_add_pairs(struct nnapi_model *model, const TfLiteTensor *tensor)
{
    int32_t values[NNAPI_MAX_INTS];
    uint32_t count = read_ints(tensor, 0, values);
    struct nnapi_type type = {.type = ANEURALNETWORKS_TENSOR_INT32, .rank = 2, .dims = {count / 2, 2}};
    nnapi_add_operand(model, nnapi_new_constant(model, &type, values, count * sizeof *values));
}

void nnapi_end(struct nnapi_model *model, int operation)
{
    if (TRY(model,
            model->delegate->system.model_add_operation(model->handle, operation, model->from_count, model->from,
                                                        model->to_count, model->to),
            "adding operation")) {
        int *grown = model->node_of;
        if (model->operation_count == model->operation_room)
            grown = hl_grow(model->node_of, model->operation_count, &model->operation_room, sizeof *grown);
        if (grown) {
            model->node_of = grown;
            grown[model->operation_count++] = model->position;
        } else {
            fail(model, "out of memory");
        }
    }
    model->from_count = model->to_count = 0;
}

static uint32_t symmetric_operand(struct nnapi_model *model, int index)
{
    struct nnapi_type type = nnapi_type_of(model, index);
    type.type = ANEURALNETWORKS_TENSOR_QUANT8_SYMM;
    type.zero_point = 0;
    uint32_t operand = nnapi_new_operand(model, &type);
    set_tensor_value(model, operand, &model->context->tensors[index], false);
    return operand;
}

void nnapi_add_symmetric(struct nnapi_model *model, int tensor)
{
    nnapi_add_operand(model, symmetric_operand(model, tensor));
}

// 8-bit weights that are to be dequantized.
static uint32_t weights_operand(struct nnapi_model *model, int index)
{
    const TfLiteTensor *tensor = &model->context->tensors[index];
    // A kind that feature level 3 has, where int8 with a zero point is of level 4.
    if (tensor->type == kTfLiteInt8 && !is_by_channel(tensor) && nnapi_zero_point(tensor) == 0 &&
        model->delegate->level >= NNAPI_LEVEL_3)
        return symmetric_operand(model, index);
    struct nnapi_type type = nnapi_type_of(model, index);
    uint32_t operand = nnapi_new_operand(model, &type);
    if (is_by_channel(tensor)) set_channel_scales(model, operand, tensor);
    set_tensor_value(model, operand, tensor, is_shifted(model, tensor));
    return operand;
}

void nnapi_add_weights(struct nnapi_model *model, int index, bool floats)
{
    const TfLiteTensor *tensor = &model->context->tensors[index];
    if (!floats || !nnapi_is_8_bit(tensor)) {
        nnapi_add_tensor(model, index);
        return;
    }
    // Saves what the operation had so far, since one that dequantizes comes first.
    uint32_t from[NNAPI_MAX_OPERANDS], count = model->from_count;
    memcpy(from, model->from, sizeof from);
    model->from_count = 0;
    struct nnapi_type wide = nnapi_type_of(model, index);
    uint32_t operand = weights_operand(model, index);
    wide.type = ANEURALNETWORKS_TENSOR_FLOAT32;
    wide.scale = 0;
    wide.zero_point = 0;
    uint32_t dequantized = nnapi_new_operand(model, &wide);
    nnapi_add_operand(model, operand);
    nnapi_set_output_operand(model, dequantized);
    nnapi_end(model, NNAPI_DEQUANTIZE);
    memcpy(model->from, from, sizeof from);
    model->from_count = count;
    nnapi_add_operand(model, dequantized);
}

// ---- the whole ----------------------------------------------------------------------------------

static void map_nodes(struct nnapi_model *model, const struct delegate_piece *piece)
{
    for (int i = 0; i < piece->count && !model->failed; i++) {
        struct nnapi_node node = {.context = model->context};
        TfLiteNode *plain;
        TfLiteRegistration *registration;
        if (model->context->GetNodeAndRegistration(model->context, piece->nodes[i], &plain, &registration) !=
            kTfLiteOk) {
            fail(model, "a node cannot be read");
            return;
        }
        if (delegate_widens_constant(model->context, plain, registration)) continue;
        node.node = plain;
        node.registration = registration;
        node.op = nnapi_op_find(registration->builtin_code);
        model->position = i;
        if (node.op)
            node.op->family->map(model, &node);
        else
            fail(model, "a node has no operation"); // support.c does not let it through
    }
}

// Which tensors are inputs and outputs of the model. Constants are neither.
static bool identify(struct nnapi_model *model, const struct delegate_piece *piece)
{
    uint32_t count = (uint32_t)(piece->inputs->size + piece->outputs->size + model->state_count + 1);
    uint32_t *operands = malloc(count * sizeof *operands);
    model->inputs = malloc(count * sizeof *model->inputs);
    model->outputs = malloc(count * sizeof *model->outputs);
    if (!operands || !model->inputs || !model->outputs) {
        free(operands);
        return fail(model, "out of memory");
    }
    uint32_t at = 0;
    for (int i = 0; i < piece->inputs->size; i++) {
        int tensor = piece->inputs->data[i];
        if (tensor < 0 || model->operand_of[tensor] < 0 || hl_is_constant(&model->context->tensors[tensor]) ||
            narrow_source(model, tensor))
            continue;
        model->inputs[model->input_count++] = tensor;
        operands[at++] = (uint32_t)model->operand_of[tensor];
    }
    uint32_t inputs = at;
    for (int i = 0; i < piece->outputs->size; i++) {
        int tensor = piece->outputs->data[i];
        if (tensor < 0 || narrow_source(model, tensor) || model->operand_of[tensor] < 0) continue;
        model->outputs[model->output_count++] = tensor;
        operands[at++] = (uint32_t)model->operand_of[tensor];
    }
    for (int i = 0; i < model->state_count; i++) {
        model->outputs[model->output_count++] = model->states[i].tensor;
        operands[at++] = model->states[i].operand;
    }
    (void)TRY(model,
              model->delegate->system.model_identify_inputs_and_outputs(model->handle, inputs, operands, at - inputs,
                                                                        operands + inputs),
              "identifying model inputs and outputs");
    free(operands);
    return !model->failed;
}

bool nnapi_model_build(struct nnapi_model *model, struct nnapi_delegate *delegate, TfLiteContext *context,
                       const struct delegate_piece *piece)
{
    const struct nnapi *system = &delegate->system;
    *model = (struct nnapi_model){.delegate = delegate, .context = context, .tensor_count = context->tensors_size};
    model->operand_of = malloc((context->tensors_size + 1) * sizeof *model->operand_of);
    if (!model->operand_of) return fail(model, "out of memory");
    for (size_t i = 0; i < context->tensors_size; i++) model->operand_of[i] = -1;
    if (!TRY(model, system->model_create(&model->handle), "creating NNAPI model")) return false;
    map_nodes(model, piece);
    if (model->failed) return false;
    if (model->operation_count == 0) return true; // constants alone
    if (!identify(model, piece)) return false;
    if (delegate->level >= NNAPI_LEVEL_2 &&
        !TRY(model,
             system->model_relax_float32(model->handle,
                                         context->allow_fp32_relax_to_fp16 || delegate->options.allow_fp16),
             "set relaxed computation mode for fp32 if possible"))
        return false;
    return TRY(model, system->model_finish(model->handle), "finalizing the model");
}

void nnapi_model_free(struct nnapi_model *model)
{
    if (model->handle) model->delegate->system.model_free(model->handle);
    while (model->blocks) {
        struct nnapi_block *next = model->blocks->next;
        free(model->blocks);
        model->blocks = next;
    }
    free(model->operand_of);
    free(model->inputs);
    free(model->outputs);
    free(model->node_of);
    free(model->states);
    *model = (struct nnapi_model){0};
}
