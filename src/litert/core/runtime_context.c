// SPDX-License-Identifier: Apache-2.0
// The functions that the core hands to accelerators. Those for kernels of delegates (the external buffer context) and
// for memory of GPUs are NULL: this runtime sets no such context and makes no such memory, so that nobody has a use for
// them.
#include <stdlib.h>

#include "litert/c/litert_environment.h"
#include "litert/c/litert_opaque_options.h"
#include "litert/c/litert_options.h"
#include "litert/c/litert_tensor_buffer_requirements.h"
#include "litert/core/core.h"

static LiteRtStatus wrap_delegate(TfLiteOpaqueDelegate *delegate, void (*deleter)(TfLiteOpaqueDelegate *delegate),
                                  LiteRtDelegateWrapper *wrapper)
{
    LITERT_NEED(delegate && deleter && wrapper);
    LiteRtDelegateWrapper made = calloc(1, sizeof *made);
    LITERT_MEMORY(made);
    *made = (struct LiteRtDelegateWrapperT){delegate, deleter};
    *wrapper = made;
    return kLiteRtStatusOk;
}

static LiteRtStatus unwrap_delegate(LiteRtDelegateWrapper wrapper, TfLiteOpaqueDelegate **delegate)
{
    LITERT_NEED(wrapper && delegate);
    *delegate = wrapper->delegate;
    return kLiteRtStatusOk;
}

static void has_gpu_environment(LiteRtEnvironment environment, bool *has)
{
    (void)environment;
    *has = false;
}

static LiteRtStatus add_environment_options(LiteRtEnvironment environment, int count, const LiteRtEnvOption *options,
                                            bool overwrite)
{
    (void)environment;
    (void)count;
    (void)options;
    (void)overwrite;
    return kLiteRtStatusErrorUnsupported;
}

static LiteRtStatus create_gpu_environment(LiteRtEnvironment environment, int count, const LiteRtEnvOption *options)
{
    (void)environment;
    (void)count;
    (void)options;
    return kLiteRtStatusErrorUnsupported;
}

LiteRtRuntimeContext *litert_runtime_context(void)
{
    // Accelerators take it as theirs to change by its type, and none does.
    static LiteRtRuntimeContext context = {
        .abi_header = {.struct_size = sizeof context, .major_version = 1, .minor_version = 2},
        .create_tensor_buffer_requirements = LiteRtCreateTensorBufferRequirements,
        .get_opaque_options = LiteRtGetOpaqueOptions,
        .find_opaque_options_data = LiteRtFindOpaqueOptionsData,
        .destroy_options = LiteRtDestroyOptions,
        .get_environment_options = LiteRtGetEnvironmentOptions,
        .get_environment_options_value = LiteRtGetEnvironmentOptionsValue,
        .environment_has_gpu_environment = has_gpu_environment,
        .add_environment_options = add_environment_options,
        .gpu_environment_create = create_gpu_environment,
        .wrap_delegate = wrap_delegate,
        .unwrap_delegate = unwrap_delegate,
        .create_tensor_buffer_from_host_memory = LiteRtCreateTensorBufferFromHostMemory,
        .create_managed_tensor_buffer = LiteRtCreateManagedTensorBuffer,
        .destroy_tensor_buffer = LiteRtDestroyTensorBuffer,
        .get_tensor_buffer_type = LiteRtGetTensorBufferType,
        .get_tensor_buffer_tensor_type = LiteRtGetTensorBufferTensorType,
        .get_tensor_buffer_size = LiteRtGetTensorBufferSize,
        .get_tensor_buffer_packed_size = LiteRtGetTensorBufferPackedSize,
        .get_tensor_buffer_offset = LiteRtGetTensorBufferOffset,
        .lock_tensor_buffer = LiteRtLockTensorBuffer,
        .unlock_tensor_buffer = LiteRtUnlockTensorBuffer,
        .get_tensor_buffer_host_memory = LiteRtGetTensorBufferHostMemory,
        .has_tensor_buffer_event = LiteRtHasTensorBufferEvent,
        .get_tensor_buffer_event = LiteRtGetTensorBufferEvent,
        .set_tensor_buffer_event = LiteRtSetTensorBufferEvent,
        .create_managed_event = LiteRtCreateManagedEvent,
        .get_event_event_type = LiteRtGetEventEventType,
        .wait_event = LiteRtWaitEvent,
        .get_options_hardware_accelerators = LiteRtGetOptionsHardwareAccelerators,
        .append_metric = LiteRtAppendMetric,
    };
    return &context;
}
