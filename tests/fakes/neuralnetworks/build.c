// SPDX-License-Identifier: Apache-2.0
// See build.h. The interpreter infers every shape by itself, so that a delegate which says a wrong one is found.
#include "build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_block {
    struct fake_block *next;
    max_align_t data[];
};

static void *keep(struct build *build, const void *bytes, size_t size)
{
    struct fake_block *block = malloc(sizeof *block + size);
    if (!block) abort();
    block->next = build->program->blocks;
    build->program->blocks = block;
    return memcpy(block->data, bytes, size);
}

bool fake_is_lower(const struct fake_program *program, const struct fake_operand *operand)
{
    return program->lowers && operand->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM;
}

static bool must_lower(const ANeuralNetworksModel *model)
{
    bool by_channel = false;
    for (uint32_t i = 0; i < model->operand_count; i++) by_channel = by_channel || model->operands[i].channels > 0;
    return by_channel;
}

// ---- tensors ------------------------------------------------------------------------------------

static TfLiteType type_of(int32_t type)
{
    switch (type) {
    case ANEURALNETWORKS_FLOAT32:
    case ANEURALNETWORKS_TENSOR_FLOAT32: return kTfLiteFloat32;
    case ANEURALNETWORKS_INT32:
    case ANEURALNETWORKS_TENSOR_INT32: return kTfLiteInt32;
    case ANEURALNETWORKS_BOOL:
    case ANEURALNETWORKS_TENSOR_BOOL8: return kTfLiteBool;
    case ANEURALNETWORKS_TENSOR_FLOAT16: return kTfLiteFloat16;
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM: return kTfLiteUInt8;
    case ANEURALNETWORKS_TENSOR_QUANT16_SYMM: return kTfLiteInt16;
    default: return kTfLiteInt8;
    }
}

static TfLiteQuantization quantization_of(const struct fake_operand *operand, int offset)
{
    int count = operand->channels > 0 ? (int)operand->channels : 1;
    if (operand->scale == 0 && operand->channels == 0) return (TfLiteQuantization){0};
    TfLiteAffineQuantization *affine = calloc(1, sizeof *affine);
    if (!affine) abort();
    affine->scale = malloc(sizeof *affine->scale + (size_t)count * sizeof(float));
    affine->zero_point = malloc(sizeof *affine->zero_point + (size_t)count * sizeof(int));
    if (!affine->scale || !affine->zero_point) abort();
    affine->scale->size = affine->zero_point->size = count;
    for (int i = 0; i < count; i++) {
        affine->scale->data[i] = operand->channels > 0 ? operand->channel_scales[i] : operand->scale;
        affine->zero_point->data[i] = operand->zero_point - offset;
    }
    affine->quantized_dimension = (int32_t)operand->channel_dim;
    return (TfLiteQuantization){kTfLiteAffineQuantization, affine};
}

static void set_tensor(struct build *build, int tensor, const struct fake_operand *operand, const int *dims, int rank,
                       bool variable)
{
    bool lower = fake_is_lower(build->program, operand);
    HaliteTensorDescription description = {
        .type = lower ? kTfLiteInt8 : type_of(operand->type),
        .dims = dims,
        .rank = rank,
        .quantization = quantization_of(operand, lower ? 128 : 0),
        .is_variable = variable,
        .data = operand->has_value ? operand->value : NULL,
        .bytes = operand->has_value ? operand->size : 0,
    };
    if (lower && operand->has_value) {
        uint8_t *bytes = keep(build, operand->value, operand->size);
        for (size_t i = 0; i < operand->size; i++) bytes[i] ^= 0x80;
        description.data = bytes;
    }
    if (HaliteInterpreterSetTensor(build->program->interpreter, 0, tensor, &description) != kTfLiteOk)
        build->failed = true;
}

static void set_operand(struct build *build, int index, bool variable)
{
    const struct fake_operand *operand = &build->model->operands[index];
    int dims[FAKE_RANK];
    for (uint32_t k = 0; k < operand->rank; k++) dims[k] = (int)operand->dims[k];
    set_tensor(build, index, operand, dims, (int)operand->rank, variable);
}

