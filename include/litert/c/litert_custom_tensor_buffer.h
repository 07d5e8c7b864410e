// SPDX-License-Identifier: Apache-2.0
// Memory that an accelerator brings for tensor buffers, and the functions with which the runtime handles it.
#ifndef LITERT_C_LITERT_CUSTOM_TENSOR_BUFFER_H_
#define LITERT_C_LITERT_CUSTOM_TENSOR_BUFFER_H_

#include <stddef.h>

#include "litert/c/litert_common.h"
#include "litert/c/litert_model_types.h"
#include "litert/c/litert_tensor_buffer_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void *HwMemoryHandle; // a cl_mem, or what else the kind of buffer has

// The head of what create and import give; whoever made it keeps more after it.
typedef struct HwMemoryInfo {
    void *memory_handle;       // what LiteRtGetTensorBufferCustomTensorBufferHandle answers
    HwMemoryHandle raw_handle; // what LiteRtGetTensorBufferOpenClMemory answers
} HwMemoryInfo;
typedef HwMemoryInfo *HwMemoryInfoPtr;

// device, queue: values of the environment's options that the handlers named, NULL where they are unset. bytes: of the
// buffer, packed_bytes: of the tensor without gaps; the larger one has to fit.
typedef LiteRtStatus (*CreateCustomTensorBuffer)(void *device, void *queue, const LiteRtRankedTensorType *tensor_type,
                                                 LiteRtTensorBufferType buffer_type, size_t bytes, size_t packed_bytes,
                                                 HwMemoryInfoPtr *memory);
// The same for memory of the user, which stays the user's.
typedef LiteRtStatus (*ImportCustomTensorBuffer)(void *device, void *queue, const LiteRtRankedTensorType *tensor_type,
                                                 LiteRtTensorBufferType buffer_type, HwMemoryHandle handle,
                                                 size_t bytes, size_t packed_bytes, HwMemoryInfoPtr *memory);
typedef LiteRtStatus (*DestroyCustomTensorBuffer)(HwMemoryInfoPtr memory);
// *host_memory: the tensor without gaps, until unlock.
typedef LiteRtStatus (*LockCustomTensorBuffer)(HwMemoryInfoPtr memory, LiteRtTensorBufferLockMode mode,
                                               void **host_memory);
typedef LiteRtStatus (*UnlockCustomTensorBuffer)(HwMemoryInfoPtr memory);
typedef LiteRtStatus (*ClearCustomTensorBuffer)(HwMemoryInfoPtr memory); // zero bytes throughout

#ifdef __cplusplus
}
#endif

#endif
