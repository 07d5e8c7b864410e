// SPDX-License-Identifier: Apache-2.0
// What a buffer for a tensor must be: kinds of memory, the best first, bytes, strides and alignment.
#ifndef LITERT_C_LITERT_TENSOR_BUFFER_REQUIREMENTS_H_
#define LITERT_C_LITERT_TENSOR_BUFFER_REQUIREMENTS_H_

#include <stdint.h>

#include "litert/c/litert_common.h"
#include "litert/c/litert_tensor_buffer_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Arrays are copied. The alignment is 64 bytes where none is given; it is a power of two.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateTensorBufferRequirements(int num_types, const LiteRtTensorBufferType *types,
                                                                     size_t bytes, int num_strides,
                                                                     const uint32_t *strides,
                                                                     LiteRtTensorBufferRequirements *requirements);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateTensorBufferRequirementsWithAlignment(
    int num_types, const LiteRtTensorBufferType *types, size_t bytes, int num_strides, const uint32_t *strides,
    size_t alignment, LiteRtTensorBufferRequirements *requirements);
LITERT_CAPI_EXPORT void LiteRtDestroyTensorBufferRequirements(LiteRtTensorBufferRequirements requirements);
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtGetNumTensorBufferRequirementsSupportedBufferTypes(LiteRtTensorBufferRequirements requirements, int *num_types);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferRequirementsSupportedTensorBufferType(
    LiteRtTensorBufferRequirements requirements, int index, LiteRtTensorBufferType *type);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferRequirementsBufferSize(LiteRtTensorBufferRequirements requirements,
                                                                            size_t *bytes);
// Without strides 0 and NULL.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferRequirementsStrides(LiteRtTensorBufferRequirements requirements,
                                                                         int *num_strides, const uint32_t **strides);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferRequirementsAlignment(LiteRtTensorBufferRequirements requirements,
                                                                           size_t *alignment);
// What serves both: kinds in the order of the first, the larger size and alignment. kLiteRtStatusErrorUnsupported where
// no kind is in both, or strides differ.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtJoinTensorBufferRequirements(LiteRtTensorBufferRequirements first,
                                                                   LiteRtTensorBufferRequirements second,
                                                                   LiteRtTensorBufferRequirements *joined);

#ifdef __cplusplus
}
#endif

#endif
