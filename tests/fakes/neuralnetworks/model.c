// SPDX-License-Identifier: Apache-2.0
// Models of the fake: operands, their values, operations, and what the real library checks of them.
#include <stdlib.h>
#include <string.h>

#include "fake.h"

size_t fake_element_bytes(int32_t type)
{
    switch (type) {
    case ANEURALNETWORKS_FLOAT32:
    case ANEURALNETWORKS_INT32:
    case ANEURALNETWORKS_UINT32:
    case ANEURALNETWORKS_TENSOR_FLOAT32:
    case ANEURALNETWORKS_TENSOR_INT32: return 4;
    case ANEURALNETWORKS_FLOAT16:
    case ANEURALNETWORKS_TENSOR_FLOAT16:
    case ANEURALNETWORKS_TENSOR_QUANT16_SYMM:
    case ANEURALNETWORKS_TENSOR_QUANT16_ASYMM: return 2;
    default: return 1;
    }
}

size_t fake_bytes(const struct fake_operand *operand)
{
    size_t bytes = fake_element_bytes(operand->type);
    for (uint32_t i = 0; i < operand->rank; i++) bytes *= operand->dims[i];
    return bytes;
}

const char *fake_operation_name(int32_t code)
{
    switch (code) {
#define X(name, number) \
    case number: return #name;
        NNAPI_OPERATIONS(X)
#undef X
    default: return "an operation without a name";
    }
}

int ANeuralNetworksModel_create(ANeuralNetworksModel **model)
{
    FAKE_BEGIN();
    FAKE_WANT(model, UNEXPECTED_NULL, "no model");
    *model = calloc(1, sizeof **model);
    if (!*model) return ANEURALNETWORKS_OUT_OF_MEMORY;
    fake.live++;
    return ANEURALNETWORKS_NO_ERROR;
}

void ANeuralNetworksModel_free(ANeuralNetworksModel *model)
{
    if (!model) return;
    if (model->users) fake_complain(__func__, 0, "%d compilations still use the model", model->users);
    for (uint32_t i = 0; i < model->operand_count; i++) free(model->operands[i].channel_scales);
    free(model->operands);
    free(model->operations);
    free(model->inputs);
    free(model->outputs);
    free(model);
    fake.live--;
}

// ---- operands -----------------------------------------------------------------------------------

static int32_t level_of_type(int32_t type)
{
    switch (type) {
    case ANEURALNETWORKS_FLOAT32:
    case ANEURALNETWORKS_INT32:
    case ANEURALNETWORKS_UINT32:
    case ANEURALNETWORKS_TENSOR_FLOAT32:
    case ANEURALNETWORKS_TENSOR_INT32:
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM: return NNAPI_LEVEL_1;
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED: return NNAPI_LEVEL_4;
    default: return NNAPI_LEVEL_3;
    }
}