static void set_operands(struct build *build)
{
    const ANeuralNetworksModel *model = build->model;
    if (HaliteInterpreterAddTensors(build->program->interpreter, 0, (int32_t)model->operand_count, NULL) != kTfLiteOk)
        build->failed = true;
    for (uint32_t i = 0; i < model->operand_count && !build->failed; i++) {
        const struct fake_operand *operand = &model->operands[i];
        if (operand->has_value && !operand->value) continue; // left out
        set_operand(build, (int)i, false);
    }
}

static int add_constant(struct build *build, struct fake_operand operand, const void *values, size_t size,
                        const int *dims, int rank)
{
    int32_t tensor = 0;
    operand.has_value = true;
    operand.size = size;
    operand.value = keep(build, values, size);
    if (HaliteInterpreterAddTensors(build->program->interpreter, 0, 1, &tensor) != kTfLiteOk) build->failed = true;
    set_tensor(build, tensor, &operand, dims, rank, false);
    return tensor;
}

int fake_ints(struct build *build, const int32_t *values, int count)
{
    struct fake_operand ints = {.type = ANEURALNETWORKS_TENSOR_INT32};
    return add_constant(build, ints, values, (size_t)count * sizeof *values, &count, 1);
}

int fake_pairs(struct build *build, const int32_t *values, int count)
{
    struct fake_operand ints = {.type = ANEURALNETWORKS_TENSOR_INT32};
    return add_constant(build, ints, values, (size_t)count * 2 * sizeof *values, (int[]){count, 2}, 2);
}

int fake_byte(struct build *build, int like, uint8_t value)
{
    return add_constant(build, build->model->operands[like], &value, 1, (int[]){1}, 1);
}

int fake_scaled(struct build *build, TfLiteType type, float scale, int zero_point)
{
    int32_t tensor = 0;
    const struct fake_operand scaled = {.scale = scale, .zero_point = zero_point};
    HaliteTensorDescription description = {.type = type,
                                           .dims = (const int[]){0},
                                           .rank = 1,
                                           .quantization = quantization_of(&scaled, 0)};
    if (HaliteInterpreterAddTensors(build->program->interpreter, 0, 1, &tensor) != kTfLiteOk ||
        HaliteInterpreterSetTensor(build->program->interpreter, 0, tensor, &description) != kTfLiteOk)
        build->failed = true;
    return tensor;
}

int fake_optional(const struct build *build, uint32_t index)
{
    return index < build->operation->input_count && !fake_is_absent(fake_input(build, index)) ? fake_in(build, index)
                                                                                              : -1;
}

void fake_state(struct build *build, uint32_t input, uint32_t output)
{
    if (!fake_input(build, input)->is_input) {
        fake_complain(__func__, 0, "operand %d is a state and no input of the model", fake_in(build, input));
        build->failed = true;
        return;
    }
    set_operand(build, fake_in(build, input), true);
    if (output < build->operation->output_count)
        build->program->tensor_of[fake_out(build, output)] = fake_in(build, input);
}

TfLiteType fake_type(const struct build *build, int operand)
{
    const struct fake_operand *from = &build->model->operands[operand];
    return fake_is_lower(build->program, from) ? kTfLiteInt8 : type_of(from->type);
}

// ---- scalars ------------------------------------------------------------------------------------

static void read_scalar(const struct build *build, uint32_t index, void *value, size_t size)
{
    memset(value, 0, size);
    if (index < build->operation->input_count && !fake_is_tensor(fake_input(build, index)->type))
        memcpy(value, fake_input(build, index)->value, size);
}

int32_t fake_int(const struct build *build, uint32_t index)
{
    int32_t value;
    read_scalar(build, index, &value, sizeof value);
    return value;
}

float fake_float(const struct build *build, uint32_t index)
{
    float value;
    read_scalar(build, index, &value, sizeof value);
    return value;
}

bool fake_bool(const struct build *build, uint32_t index)
{
    uint8_t value;
    read_scalar(build, index, &value, sizeof value);
    return value != 0;
}

// ---- nodes --------------------------------------------------------------------------------------

void fake_node(struct build *build, int builtin, const void *params, size_t params_size, const int *inputs,
               int input_count, const int *outputs, int output_count)
{
    fake_node_with(build, builtin, params, params_size, inputs, input_count, outputs, output_count, NULL, 0);
}

