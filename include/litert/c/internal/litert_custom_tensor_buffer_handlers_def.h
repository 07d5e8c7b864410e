// SPDX-License-Identifier: Apache-2.0
// The kinds of tensor buffers that an accelerator brings.
#ifndef LITERT_C_INTERNAL_LITERT_CUSTOM_TENSOR_BUFFER_HANDLERS_DEF_H_
#define LITERT_C_INTERNAL_LITERT_CUSTOM_TENSOR_BUFFER_HANDLERS_DEF_H_

#include "litert/c/internal/litert_abi_header.h"
#include "litert/c/litert_custom_tensor_buffer.h"
#include "litert/c/litert_environment_options.h"

#ifdef __cplusplus
extern "C" {
#endif

// 136 bytes on a machine of 64 bits.
typedef struct LiteRtCustomTensorBufferHandlersDef {
    LiteRtAbiHeader abi_header;
    CreateCustomTensorBuffer create_func;
    DestroyCustomTensorBuffer destroy_func;
    LockCustomTensorBuffer lock_func;
    UnlockCustomTensorBuffer unlock_func;
    ClearCustomTensorBuffer clear_func;
    ImportCustomTensorBuffer import_func;
    // Options of the environment whose int values create and import get; kLiteRtEnvOptionTagNull: none.
    LiteRtEnvOptionTag device_tag, queue_tag;
    size_t num_supported_buffer_types; // at most 15; with 0 all functions may be NULL
    LiteRtTensorBufferType supported_buffer_types[16];
} LiteRtCustomTensorBufferHandlersDef;

#ifdef __cplusplus
}
#endif

#endif
