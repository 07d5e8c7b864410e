// SPDX-License-Identifier: Apache-2.0
// What an accelerator is to a runtime: a constant with the name LiteRtAcceleratorImpl in a shared library.
#ifndef LITERT_C_INTERNAL_LITERT_ACCELERATOR_DEF_H_
#define LITERT_C_INTERNAL_LITERT_ACCELERATOR_DEF_H_

#include "litert/c/internal/litert_abi_header.h"
#include "litert/c/internal/litert_custom_tensor_buffer_handlers_def.h"
#include "litert/c/internal/litert_runtime_context.h"

#ifdef __cplusplus
extern "C" {
#endif

// 200 bytes on a machine of 64 bits, major version 1. Functions that are not said to be optional must be there.
typedef struct LiteRtAcceleratorDef {
    LiteRtAbiHeader abi_header;
    LiteRtStatus (*get_name)(LiteRtAccelerator accelerator, const char **name);
    LiteRtStatus (*get_version)(LiteRtAccelerator accelerator, LiteRtApiVersion *version);
    LiteRtStatus (*get_hardware_support)(LiteRtAccelerator accelerator, LiteRtHwAcceleratorSet *supported_hardware);
    // Whether the delegate compiles graphs itself. The runtime applies one that does not to every model.
    LiteRtStatus (*is_tflite_delegate_responsible_for_jit_compilation)(LiteRtAccelerator accelerator, bool *does_jit);
    // Once for each compiled model. kLiteRtStatusOk with *wrapper NULL: this accelerator stays out of it.
    LiteRtStatus (*create_delegate)(LiteRtRuntimeContext *runtime_context, LiteRtEnvironment environment,
                                    LiteRtAccelerator accelerator, LiteRtOptions options,
                                    LiteRtDelegateWrapper *wrapper);
    // Both optional.
    LiteRtStatus (*start_metrics_collection)(LiteRtRuntimeContext *runtime_context, LiteRtDelegateWrapper wrapper,
                                             int detail_level);
    LiteRtStatus (*stop_metrics_collection)(LiteRtRuntimeContext *runtime_context, LiteRtDelegateWrapper wrapper,
                                            LiteRtMetrics metrics);
    LiteRtCustomTensorBufferHandlersDef buffer_handlers;
} LiteRtAcceleratorDef;

#ifdef __cplusplus
}
#endif

#endif
