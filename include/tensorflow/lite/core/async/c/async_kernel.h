// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous runs, the delegate's side: a set of callbacks that register buffers and start and
// await runs. A delegate returns it from the async_kernel callback of its operator.
// The kernel stays the delegate's: it deletes it when its node is freed. All callbacks are needed but
// register_buffer_slice, set_buffer_attributes and get_buffer_attributes. Those up to prepare come one
// at a time; eval, wait and finish may come from several threads, for different tasks.
// What a callback gets is lent for the call; lists that it returns must stay as long as the kernel.
#ifndef TENSORFLOW_LITE_CORE_ASYNC_C_ASYNC_KERNEL_H_
#define TENSORFLOW_LITE_CORE_ASYNC_C_ASYNC_KERNEL_H_

#include <stdbool.h>
#include <stddef.h>

#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/core/async/c/task.h"
#include "tensorflow/lite/core/async/c/types.h"
#include "tensorflow/lite/core/async/interop/c/attribute_map.h"
#include "tensorflow/lite/core/async/interop/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Kernel without callbacks. kernel_data is borrowed. The caller frees it with
// TfLiteAsyncKernelDelete. NULL when memory is short.
TFL_CAPI_EXPORT extern TfLiteAsyncKernel* TfLiteAsyncKernelCreate(void* kernel_data);

// What was given to TfLiteAsyncKernelCreate.
TFL_CAPI_EXPORT extern void* TfLiteAsyncKernelGetKernelData(const TfLiteAsyncKernel* async_kernel);

// Called with a buffer, its attributes and the handle that stands for it from then on.
TFL_CAPI_EXPORT extern void TfLiteAsyncKernelSetRegisterBuffer(
    TfLiteAsyncKernel* async_kernel,
    TfLiteStatus (*register_buffer)(TfLiteAsyncKernel* async_kernel, TfLiteOpaqueContext* context,
                                    TfLiteIoType io_type, const TfLiteBackendBuffer* buffer,
                                    const TfLiteAttributeMap* attrs, TfLiteBufferHandle handle));

// As above, for a part of a registered buffer.
TFL_CAPI_EXPORT extern void TfLiteAsyncKernelSetRegisterBufferSlice(
    TfLiteAsyncKernel* async_kernel,
    TfLiteStatus (*register_buffer_slice)(TfLiteAsyncKernel* async_kernel,
                                          TfLiteOpaqueContext* context,
                                          TfLiteBufferHandle buffer_pool,
                                          const TfLiteAttributeMap* attrs,
                                          TfLiteBufferHandle handle));

// Ends either of the two.
TFL_CAPI_EXPORT extern void TfLiteAsyncKernelSetUnregisterBuffer(
    TfLiteAsyncKernel* async_kernel,
    TfLiteStatus (*unregister_buffer)(TfLiteAsyncKernel* async_kernel,
                                      TfLiteOpaqueContext* context, TfLiteBufferHandle handle));

// Store the names of the kinds of buffers and synchronization objects that the kernel takes.
TFL_CAPI_EXPORT extern void TfLiteAsyncKernelSetSupportedBufferTypes(
    TfLiteAsyncKernel* async_kernel,
    void (*supported_buffer_types)(const TfLiteAsyncKernel* async_kernel, TfLiteIoType io_type,
                                   const char* const** types, size_t* n_types));
TFL_CAPI_EXPORT extern void TfLiteAsyncKernelSetSupportedSynchronizations(
    TfLiteAsyncKernel* async_kernel,
    void (*supported_synchronizations)(const TfLiteAsyncKernel* async_kernel,
                                       TfLiteIoType io_type, const char* const** types,
                                       size_t* n_types));

// Joins the user's wishes for a tensor with the kernel's needs into `merged`. Where they exclude
// each other: returns false, and stores the keys in `conflict` unless that is NULL.
TFL_CAPI_EXPORT extern void TfLiteAsyncKernelSetReconcileRestrictions(
    TfLiteAsyncKernel* async_kernel,
    bool (*reconcile_restrictions)(const TfLiteAsyncKernel* async_kernel,
                                   const TfLiteOpaqueContext* context,
                                   const TfLiteOpaqueNode* node, int tensor_index,
                                   const TfLiteAttributeMap* user_provided_attributes,
                                   TfLiteAttributeMap* merged, TfLiteAttributeMap* conflict));

// Fixes the attributes of a tensor, before prepare.
TFL_CAPI_EXPORT extern void TfLiteAsyncKernelSetSetAttributes(
    TfLiteAsyncKernel* async_kernel,
    TfLiteStatus (*set_attributes)(TfLiteAsyncKernel* async_kernel, TfLiteOpaqueContext* context,
                                   TfLiteOpaqueNode* node, int tensor_index,
                                   const TfLiteAttributeMap* attrs));

// Set and get the attributes of a buffer. The C interface has no function that calls them.
TFL_CAPI_EXPORT extern void TfLiteAsyncKernelSetSetBufferAttributes(
    TfLiteAsyncKernel* async_kernel,
    TfLiteStatus (*set_buffer_attributes)(TfLiteAsyncKernel* async_kernel,
                                          const TfLiteBackendBuffer* buffer,
                                          const TfLiteAttributeMap* attrs));
TFL_CAPI_EXPORT extern void TfLiteAsyncKernelSetGetBufferAttributes(
    TfLiteAsyncKernel* async_kernel,
    TfLiteStatus (*get_buffer_attributes)(TfLiteAsyncKernel* async_kernel,
                                          const TfLiteBackendBuffer* buffer,
                                          TfLiteAttributeMap* attrs));

// Makes ready to run, once all attributes are fixed.
TFL_CAPI_EXPORT extern void TfLiteAsyncKernelSetPrepare(
    TfLiteAsyncKernel* async_kernel,
    TfLiteStatus (*prepare)(TfLiteAsyncKernel* async_kernel, TfLiteOpaqueContext* context,
                            TfLiteOpaqueNode* node));

// Starts a run and returns. Waits itself for inputs with a synchronization object.
TFL_CAPI_EXPORT extern void TfLiteAsyncKernelSetEval(
    TfLiteAsyncKernel* async_kernel,
    TfLiteStatus (*eval)(TfLiteAsyncKernel* async_kernel, TfLiteOpaqueContext* context,
                         TfLiteOpaqueNode* node, TfLiteExecutionTask* task));

// Blocks until the run has finished, and returns how it went. Not called where eval failed.
TFL_CAPI_EXPORT extern void TfLiteAsyncKernelSetWait(
    TfLiteAsyncKernel* async_kernel,
    TfLiteStatus (*wait)(TfLiteAsyncKernel* async_kernel, TfLiteOpaqueContext* context,
                         TfLiteExecutionTask* task));

// Frees what the kernel keeps for a task, which is about to be deleted. No run of it is under way.
TFL_CAPI_EXPORT extern void TfLiteAsyncKernelSetFinish(
    TfLiteAsyncKernel* async_kernel,
    TfLiteStatus (*finish)(TfLiteAsyncKernel* async_kernel, TfLiteOpaqueContext* context,
                           TfLiteExecutionTask* task));

// Frees a kernel, not its kernel_data. NULL is allowed.
TFL_CAPI_EXPORT extern void TfLiteAsyncKernelDelete(TfLiteAsyncKernel* kernel);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_CORE_ASYNC_C_ASYNC_KERNEL_H_
