// SPDX-License-Identifier: Apache-2.0
// A model file: its subgraphs, tensors and signatures, to look at. Every file is verified while it is read. What these
// functions answer belongs to the model.
//
// Inputs and outputs are known of the primary subgraph (index 0) and of those that a signature names.
#ifndef LITERT_C_LITERT_MODEL_H_
#define LITERT_C_LITERT_MODEL_H_

#include "litert/c/litert_common.h"
#include "litert/c/litert_model_types.h"

#ifdef __cplusplus
extern "C" {
#endif

LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateModelFromFile(LiteRtEnvironment environment, const char *path,
                                                          LiteRtModel *model);
// The bytes must outlive the model.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateModelFromBuffer(LiteRtEnvironment environment, const void *bytes,
                                                            size_t size, LiteRtModel *model);
// size bytes from offset on, which are copied; the descriptor stays the caller's.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateModelFromFd(LiteRtEnvironment environment, int descriptor, size_t offset,
                                                        size_t size, LiteRtModel *model);
// After the compiled models that were made of it.
LITERT_CAPI_EXPORT void LiteRtDestroyModel(LiteRtModel model);

// Metadata of the file and what was added. kLiteRtStatusErrorNotFound where there is no such name.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetModelMetadata(LiteRtModel model, const char *name, const void **bytes,
                                                       size_t *size);
// Name and bytes are copied. kLiteRtStatusErrorAlreadyExists where the name is taken.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtAddModelMetadata(LiteRtModel model, const char *name, const void *bytes,
                                                       size_t size);

LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetMainModelSubgraphIndex(LiteRtModel model, LiteRtParamIndex *index);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNumModelSubgraphs(LiteRtModel model, LiteRtParamIndex *count);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetModelSubgraph(LiteRtModel model, LiteRtParamIndex index,
                                                       LiteRtSubgraph *subgraph);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNumSubgraphInputs(LiteRtSubgraph subgraph, LiteRtParamIndex *count);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSubgraphInput(LiteRtSubgraph subgraph, LiteRtParamIndex index,
                                                       LiteRtTensor *tensor);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNumSubgraphOutputs(LiteRtSubgraph subgraph, LiteRtParamIndex *count);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSubgraphOutput(LiteRtSubgraph subgraph, LiteRtParamIndex index,
                                                        LiteRtTensor *tensor);

// A model without signatures has one with the key "<placeholder signature>": its primary subgraph, with the names of
// its tensors.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNumModelSignatures(LiteRtModel model, LiteRtParamIndex *count);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetModelSignature(LiteRtModel model, LiteRtParamIndex index,
                                                        LiteRtSignature *signature);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSignatureKey(LiteRtSignature signature, const char **key);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSignatureSubgraph(LiteRtSignature signature, LiteRtSubgraph *subgraph);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNumSignatureInputs(LiteRtSignature signature, LiteRtParamIndex *count);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSignatureInputName(LiteRtSignature signature, LiteRtParamIndex index,
                                                            const char **name);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSignatureInputTensor(LiteRtSignature signature, const char *name,
                                                              LiteRtTensor *tensor);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSignatureInputTensorByIndex(LiteRtSignature signature, LiteRtParamIndex index,
                                                                     LiteRtTensor *tensor);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNumSignatureOutputs(LiteRtSignature signature, LiteRtParamIndex *count);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSignatureOutputName(LiteRtSignature signature, LiteRtParamIndex index,
                                                             const char **name);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSignatureOutputTensor(LiteRtSignature signature, const char *name,
                                                               LiteRtTensor *tensor);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSignatureOutputTensorByIndex(LiteRtSignature signature, LiteRtParamIndex index,
                                                                      LiteRtTensor *tensor);

// "" for a tensor without a name.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorName(LiteRtTensor tensor, const char **name);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorIndex(LiteRtTensor tensor, uint32_t *index);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorTypeId(LiteRtTensor tensor, LiteRtTensorTypeId *type_id);
// Halite knows the rank of every tensor: kLiteRtStatusErrorInvalidIrType for all.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetUnrankedTensorType(LiteRtTensor tensor, LiteRtUnrankedTensorType *type);
// Dimensions that the model leaves open are -1. kLiteRtStatusErrorUnsupported above LITERT_TENSOR_MAX_RANK.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetRankedTensorType(LiteRtTensor tensor, LiteRtRankedTensorType *type);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetQuantizationTypeId(LiteRtTensor tensor, LiteRtQuantizationTypeId *type_id);
// kLiteRtStatusErrorInvalidIrType where the tensor's quantization is another.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetPerTensorQuantization(LiteRtTensor tensor,
                                                               LiteRtQuantizationPerTensor *quantization);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetPerChannelQuantization(LiteRtTensor tensor,
                                                                LiteRtQuantizationPerChannel *quantization);

#ifdef __cplusplus
}
#endif

#endif
