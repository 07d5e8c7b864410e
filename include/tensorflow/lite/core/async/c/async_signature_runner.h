// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous runs, the application's side: register buffers, agree on attributes, start runs and
// await them. For models of which one delegate with an async kernel took everything.
// In order: ReconcileRestrictions, SetAttributes, PrepareBackends, RegisterBuffer (at any time), then
// CreateTask, and for each run InvokeAsync and Wait; Finish at last. A call in the wrong order fails
// with a message and changes nothing.
// When the graph changes (an input is resized that the delegate does not allow for, another delegate is
// applied, the interpreter is deleted), runs under way are awaited, and the runner only reports from
// then on: finish its tasks, delete it, and get a new one.
#ifndef TENSORFLOW_LITE_CORE_ASYNC_C_ASYNC_SIGNATURE_RUNNER_H_
#define TENSORFLOW_LITE_CORE_ASYNC_C_ASYNC_SIGNATURE_RUNNER_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/lite/core/c/c_api.h"
#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/core/async/c/task.h"
#include "tensorflow/lite/core/async/c/types.h"
#include "tensorflow/lite/core/async/interop/c/attribute_map.h"
#include "tensorflow/lite/core/async/interop/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Runs one signature. Several threads may use it, each task by one thread at a time, where the
// delegate's kernel allows for that.
typedef struct TfLiteAsyncSignatureRunner TfLiteAsyncSignatureRunner;

// Runner for a signature, or with a NULL key for a model's only one. NULL when there is none or no
// delegate with an async kernel took the graph. The caller frees it with
// TfLiteAsyncSignatureRunnerDelete before the interpreter.
TFL_CAPI_EXPORT extern TfLiteAsyncSignatureRunner* TfLiteInterpreterGetAsyncSignatureRunner(
    const TfLiteInterpreter* interpreter, const char* signature_key);

// Registers a buffer, described by attrs, and stores its handle. The attributes must have the kind
// (kTfLiteBufferAttrKeyResourceTypeName). Buffer and attrs are lent for the call; the platform's buffer
// must live until TfLiteAsyncSignatureRunnerUnregisterBuffer. One that is registered for outputs may be
// an input too. Runners of one signature share handles.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteAsyncSignatureRunnerRegisterBuffer(
    TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteIoType io_type,
    const TfLiteBackendBuffer* buffer, const TfLiteAttributeMap* attrs,
    TfLiteBufferHandle* handle);

// Registers a part, described by attrs, of a registered buffer and stores its handle. A slice has no
// slices.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteAsyncSignatureRunnerRegisterBufferSlice(
    TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteBufferHandle buffer_pool,
    const TfLiteAttributeMap* attrs, TfLiteBufferHandle* handle);

// Gives up a handle of either of the two. kTfLiteError for an unknown handle, one with slices, and one
// that a run under way uses.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteAsyncSignatureRunnerUnregisterBuffer(
    TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteBufferHandle handle);

// Store the names of the kinds of buffers and synchronization objects that can be used. The
// runner's own.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteAsyncSignatureRunnerGetSupportedBufferTypes(
    const TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteIoType io_type,
    const char* const** types, size_t* num_types);
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteAsyncSignatureRunnerGetSupportedSynchronizationTypes(
    const TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteIoType io_type,
    const char* const** types, size_t* num_types);

// Joins the user's wishes for a tensor with the delegate's needs into `merged`. Where they exclude
// each other: returns false, and stores the keys in `conflict` unless that is NULL.
TFL_CAPI_EXPORT extern bool TfLiteAsyncSignatureRunnerReconcileRestrictions(
    const TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteIoType io_type,
    const char* name, const TfLiteAttributeMap* user_provided_attributes,
    TfLiteAttributeMap* merged, TfLiteAttributeMap* conflict);
TFL_CAPI_EXPORT extern bool TfLiteAsyncSignatureRunnerReconcileRestrictionsByIndex(
    const TfLiteAsyncSignatureRunner* async_signature_runner, int tensor_index,
    const TfLiteAttributeMap* user_provided_attributes, TfLiteAttributeMap* merged,
    TfLiteAttributeMap* conflict);

