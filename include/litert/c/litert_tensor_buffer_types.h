// SPDX-License-Identifier: Apache-2.0
// Kinds of memory that a tensor buffer may have.
#ifndef LITERT_C_LITERT_TENSOR_BUFFER_TYPES_H_
#define LITERT_C_LITERT_TENSOR_BUFFER_TYPES_H_

#ifdef __cplusplus
extern "C" {
#endif

typedef enum LiteRtTensorBufferType {
    kLiteRtTensorBufferTypeUnknown = 0,
    kLiteRtTensorBufferTypeHostMemory = 1,
    kLiteRtTensorBufferTypeAhwb = 2,
    kLiteRtTensorBufferTypeIon = 3,
    kLiteRtTensorBufferTypeDmaBuf = 4,
    kLiteRtTensorBufferTypeFastRpc = 5,
    kLiteRtTensorBufferTypeGlBuffer = 6,
    kLiteRtTensorBufferTypeGlTexture = 7,
    // "Packed" ones hold the tensor as host memory does, the others a layout of the engine that made them.
    kLiteRtTensorBufferTypeOpenClBuffer = 10,
    kLiteRtTensorBufferTypeOpenClBufferFp16 = 11,
    kLiteRtTensorBufferTypeOpenClTexture = 12,
    kLiteRtTensorBufferTypeOpenClTextureFp16 = 13,
    kLiteRtTensorBufferTypeOpenClBufferPacked = 14,
    kLiteRtTensorBufferTypeOpenClImageBuffer = 15,
    kLiteRtTensorBufferTypeOpenClImageBufferFp16 = 16,
    kLiteRtTensorBufferTypeWebGpuBuffer = 20,
    kLiteRtTensorBufferTypeWebGpuBufferPacked = 26,
    kLiteRtTensorBufferTypeMetalBuffer = 30,
    kLiteRtTensorBufferTypeMetalBufferPacked = 34,
    kLiteRtTensorBufferTypeVulkanBuffer = 40,
    kLiteRtTensorBufferTypeVulkanBufferPacked = 46
} LiteRtTensorBufferType;

#ifdef __cplusplus
}
#endif

#endif
