// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous runs: the buffers and synchronization objects of one run. Tensors are named as in
// the signature, or by tensor index. Tasks come from TfLiteAsyncSignatureRunnerCreateTask.
#ifndef TENSORFLOW_LITE_CORE_ASYNC_C_TASK_H_
#define TENSORFLOW_LITE_CORE_ASYNC_C_TASK_H_

#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/core/async/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Sets the registered buffer of a tensor; kTfLiteNullBufferHandle takes it away. kTfLiteError for an
// unknown tensor or handle, a buffer registered for inputs and set for an output, and a task under way.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteExecutionTaskSetBuffer(TfLiteExecutionTask* task,
                                                                 TfLiteIoType io_type,
                                                                 const char* tensor_signature_name,
                                                                 TfLiteBufferHandle handle);
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteExecutionTaskSetBufferByIndex(TfLiteExecutionTask* task,
                                                                        int tensor_index,
                                                                        TfLiteBufferHandle handle);

// The buffer that was set; kTfLiteNullBufferHandle when there is none.
TFL_CAPI_EXPORT extern TfLiteBufferHandle TfLiteExecutionTaskGetBufferByName(
    const TfLiteExecutionTask* task, TfLiteIoType io_type, const char* tensor_signature_name);
TFL_CAPI_EXPORT extern TfLiteBufferHandle TfLiteExecutionTaskGetBufferByIndex(
    const TfLiteExecutionTask* task, int tensor_index);

// Sets the synchronization object of a tensor, which the caller keeps alive until the run has
// finished. NULL: none. kTfLiteError for an unknown tensor and a task under way.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteExecutionTaskSetSync(TfLiteExecutionTask* task,
                                                               TfLiteIoType io_type,
                                                               const char* tensor_signature_name,
                                                               TfLiteSynchronization* sync);
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteExecutionTaskSetSyncByIndex(TfLiteExecutionTask* task,
                                                                      int tensor_index,
                                                                      TfLiteSynchronization* sync);

// The object that was set, or NULL.
TFL_CAPI_EXPORT extern TfLiteSynchronization* TfLiteExecutionTaskGetSyncByName(
    const TfLiteExecutionTask* task, TfLiteIoType io_type, const char* tensor_signature_name);
TFL_CAPI_EXPORT extern TfLiteSynchronization* TfLiteExecutionTaskGetSyncByIndex(
    const TfLiteExecutionTask* task, int tensor_index);

// Data that a delegate's kernel keeps with the task. Not owned; NULL when nothing was set, and for a
// kernel that is not the task's.
TFL_CAPI_EXPORT extern void* TfLiteExecutionTaskGetDelegateExecutionData(
    const TfLiteExecutionTask* task, TfLiteAsyncKernel* kernel);
TFL_CAPI_EXPORT extern void TfLiteExecutionTaskSetDelegateExecutionData(
    TfLiteExecutionTask* task, TfLiteAsyncKernel* kernel, void* data);

// How the last run of the task went.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteExecutionTaskGetStatus(const TfLiteExecutionTask* task);
TFL_CAPI_EXPORT extern void TfLiteExecutionTaskSetStatus(TfLiteExecutionTask* task,
                                                         TfLiteStatus status);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_CORE_ASYNC_C_TASK_H_
