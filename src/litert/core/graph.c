// SPDX-License-Identifier: Apache-2.0
// What users ask of a model: its subgraphs, signatures and tensors, as model.c has laid them out.
#include <string.h>

#include "litert/c/litert_model.h"
#include "litert/core/core.h"

// ---- subgraphs ----------------------------------------------------------------------------------

LITERT_GETTER(LiteRtGetMainModelSubgraphIndex, LiteRtModel, LiteRtParamIndex, 0)
LITERT_GETTER(LiteRtGetNumModelSubgraphs, LiteRtModel, LiteRtParamIndex, object->subgraph_count)

LiteRtStatus LiteRtGetModelSubgraph(LiteRtModel model, LiteRtParamIndex index, LiteRtSubgraph *subgraph)
{
    LITERT_NEED(model && subgraph);
    LITERT_INDEX(index, model->subgraph_count);
    *subgraph = &model->subgraphs[index];
    return kLiteRtStatusOk;
}

static LiteRtStatus check_known(LiteRtSubgraph subgraph)
{
    if (subgraph->is_known) return kLiteRtStatusOk;
    return litert_fail(kLiteRtStatusErrorUnsupported,
                       "inputs and outputs of a subgraph that no signature names are not known");
}

static LiteRtStatus tensor_at(LiteRtSubgraph subgraph, const int *tensors, size_t index, LiteRtTensor *tensor)
{
    if (tensors[index] < 0 || (size_t)tensors[index] >= subgraph->tensor_count)
        return litert_fail(kLiteRtStatusErrorNotFound, "input or output %zu has no tensor", index);
    *tensor = &subgraph->tensors[tensors[index]];
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetNumSubgraphInputs(LiteRtSubgraph subgraph, LiteRtParamIndex *count)
{
    LITERT_NEED(subgraph && count);
    LiteRtStatus status = check_known(subgraph);
    if (status == kLiteRtStatusOk) *count = subgraph->input_count;
    return status;
}

LiteRtStatus LiteRtGetSubgraphInput(LiteRtSubgraph subgraph, LiteRtParamIndex index, LiteRtTensor *tensor)
{
    LITERT_NEED(subgraph && tensor);
    LiteRtStatus status = check_known(subgraph);
    if (status != kLiteRtStatusOk) return status;
    LITERT_INDEX(index, subgraph->input_count);
    return tensor_at(subgraph, subgraph->inputs, index, tensor);
}

LiteRtStatus LiteRtGetNumSubgraphOutputs(LiteRtSubgraph subgraph, LiteRtParamIndex *count)
{
    LITERT_NEED(subgraph && count);
    LiteRtStatus status = check_known(subgraph);
    if (status == kLiteRtStatusOk) *count = subgraph->output_count;
    return status;
}

LiteRtStatus LiteRtGetSubgraphOutput(LiteRtSubgraph subgraph, LiteRtParamIndex index, LiteRtTensor *tensor)
{
    LITERT_NEED(subgraph && tensor);
    LiteRtStatus status = check_known(subgraph);
    if (status != kLiteRtStatusOk) return status;
    LITERT_INDEX(index, subgraph->output_count);
    return tensor_at(subgraph, subgraph->outputs, index, tensor);
}

// ---- signatures ---------------------------------------------------------------------------------

LITERT_GETTER(LiteRtGetNumModelSignatures, LiteRtModel, LiteRtParamIndex, object->signature_count)

LiteRtStatus LiteRtGetModelSignature(LiteRtModel model, LiteRtParamIndex index, LiteRtSignature *signature)
{
    LITERT_NEED(model && signature);
    LITERT_INDEX(index, model->signature_count);
    *signature = &model->signatures[index];
    return kLiteRtStatusOk;
}

LITERT_GETTER(LiteRtGetSignatureKey, LiteRtSignature, const char *, object->key)
LITERT_GETTER(LiteRtGetSignatureSubgraph, LiteRtSignature, LiteRtSubgraph, object->graph)
LITERT_GETTER(LiteRtGetNumSignatureInputs, LiteRtSignature, LiteRtParamIndex, object->input_count)
LITERT_GETTER(LiteRtGetNumSignatureOutputs, LiteRtSignature, LiteRtParamIndex, object->output_count)

LiteRtStatus LiteRtGetSignatureInputName(LiteRtSignature signature, LiteRtParamIndex index, const char **name)
{
    LITERT_NEED(signature && name);
    LITERT_INDEX(index, signature->input_count);
    *name = signature->names[index];
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetSignatureOutputName(LiteRtSignature signature, LiteRtParamIndex index, const char **name)
{
    LITERT_NEED(signature && name);
    LITERT_INDEX(index, signature->output_count);
    *name = signature->names[signature->input_count + index];
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetSignatureInputTensorByIndex(LiteRtSignature signature, LiteRtParamIndex index,
                                                  LiteRtTensor *tensor)
{
    LITERT_NEED(signature && tensor);
    LITERT_INDEX(index, signature->input_count);
    return tensor_at(signature->graph, signature->tensors, index, tensor);
}

LiteRtStatus LiteRtGetSignatureOutputTensorByIndex(LiteRtSignature signature, LiteRtParamIndex index,
                                                   LiteRtTensor *tensor)
{
    LITERT_NEED(signature && tensor);
    LITERT_INDEX(index, signature->output_count);
    return tensor_at(signature->graph, signature->tensors, signature->input_count + index, tensor);
}

static LiteRtStatus find_tensor(LiteRtSignature signature, size_t first, size_t count, const char *name,
                                LiteRtTensor *tensor)
{
    for (size_t i = first; i < first + count; i++)
        if (strcmp(signature->names[i], name) == 0) return tensor_at(signature->graph, signature->tensors, i, tensor);
    return litert_fail(kLiteRtStatusErrorNotFound, "signature %s has no %s", signature->key, name);
}

LiteRtStatus LiteRtGetSignatureInputTensor(LiteRtSignature signature, const char *name, LiteRtTensor *tensor)
{
    LITERT_NEED(signature && name && tensor);
    return find_tensor(signature, 0, signature->input_count, name, tensor);
}

LiteRtStatus LiteRtGetSignatureOutputTensor(LiteRtSignature signature, const char *name, LiteRtTensor *tensor)
{
    LITERT_NEED(signature && name && tensor);
    return find_tensor(signature, signature->input_count, signature->output_count, name, tensor);
}

// ---- tensors ------------------------------------------------------------------------------------

LITERT_GETTER(LiteRtGetTensorName, LiteRtTensor, const char *, object->tensor->name ? object->tensor->name : "")
LITERT_GETTER(LiteRtGetTensorIndex, LiteRtTensor, uint32_t, object->index)
LITERT_GETTER(LiteRtGetTensorTypeId, LiteRtTensor, LiteRtTensorTypeId, kLiteRtRankedTensorType)

LiteRtStatus LiteRtGetUnrankedTensorType(LiteRtTensor tensor, LiteRtUnrankedTensorType *type)
{
    LITERT_NEED(tensor && type);
    return litert_fail(kLiteRtStatusErrorInvalidIrType, "tensor %u has a rank", (unsigned)tensor->index);
}

LiteRtStatus LiteRtGetRankedTensorType(LiteRtTensor tensor, LiteRtRankedTensorType *type)
{
    LITERT_NEED(tensor && type);
    LiteRtLayout layout;
    LiteRtStatus status = litert_model_layout(tensor->tensor, &layout);
    if (status != kLiteRtStatusOk) return status;
    *type = (LiteRtRankedTensorType){(LiteRtElementType)tensor->tensor->type, layout};
    return kLiteRtStatusOk;
}

static const TfLiteAffineQuantization *quantization_of(LiteRtTensor tensor)
{
    const TfLiteQuantization *quantization = &tensor->tensor->quantization;
    const TfLiteAffineQuantization *params = quantization->params;
    bool is_affine = quantization->type == kTfLiteAffineQuantization && params && params->scale && params->zero_point &&
                     params->scale->size > 0 && params->zero_point->size > 0;
    return is_affine ? params : NULL;
}

LiteRtStatus LiteRtGetQuantizationTypeId(LiteRtTensor tensor, LiteRtQuantizationTypeId *type_id)
{
    LITERT_NEED(tensor && type_id);
    const TfLiteAffineQuantization *params = quantization_of(tensor);
    if (tensor->tensor->quantization.type == kTfLiteBlockwiseQuantization)
        *type_id = kLiteRtQuantizationBlockWise;
    else if (!params)
        *type_id = kLiteRtQuantizationNone;
    else
        *type_id = params->scale->size > 1 ? kLiteRtQuantizationPerChannel : kLiteRtQuantizationPerTensor;
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetPerTensorQuantization(LiteRtTensor tensor, LiteRtQuantizationPerTensor *quantization)
{
    LITERT_NEED(tensor && quantization);
    const TfLiteAffineQuantization *params = quantization_of(tensor);
    if (!params || params->scale->size != 1)
        return litert_fail(kLiteRtStatusErrorInvalidIrType, "tensor %u is not quantized per tensor",
                           (unsigned)tensor->index);
    *quantization = (LiteRtQuantizationPerTensor){params->scale->data[0], params->zero_point->data[0]};
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetPerChannelQuantization(LiteRtTensor tensor, LiteRtQuantizationPerChannel *quantization)
{
    LITERT_NEED(tensor && quantization);
    const TfLiteAffineQuantization *params = quantization_of(tensor);
    if (!params || params->scale->size < 2)
        return litert_fail(kLiteRtStatusErrorInvalidIrType, "tensor %u is not quantized per channel",
                           (unsigned)tensor->index);
    *quantization = (LiteRtQuantizationPerChannel){
        .quantized_dimension = params->quantized_dimension,
        .num_channels = (uint64_t)params->scale->size,
        .scales = params->scale->data,
        .zero_points = tensor->zero_points,
    };
    return kLiteRtStatusOk;
}