static int check_quantization(const ANeuralNetworksOperandType *type)
{
    bool asymmetric = fake_is_8_bit(type->type), symmetric = type->type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM ||
                                                             type->type == ANEURALNETWORKS_TENSOR_QUANT16_SYMM;
    bool is_signed = type->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
    if (asymmetric || symmetric)
        FAKE_WANT(type->scale > 0, BAD_DATA, "scale %g of a quantized tensor", (double)type->scale);
    if (asymmetric)
        FAKE_WANT(type->zeroPoint >= (is_signed ? -128 : 0) && type->zeroPoint <= (is_signed ? 127 : 255), BAD_DATA,
                  "zero point %d", type->zeroPoint);
    else
        FAKE_WANT(type->zeroPoint == 0, BAD_DATA, "zero point %d of type %d", type->zeroPoint, type->type);
    if (!asymmetric && !symmetric && type->type != ANEURALNETWORKS_TENSOR_INT32)
        FAKE_WANT(type->scale == 0, BAD_DATA, "scale %g of type %d", (double)type->scale, type->type);
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksModel_addOperand(ANeuralNetworksModel *model, const ANeuralNetworksOperandType *type)
{
    FAKE_BEGIN();
    FAKE_WANT(model && type, UNEXPECTED_NULL, "no model or type");
    FAKE_WANT(!model->finished, BAD_STATE, "the model is finished");
    FAKE_WANT(type->type >= 0 && type->type <= ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, BAD_DATA, "type %d",
              type->type);
    FAKE_WANT(fake.level >= level_of_type(type->type), BAD_DATA, "type %d is not of feature level %lld", type->type,
              fake.level);
    FAKE_WANT(fake_is_tensor(type->type) || type->dimensionCount == 0, BAD_DATA, "a scalar with dimensions");
    FAKE_WANT(!fake_is_tensor(type->type) || (type->dimensionCount > 0 && type->dimensions), BAD_DATA,
              "a tensor without dimensions");
    FAKE_WANT(type->dimensionCount <= FAKE_RANK, BAD_DATA, "%u dimensions", type->dimensionCount);
    int status = check_quantization(type);
    if (status != ANEURALNETWORKS_NO_ERROR) return status;
    void *grown = realloc(model->operands, (model->operand_count + 1) * sizeof *model->operands);
    if (!grown) return ANEURALNETWORKS_OUT_OF_MEMORY;
    model->operands = grown;
    struct fake_operand *operand = &model->operands[model->operand_count++];
    *operand = (struct fake_operand){
        .type = type->type,
        .rank = type->dimensionCount,
        .scale = type->scale,
        .zero_point = type->zeroPoint,
        .writer = -1,
    };
    for (uint32_t i = 0; i < operand->rank; i++) operand->dims[i] = type->dimensions[i];
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksModel_setOperandValue(ANeuralNetworksModel *model, int32_t index, const void *value, size_t size)
{
    FAKE_BEGIN();
    FAKE_WANT(model, UNEXPECTED_NULL, "no model");
    FAKE_WANT(!model->finished, BAD_STATE, "the model is finished");
    FAKE_WANT(index >= 0 && (uint32_t)index < model->operand_count, BAD_DATA, "there is no operand %d", index);
    struct fake_operand *operand = &model->operands[index];
    FAKE_WANT(!operand->has_value && operand->writer < 0, BAD_DATA, "operand %d has a value", index);
    if (!value) {
        FAKE_WANT(size == 0, BAD_DATA, "operand %d: %zu bytes at NULL", index, size);
    } else {
        FAKE_WANT(size == fake_bytes(operand), BAD_DATA, "operand %d: %zu bytes for a type of %zu", index, size,
                  fake_bytes(operand));
        FAKE_WANT(operand->type != ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL || operand->channels > 0, BAD_DATA,
                  "operand %d has no scales by channel yet", index);
    }
    operand->has_value = true;
    operand->value = value;
    operand->size = size;
    if (value && size <= sizeof operand->small) { // the real library copies these, too; `operands` may still move
        memcpy(operand->small, value, size);
        operand->value = NULL;
    }
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(ANeuralNetworksModel *model, int32_t index,
                                                             const ANeuralNetworksSymmPerChannelQuantParams *params)
{
    FAKE_BEGIN();
    FAKE_WANT(model && params && params->scales, UNEXPECTED_NULL, "no model, params or scales");
    FAKE_WANT(!model->finished, BAD_STATE, "the model is finished");
    FAKE_WANT(index >= 0 && (uint32_t)index < model->operand_count, BAD_DATA, "there is no operand %d", index);
    struct fake_operand *operand = &model->operands[index];
    FAKE_WANT(operand->type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, BAD_DATA, "operand %d is of type %d",
              index, operand->type);
    FAKE_WANT(params->channelDim < operand->rank && operand->dims[params->channelDim] == params->scaleCount, BAD_DATA,
              "operand %d: %u scales for dimension %u", index, params->scaleCount, params->channelDim);
    for (uint32_t i = 0; i < params->scaleCount; i++)
        FAKE_WANT(params->scales[i] > 0, BAD_DATA, "operand %d: scale %g", index, (double)params->scales[i]);
    free(operand->channel_scales);
    operand->channel_scales = malloc(params->scaleCount * sizeof(float));
    if (!operand->channel_scales) return ANEURALNETWORKS_OUT_OF_MEMORY;
    memcpy(operand->channel_scales, params->scales, params->scaleCount * sizeof(float));
    operand->channel_dim = params->channelDim;
    operand->channels = params->scaleCount;
    return ANEURALNETWORKS_NO_ERROR;
}

// ---- operations ---------------------------------------------------------------------------------

static int check_references(ANeuralNetworksModel *model, const struct fake_operation *operation)
{
    for (uint32_t i = 0; i < operation->input_count; i++) {
        FAKE_WANT(operation->inputs[i] < model->operand_count, BAD_DATA, "there is no operand %u",
                  operation->inputs[i]);
        model->operands[operation->inputs[i]].read = true;
    }
    for (uint32_t i = 0; i < operation->output_count; i++) {
        FAKE_WANT(operation->outputs[i] < model->operand_count, BAD_DATA, "there is no operand %u",
                  operation->outputs[i]);
        struct fake_operand *operand = &model->operands[operation->outputs[i]];
        FAKE_WANT(operand->writer < 0 && !operand->has_value, BAD_DATA, "operand %u is written twice",
                  operation->outputs[i]);
        operand->writer = (int)model->operation_count;
    }
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksModel_addOperation(ANeuralNetworksModel *model, int32_t code, uint32_t input_count,
                                      const uint32_t *inputs, uint32_t output_count, const uint32_t *outputs)
{
    FAKE_BEGIN();
    FAKE_WANT(model && inputs && outputs, UNEXPECTED_NULL, "no model, inputs or outputs");
    FAKE_WANT(!model->finished, BAD_STATE, "the model is finished");
    FAKE_WANT(input_count <= FAKE_OPERANDS && output_count <= FAKE_OPERANDS, BAD_DATA, "%u inputs, %u outputs",
              input_count, output_count);
    struct fake_operation operation = {.code = code, .input_count = input_count, .output_count = output_count};
    memcpy(operation.inputs, inputs, input_count * sizeof *inputs);
    memcpy(operation.outputs, outputs, output_count * sizeof *outputs);
    int status = check_references(model, &operation);
    if (status == ANEURALNETWORKS_NO_ERROR) status = fake_check_operation(model, &operation);
    if (status != ANEURALNETWORKS_NO_ERROR) return status;
    void *grown = realloc(model->operations, (model->operation_count + 1) * sizeof *model->operations);
    if (!grown) return ANEURALNETWORKS_OUT_OF_MEMORY;
    model->operations = grown;
    model->operations[model->operation_count++] = operation;
    return ANEURALNETWORKS_NO_ERROR;
}

// ---- the end ------------------------------------------------------------------------------------

static uint32_t *copy_of(const uint32_t *list, uint32_t count)
{
    uint32_t *copy = malloc((count + 1) * sizeof *copy);
    if (copy) memcpy(copy, list, count * sizeof *copy);
    return copy;
}

int ANeuralNetworksModel_identifyInputsAndOutputs(ANeuralNetworksModel *model, uint32_t input_count,
                                                  const uint32_t *inputs, uint32_t output_count,
                                                  const uint32_t *outputs)
{
    FAKE_BEGIN();
    FAKE_WANT(model && inputs && outputs, UNEXPECTED_NULL, "no model, inputs or outputs");
    FAKE_WANT(!model->finished && !model->identified, BAD_STATE, "inputs and outputs are known");
    FAKE_WANT(output_count > 0, BAD_DATA, "a model without outputs");
    for (uint32_t i = 0; i < input_count; i++) {
        FAKE_WANT(inputs[i] < model->operand_count, BAD_DATA, "there is no operand %u", inputs[i]);
        struct fake_operand *operand = &model->operands[inputs[i]];
        FAKE_WANT(!operand->has_value && operand->writer < 0 && !operand->is_input, BAD_DATA, "operand %u is no input",
                  inputs[i]);
        operand->is_input = true;
    }
    for (uint32_t i = 0; i < output_count; i++) {
        FAKE_WANT(outputs[i] < model->operand_count, BAD_DATA, "there is no operand %u", outputs[i]);
        struct fake_operand *operand = &model->operands[outputs[i]];
        FAKE_WANT(operand->writer >= 0 && !operand->is_output, BAD_DATA, "operand %u is no output", outputs[i]);
        operand->is_output = true;
    }
    model->inputs = copy_of(inputs, input_count);
    model->outputs = copy_of(outputs, output_count);
    model->input_count = input_count;
    model->output_count = output_count;
    model->identified = true;
    return model->inputs && model->outputs ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_OUT_OF_MEMORY;
}

int ANeuralNetworksModel_relaxComputationFloat32toFloat16(ANeuralNetworksModel *model, bool allow)
{
    FAKE_BEGIN();
    FAKE_WANT(model, UNEXPECTED_NULL, "no model");
    FAKE_WANT(!model->finished, BAD_STATE, "the model is finished");
    fake.relaxed = allow;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksModel_finish(ANeuralNetworksModel *model)
{
    FAKE_BEGIN();
    FAKE_WANT(model, UNEXPECTED_NULL, "no model");
    FAKE_WANT(!model->finished, BAD_STATE, "the model is finished");
    FAKE_WANT(model->identified, BAD_STATE, "inputs and outputs are not known");
    for (uint32_t i = 0; i < model->operand_count; i++) {
        struct fake_operand *operand = &model->operands[i];
        if (operand->has_value && !operand->value && operand->size > 0) operand->value = operand->small;
        FAKE_WANT(!operand->read || operand->has_value || operand->is_input || operand->writer >= 0, BAD_DATA,
                  "operand %u is read and has no value", i);
    }
    // An operation may read what a later one writes, but not in a circle: the delegate sends them in order.
    for (uint32_t i = 0; i < model->operation_count; i++)
        for (uint32_t k = 0; k < model->operations[i].input_count; k++)
            FAKE_WANT(model->operands[model->operations[i].inputs[k]].writer < (int)i, BAD_DATA,
                      "operation %u reads what is not there yet", i);
    model->finished = true;
    return ANEURALNETWORKS_NO_ERROR;
}