void fake_node_with(struct build *build, int builtin, const void *params, size_t params_size, const int *inputs,
                    int input_count, const int *outputs, int output_count, const int *intermediates,
                    int intermediate_count)
{
    enum { HIGHEST_VERSION = 12 };
    TfLiteRegistration registration;
    int version = HIGHEST_VERSION;
    while (version > 0 && HaliteFindOperator((TfLiteBuiltinOperator)builtin, NULL, version, &registration) != kTfLiteOk)
        version--;
    void *copy = params ? malloc(params_size) : NULL;
    if (copy) memcpy(copy, params, params_size);
    HaliteNodeDescription description = {
        .registration = &registration,
        .inputs = inputs,
        .outputs = outputs,
        .input_count = input_count,
        .output_count = output_count,
        .intermediates = intermediates,
        .intermediate_count = intermediate_count,
        .builtin_data = copy,
    };
    if (version == 0 || HaliteInterpreterAddNode(build->program->interpreter, 0, &description, NULL) != kTfLiteOk)
        build->failed = true;
}

static bool set_ends(struct build *build)
{
    TfLiteInterpreter *interpreter = build->program->interpreter;
    const ANeuralNetworksModel *model = build->model;
    int *outputs = calloc(model->output_count + 1, sizeof *outputs);
    if (!outputs) abort();
    for (uint32_t i = 0; i < model->output_count; i++) outputs[i] = build->program->tensor_of[model->outputs[i]];
    bool ok = HaliteInterpreterSetSubgraphInputs(interpreter, 0, (const int *)model->inputs,
                                                 (int32_t)model->input_count) == kTfLiteOk &&
              HaliteInterpreterSetSubgraphOutputs(interpreter, 0, outputs, (int32_t)model->output_count) == kTfLiteOk;
    free(outputs);
    return ok;
}

// Every operand has the shape that the kernels infer.
static bool shapes_hold(const struct build *build)
{
    for (uint32_t i = 0; i < build->model->operand_count; i++) {
        const struct fake_operand *operand = &build->model->operands[i];
        if (operand->writer < 0) continue;
        const TfLiteTensor *tensor =
            HaliteInterpreterGetSubgraphTensor(build->program->interpreter, 0, build->program->tensor_of[i]);
        bool same = tensor && tensor->dims && (uint32_t)tensor->dims->size == operand->rank;
        for (uint32_t k = 0; k < operand->rank && same; k++) same = (uint32_t)tensor->dims->data[k] == operand->dims[k];
        if (same) continue;
        fake_complain(__func__, 0, "operand %u, of %s, has another shape than that computes", i,
                      fake_operation_name(build->model->operations[operand->writer].code));
        return false;
    }
    return true;
}

static TfLiteInterpreter *create_empty(void)
{
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    HaliteInterpreterOptionsSetKernels(options, kHaliteKernelsReference);
    HaliteInterpreterOptionsSetPreserveTensors(options, true);
    TfLiteInterpreter *interpreter = HaliteInterpreterCreateEmpty(options);
    TfLiteInterpreterOptionsDelete(options);
    return interpreter;
}

struct fake_program *fake_build(const ANeuralNetworksModel *model)
{
    struct fake_program *program = calloc(1, sizeof *program);
    if (!program) abort();
    struct build build = {.model = model, .program = program};
    program->interpreter = create_empty();
    program->lowers = must_lower(model);
    program->tensor_of = calloc(model->operand_count + 1, sizeof *program->tensor_of);
    if (!program->tensor_of) abort();
    for (uint32_t i = 0; i < model->operand_count; i++) program->tensor_of[i] = (int)i;
    set_operands(&build);
    for (uint32_t i = 0; i < model->operation_count && !build.failed; i++) {
        build.operation = &model->operations[i];
        if (!fake_translate(&build)) build.failed = true;
        if (build.failed)
            fake_complain(__func__, 0, "%s cannot be computed", fake_operation_name(build.operation->code));
    }
    if (!build.failed && set_ends(&build) && TfLiteInterpreterAllocateTensors(program->interpreter) == kTfLiteOk &&
        shapes_hold(&build))
        return program;
    fake_complain(__func__, 0, "the model cannot be compiled");
    fake_program_free(program);
    return NULL;
}

void fake_program_free(struct fake_program *program)
{
    if (!program) return;
    TfLiteInterpreterDelete(program->interpreter);
    free(program->tensor_of);
    while (program->blocks) {
        struct fake_block *next = program->blocks->next;
        free(program->blocks);
        program->blocks = next;
    }
    free(program);
}
