// SPDX-License-Identifier: Apache-2.0
// The runtime's functions for asynchronous runs, as data: one row per function of core/async/c and core/async/interop/c
// that the delegate calls. The delegate needs no symbol of a runtime, so that any can load it; those that lack one of
// these have no asynchronous runs with it.
#ifndef HALITE_GPU_DELEGATE_ASYNC_RUNTIME_H
#define HALITE_GPU_DELEGATE_ASYNC_RUNTIME_H

#include "tensorflow/lite/core/async/c/async_kernel.h"
#include "tensorflow/lite/core/async/c/task.h"

// X(result, name after "TfLite", arguments)
// clang-format off
#define GPU_ASYNC_KERNEL_FUNCTIONS(X) \
    X(TfLiteAsyncKernel *, AsyncKernelCreate, (void *kernel_data)) \
    X(void, AsyncKernelDelete, (TfLiteAsyncKernel *kernel)) \
    X(void, AsyncKernelSetRegisterBuffer, (TfLiteAsyncKernel *kernel, \
        TfLiteStatus (*callback)(TfLiteAsyncKernel *, TfLiteOpaqueContext *, TfLiteIoType, const TfLiteBackendBuffer *, \
            const TfLiteAttributeMap *, TfLiteBufferHandle))) \
    X(void, AsyncKernelSetRegisterBufferSlice, (TfLiteAsyncKernel *kernel, \
        TfLiteStatus (*callback)(TfLiteAsyncKernel *, TfLiteOpaqueContext *, TfLiteBufferHandle, \
            const TfLiteAttributeMap *, TfLiteBufferHandle))) \
    X(void, AsyncKernelSetUnregisterBuffer, (TfLiteAsyncKernel *kernel, \
        TfLiteStatus (*callback)(TfLiteAsyncKernel *, TfLiteOpaqueContext *, TfLiteBufferHandle))) \
    X(void, AsyncKernelSetSupportedBufferTypes, (TfLiteAsyncKernel *kernel, \
        void (*callback)(const TfLiteAsyncKernel *, TfLiteIoType, const char *const **, size_t *))) \
    X(void, AsyncKernelSetSupportedSynchronizations, (TfLiteAsyncKernel *kernel, \
        void (*callback)(const TfLiteAsyncKernel *, TfLiteIoType, const char *const **, size_t *))) \
    X(void, AsyncKernelSetReconcileRestrictions, (TfLiteAsyncKernel *kernel, \
        bool (*callback)(const TfLiteAsyncKernel *, const TfLiteOpaqueContext *, const TfLiteOpaqueNode *, int, \
            const TfLiteAttributeMap *, TfLiteAttributeMap *, TfLiteAttributeMap *))) \
    X(void, AsyncKernelSetSetAttributes, (TfLiteAsyncKernel *kernel, \
        TfLiteStatus (*callback)(TfLiteAsyncKernel *, TfLiteOpaqueContext *, TfLiteOpaqueNode *, int, \
            const TfLiteAttributeMap *))) \
    X(void, AsyncKernelSetPrepare, (TfLiteAsyncKernel *kernel, \
        TfLiteStatus (*callback)(TfLiteAsyncKernel *, TfLiteOpaqueContext *, TfLiteOpaqueNode *))) \
    X(void, AsyncKernelSetEval, (TfLiteAsyncKernel *kernel, \
        TfLiteStatus (*callback)(TfLiteAsyncKernel *, TfLiteOpaqueContext *, TfLiteOpaqueNode *, TfLiteExecutionTask *))) \
    X(void, AsyncKernelSetWait, (TfLiteAsyncKernel *kernel, \
        TfLiteStatus (*callback)(TfLiteAsyncKernel *, TfLiteOpaqueContext *, TfLiteExecutionTask *))) \
    X(void, AsyncKernelSetFinish, (TfLiteAsyncKernel *kernel, \
        TfLiteStatus (*callback)(TfLiteAsyncKernel *, TfLiteOpaqueContext *, TfLiteExecutionTask *)))

#define GPU_ASYNC_OBJECT_FUNCTIONS(X) \
    X(bool, AttributeMapIsSyncAttributeMap, (const TfLiteAttributeMap *attrs)) \
    X(bool, AttributeMapGetSizeTBufferAttr, (const TfLiteAttributeMap *attrs, TfLiteBufferAttrKey key, size_t *value)) \
    X(bool, AttributeMapSetSizeTBufferAttr, (TfLiteAttributeMap *attrs, TfLiteBufferAttrKey key, size_t value)) \
    X(bool, AttributeMapGetStringBufferAttr, (const TfLiteAttributeMap *attrs, TfLiteBufferAttrKey key, \
        const char **value)) \
    X(bool, AttributeMapSetStringBufferAttr, (TfLiteAttributeMap *attrs, TfLiteBufferAttrKey key, const char *value)) \
    X(bool, AttributeMapGetStringSyncAttr, (const TfLiteAttributeMap *attrs, TfLiteSynchronizationAttrKey key, \
        const char **value)) \
    X(bool, AttributeMapSetStringSyncAttr, (TfLiteAttributeMap *attrs, TfLiteSynchronizationAttrKey key, \
        const char *value)) \
    X(bool, AttributeMapGetCustomIntAttr, (const TfLiteAttributeMap *attrs, const char *key, int *value)) \
    X(void *, BackendBufferGetPtr, (const TfLiteBackendBuffer *buffer)) \
    X(void *, SynchronizationGetPtr, (const TfLiteSynchronization *sync)) \
    X(TfLiteBufferHandle, ExecutionTaskGetBufferByIndex, (const TfLiteExecutionTask *task, int tensor)) \
    X(TfLiteSynchronization *, ExecutionTaskGetSyncByIndex, (const TfLiteExecutionTask *task, int tensor)) \
    X(void *, ExecutionTaskGetDelegateExecutionData, (const TfLiteExecutionTask *task, TfLiteAsyncKernel *kernel)) \
    X(void, ExecutionTaskSetDelegateExecutionData, (TfLiteExecutionTask *task, TfLiteAsyncKernel *kernel, void *data))
// clang-format on

struct gpu_async_runtime {
#define X(result, name, arguments) result(*name) arguments;
    GPU_ASYNC_KERNEL_FUNCTIONS(X)
    GPU_ASYNC_OBJECT_FUNCTIONS(X)
#undef X
};

// Finds the functions of the runtime that the context belongs to. Returns the name of one that it lacks, or NULL: it
// has all of them.
const char *gpu_async_runtime_find(const TfLiteContext *context, struct gpu_async_runtime *runtime);

#endif