// Fixes the attributes of a tensor; attrs are best those that were merged.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteAsyncSignatureRunnerSetAttributes(
    TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteIoType io_type, const char* name,
    const TfLiteAttributeMap* attrs);
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteAsyncSignatureRunnerSetAttributesByIndex(
    TfLiteAsyncSignatureRunner* async_signature_runner, int tensor_index,
    const TfLiteAttributeMap* attrs);

// Makes the delegate ready to run. Again after each change of attributes. Gives the tensors memory
// where AllocateTensors was not called. kTfLiteError while a task is under way.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteAsyncSignatureRunnerPrepareBackends(
    TfLiteAsyncSignatureRunner* async_signature_runner);

// New task without buffers. Ends with TfLiteAsyncSignatureRunnerFinish. NULL when memory is short.
TFL_CAPI_EXPORT extern TfLiteExecutionTask* TfLiteAsyncSignatureRunnerCreateTask(
    TfLiteAsyncSignatureRunner* async_signature_runner);

// Starts a run. kTfLiteError when one is under way with this task, or a buffer is missing.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteAsyncSignatureRunnerInvokeAsync(
    TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteExecutionTask* task);

// Blocks until the run has finished and returns how it went. The task may then be started again.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteAsyncSignatureRunnerWait(
    TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteExecutionTask* task);

// Waits for a run under way and frees the task, also when it returns an error: that of the run which
// it waited for, or of the delegate's finish.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteAsyncSignatureRunnerFinish(
    TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteExecutionTask* task);

// Inputs and outputs: number, names (NULL out of range) and tensors (NULL for an unknown name).
// All are the interpreter's own.
TFL_CAPI_EXPORT extern size_t TfLiteAsyncSignatureRunnerGetInputCount(
    const TfLiteAsyncSignatureRunner* async_signature_runner);
TFL_CAPI_EXPORT extern const char* TfLiteAsyncSignatureRunnerGetInputName(
    const TfLiteAsyncSignatureRunner* async_signature_runner, int32_t input_index);
TFL_CAPI_EXPORT extern size_t TfLiteAsyncSignatureRunnerGetOutputCount(
    const TfLiteAsyncSignatureRunner* async_signature_runner);
TFL_CAPI_EXPORT extern const char* TfLiteAsyncSignatureRunnerGetOutputName(
    const TfLiteAsyncSignatureRunner* async_signature_runner, int32_t output_index);
TFL_CAPI_EXPORT extern const TfLiteOpaqueTensor* TfLiteAsyncSignatureRunnerGetInputTensor(
    TfLiteAsyncSignatureRunner* async_signature_runner, const char* input_name);
TFL_CAPI_EXPORT extern const TfLiteOpaqueTensor* TfLiteAsyncSignatureRunnerGetOutputTensor(
    const TfLiteAsyncSignatureRunner* async_signature_runner, const char* output_name);

// Tensor indices of the inputs and outputs, and the tensor at an index.
TFL_CAPI_EXPORT extern const int* TfLiteAsyncSignatureRunnerInputTensorIndices(
    const TfLiteAsyncSignatureRunner* async_signature_runner);
TFL_CAPI_EXPORT extern const int* TfLiteAsyncSignatureRunnerOutputTensorIndices(
    const TfLiteAsyncSignatureRunner* async_signature_runner);
TFL_CAPI_EXPORT extern const TfLiteOpaqueTensor* TfLiteAsyncSignatureRunnerGetTensor(
    const TfLiteAsyncSignatureRunner* async_signature_runner, int index);

// Frees a runner. Tasks that are left are awaited and finished, with a message. NULL is allowed.
TFL_CAPI_EXPORT extern void TfLiteAsyncSignatureRunnerDelete(
    TfLiteAsyncSignatureRunner* signature_runner);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_CORE_ASYNC_C_ASYNC_SIGNATURE_RUNNER_H_
