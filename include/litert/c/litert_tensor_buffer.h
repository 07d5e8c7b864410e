// SPDX-License-Identifier: Apache-2.0
// Memory for a tensor. Halite's own libLiteRt has host memory alone; other kinds are refused with
// kLiteRtStatusErrorUnsupported.
#ifndef LITERT_C_LITERT_TENSOR_BUFFER_H_
#define LITERT_C_LITERT_TENSOR_BUFFER_H_

#include <stdbool.h>

#include "litert/c/litert_common.h"
#include "litert/c/litert_model_types.h"
#include "litert/c/litert_tensor_buffer_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LITERT_HOST_MEMORY_BUFFER_ALIGNMENT 64

typedef void (*LiteRtHostMemoryDeallocator)(void *memory);

// Memory of the caller at a multiple of 64, at least as large as the tensor. deallocator ends it with the buffer;
// without one it stays the caller's.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateTensorBufferFromHostMemory(const LiteRtRankedTensorType *tensor_type,
                                                                       void *memory, size_t bytes,
                                                                       LiteRtHostMemoryDeallocator deallocator,
                                                                       LiteRtTensorBuffer *buffer);
// Memory of the library, zero bytes at first: bytes of it, or what the tensor takes where that is more.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateManagedTensorBuffer(LiteRtEnvironment environment,
                                                                LiteRtTensorBufferType buffer_type,
                                                                const LiteRtRankedTensorType *tensor_type, size_t bytes,
                                                                LiteRtTensorBuffer *buffer);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateManagedTensorBufferFromRequirements(
    LiteRtEnvironment environment, const LiteRtRankedTensorType *tensor_type,
    LiteRtTensorBufferRequirements requirements, LiteRtTensorBuffer *buffer);
// Counts one user more, each of whom destroys the buffer.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDuplicateTensorBuffer(LiteRtTensorBuffer buffer);
LITERT_CAPI_EXPORT void LiteRtDestroyTensorBuffer(LiteRtTensorBuffer buffer);

LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferType(LiteRtTensorBuffer buffer, LiteRtTensorBufferType *type);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferTensorType(LiteRtTensorBuffer buffer,
                                                                LiteRtRankedTensorType *tensor_type);
// Bytes of the memory; of the tensor without gaps; and from the memory's start to the tensor: 0.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferSize(LiteRtTensorBuffer buffer, size_t *bytes);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferPackedSize(LiteRtTensorBuffer buffer, size_t *bytes);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferOffset(LiteRtTensorBuffer buffer, size_t *offset);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferHostMemory(LiteRtTensorBuffer buffer, void **memory);

// Waits for the buffer's event, if it has one, and lends the memory until unlock. kLiteRtStatusErrorRuntimeFailure for
// a buffer that is locked, or not locked.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtLockTensorBuffer(LiteRtTensorBuffer buffer, void **memory,
                                                       LiteRtTensorBufferLockMode mode);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtUnlockTensorBuffer(LiteRtTensorBuffer buffer);
// Zero bytes throughout.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtClearTensorBuffer(LiteRtTensorBuffer buffer);

// The event that whoever reads the buffer waits for: set gives it to the buffer, get lends it
// (kLiteRtStatusErrorNotFound: none), clear destroys it.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtHasTensorBufferEvent(LiteRtTensorBuffer buffer, bool *has_event);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferEvent(LiteRtTensorBuffer buffer, LiteRtEvent *event);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtSetTensorBufferEvent(LiteRtTensorBuffer buffer, LiteRtEvent event);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtClearTensorBufferEvent(LiteRtTensorBuffer buffer);

#ifdef __cplusplus
}
#endif

#endif
