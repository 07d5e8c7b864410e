// SPDX-License-Identifier: Apache-2.0
// The functions of a runtime that it hands to accelerators, which so need no symbol of it. Each does what the function
// of the same name in litert/c does; those of the "external buffer context" are for kernels of delegates, which get
// that context from TfLiteContext.GetExternalContext with kTfLiteLiteRtBufferContext.
#ifndef LITERT_C_INTERNAL_LITERT_RUNTIME_CONTEXT_H_
#define LITERT_C_INTERNAL_LITERT_RUNTIME_CONTEXT_H_

#include "litert/c/internal/litert_abi_header.h"
#include "litert/c/litert_any.h"
#include "litert/c/litert_common.h"
#include "litert/c/litert_custom_tensor_buffer.h"
#include "litert/c/litert_environment_options.h"
#include "litert/c/litert_event_type.h"
#include "litert/c/litert_metrics.h"
#include "litert/c/litert_model_types.h"
#include "litert/c/litert_tensor_buffer_types.h"
#include "tensorflow/lite/c/c_api_types.h"
#include "tensorflow/lite/c/common.h"

#ifdef __cplusplus
extern "C" {
#endif

// 400 bytes in version 1.0, 408 in 1.1, 416 in 1.2.
typedef struct LiteRtRuntimeContext {
    LiteRtAbiHeader abi_header;
    LiteRtStatus (*create_tensor_buffer_requirements)(int type_count, const LiteRtTensorBufferType *types, size_t bytes,
                                                      int stride_count, const uint32_t *strides,
                                                      LiteRtTensorBufferRequirements *requirements);
    // The buffer of a tensor in the run that is going on: the caller destroys it.
    LiteRtStatus (*get_external_litert_buffer_context_tensor_buffer)(LiteRtExternalLiteRtBufferContext context,
                                                                     const TfLiteTensor *tensor,
                                                                     LiteRtTensorBuffer *buffer);
    LiteRtStatus (*external_litert_buffer_context_create_tensor_buffer)(LiteRtExternalLiteRtBufferContext context,
                                                                        const TfLiteTensor *tensor,
                                                                        LiteRtTensorBuffer *buffer);
    LiteRtStatus (*external_litert_buffer_context_register_tensor_buffer)(LiteRtExternalLiteRtBufferContext context,
                                                                          const TfLiteTensor *tensor,
                                                                          LiteRtTensorBuffer buffer);
    LiteRtStatus (*external_litert_buffer_context_unregister_tensor_buffer)(LiteRtExternalLiteRtBufferContext context,
                                                                            const TfLiteTensor *tensor);
    LiteRtStatus (*external_litert_buffer_context_register_buffer_requirements)(
        LiteRtExternalLiteRtBufferContext context, const TfLiteTensor *tensor,
        LiteRtTensorBufferRequirements requirements);
    LiteRtStatus (*external_litert_buffer_context_get_environment)(LiteRtExternalLiteRtBufferContext context,
                                                                   LiteRtEnvironment *environment);
    LiteRtStatus (*external_litert_buffer_context_is_async_execution_mode)(LiteRtExternalLiteRtBufferContext context,
                                                                           bool *is_async);
    void (*external_litert_buffer_context_destroy)(LiteRtExternalLiteRtBufferContext context);
    LiteRtStatus (*get_opaque_options)(LiteRtOptions options, LiteRtOpaqueOptions *opaque_options);
    LiteRtStatus (*find_opaque_options_data)(LiteRtOpaqueOptions options, const char *identifier, void **data);
    void (*destroy_options)(LiteRtOptions options);
    LiteRtStatus (*get_environment_options)(LiteRtEnvironment environment, LiteRtEnvironmentOptions *options);
    LiteRtStatus (*get_environment_options_value)(LiteRtEnvironmentOptions options, LiteRtEnvOptionTag tag,
                                                  LiteRtAny *value);
    void (*environment_has_gpu_environment)(LiteRtEnvironment environment, bool *has_gpu_environment);
    LiteRtStatus (*add_environment_options)(LiteRtEnvironment environment, int count, const LiteRtEnvOption *options,
                                            bool overwrite);
    LiteRtStatus (*gpu_environment_create)(LiteRtEnvironment environment, int count, const LiteRtEnvOption *options);
    // The wrapper owns the delegate: deleter ends it.
    LiteRtStatus (*wrap_delegate)(TfLiteOpaqueDelegate *delegate, void (*deleter)(TfLiteOpaqueDelegate *delegate),
                                  LiteRtDelegateWrapper *wrapper);
    LiteRtStatus (*unwrap_delegate)(LiteRtDelegateWrapper wrapper, TfLiteOpaqueDelegate **delegate);
    LiteRtStatus (*create_tensor_buffer_from_host_memory)(const LiteRtRankedTensorType *tensor_type, void *memory,
                                                          size_t bytes, void (*deallocator)(void *memory),
                                                          LiteRtTensorBuffer *buffer);
    LiteRtStatus (*create_managed_tensor_buffer)(LiteRtEnvironment environment, LiteRtTensorBufferType buffer_type,
                                                 const LiteRtRankedTensorType *tensor_type, size_t bytes,
                                                 LiteRtTensorBuffer *buffer);
    void (*destroy_tensor_buffer)(LiteRtTensorBuffer buffer);
    LiteRtStatus (*get_tensor_buffer_type)(LiteRtTensorBuffer buffer, LiteRtTensorBufferType *buffer_type);
    LiteRtStatus (*get_tensor_buffer_tensor_type)(LiteRtTensorBuffer buffer, LiteRtRankedTensorType *tensor_type);
    LiteRtStatus (*get_tensor_buffer_size)(LiteRtTensorBuffer buffer, size_t *bytes);
    LiteRtStatus (*get_tensor_buffer_packed_size)(LiteRtTensorBuffer buffer, size_t *bytes);
    LiteRtStatus (*get_tensor_buffer_offset)(LiteRtTensorBuffer buffer, size_t *offset);
    LiteRtStatus (*lock_tensor_buffer)(LiteRtTensorBuffer buffer, void **memory, LiteRtTensorBufferLockMode mode);
    LiteRtStatus (*unlock_tensor_buffer)(LiteRtTensorBuffer buffer);
    LiteRtStatus (*get_tensor_buffer_host_memory)(LiteRtTensorBuffer buffer, void **memory);
    LiteRtStatus (*get_tensor_buffer_opencl_memory)(LiteRtTensorBuffer buffer, void **cl_mem_object);
    LiteRtStatus (*get_tensor_buffer_gl_buffer)(LiteRtTensorBuffer buffer, unsigned int *target, unsigned int *id,
                                                size_t *bytes, size_t *offset);
    LiteRtStatus (*get_tensor_buffer_custom_tensor_buffer_handle)(LiteRtTensorBuffer buffer, HwMemoryHandle *handle);
    LiteRtStatus (*get_tensor_buffer_ahwb)(LiteRtTensorBuffer buffer, void **hardware_buffer);
    LiteRtStatus (*get_tensor_buffer_dma_buf_buffer)(LiteRtTensorBuffer buffer, void **memory, int *descriptor);
    LiteRtStatus (*get_tensor_buffer_fast_rpc_buffer)(LiteRtTensorBuffer buffer, void **memory, int *descriptor);
    LiteRtStatus (*has_tensor_buffer_event)(LiteRtTensorBuffer buffer, bool *has_event);
    LiteRtStatus (*get_tensor_buffer_event)(LiteRtTensorBuffer buffer, LiteRtEvent *event);
    LiteRtStatus (*set_tensor_buffer_event)(LiteRtTensorBuffer buffer, LiteRtEvent event);
    LiteRtStatus (*create_managed_event)(LiteRtEnvironment environment, LiteRtEventType type, LiteRtEvent *event);
    LiteRtStatus (*create_event_from_sync_fence_fd)(LiteRtEnvironment environment, int descriptor, bool owns_descriptor,
                                                    LiteRtEvent *event);
    LiteRtStatus (*get_event_event_type)(LiteRtEvent event, LiteRtEventType *type);
    LiteRtStatus (*get_event_sync_fence_fd)(LiteRtEvent event, int *descriptor);
    LiteRtStatus (*create_event_from_opencl_event)(LiteRtEnvironment environment, void *cl_event_object,
                                                   LiteRtEvent *event);
    LiteRtStatus (*get_event_opencl_event)(LiteRtEvent event, void **cl_event_object);
    LiteRtStatus (*set_custom_event)(LiteRtEvent event, void *custom_event);
    LiteRtStatus (*get_custom_event)(LiteRtEvent event, void **custom_event);
    LiteRtStatus (*wait_event)(LiteRtEvent event, int64_t milliseconds);
    // Options of this run alone, or NULL.
    LiteRtStatus (*external_litert_buffer_context_get_run_options)(LiteRtExternalLiteRtBufferContext context,
                                                                   LiteRtOptions *options);
    // Since 1.1.
    LiteRtStatus (*get_options_hardware_accelerators)(LiteRtOptions options, LiteRtHwAcceleratorSet *accelerators);
    // Since 1.2. The name is copied.
    LiteRtStatus (*append_metric)(LiteRtMetrics metrics, const LiteRtMetric *metric);
} LiteRtRuntimeContext;

#ifdef __cplusplus
}
#endif

#endif
