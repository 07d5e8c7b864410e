// SPDX-License-Identifier: Apache-2.0
//
// The less common part of the C interface: op resolvers of one's own, variables, delegates applied
// later, memory of the application or of a device behind tensors.
// TensorFlow Lite calls these functions experimental; Halite keeps them like the others.
#ifndef TENSORFLOW_LITE_CORE_C_C_API_EXPERIMENTAL_H_
#define TENSORFLOW_LITE_CORE_C_C_API_EXPERIMENTAL_H_

#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/core/c/c_api.h"
#include "tensorflow/lite/core/c/common.h"

#ifdef __cplusplus
extern "C" {
#endif

struct TfLiteTelemetryProfilerStruct;

// ---------------------------------------------------------------------------------------------
// Variables

// Sets all variable tensors to zero. kTfLiteError before they have memory.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteInterpreterResetVariableTensors(
    TfLiteInterpreter* interpreter);

TFL_CAPI_EXPORT extern int32_t TfLiteInterpreterGetVariableTensorCount(
    const TfLiteInterpreter* interpreter);

// Variable tensor number variable_index. The interpreter's own. NULL out of range.
TFL_CAPI_EXPORT extern TfLiteTensor* TfLiteInterpreterGetVariableTensor(
    const TfLiteInterpreter* interpreter, int32_t variable_index);

// ---------------------------------------------------------------------------------------------
// Operators

// Adds an implementation of a built-in op for versions min_version to max_version, before the
// library's own. The registration is copied; the library sets builtin_code, custom_name and
// version of the copy. Fields after version are not read: older programs leave them undefined.
TFL_CAPI_EXPORT extern void TfLiteInterpreterOptionsAddBuiltinOp(
    TfLiteInterpreterOptions* options, TfLiteBuiltinOperator op,
    const TfLiteRegistration* registration, int32_t min_version, int32_t max_version);

// The same for the custom op called `name`, which is copied.
TFL_CAPI_EXPORT extern void TfLiteInterpreterOptionsAddCustomOp(
    TfLiteInterpreterOptions* options, const char* name, const TfLiteRegistration* registration,
    int32_t min_version, int32_t max_version);

// The functions from here to TfLiteInterpreterCreateWithSelectedOps replace the whole search for
// operators: once one is called, the library's own ops and those added above are not looked at.
// A find function returns NULL for an op it does not know. What it returns, and
// op_resolver_user_data, which it gets as user_data, must outlive the interpreter. Either function
// may be NULL. Where several are set the search goes: external, current, V3, V2, V1.
TFL_CAPI_EXPORT extern void TfLiteInterpreterOptionsSetOpResolverExternal(
    TfLiteInterpreterOptions* options,
    const TfLiteOperator* (*find_builtin_op)(void* user_data, int op, int version),
    const TfLiteOperator* (*find_custom_op)(void* user_data, const char* custom_op, int version),
    void* op_resolver_user_data);

// As above; the last two functions are asked when the first two know nothing.
TFL_CAPI_EXPORT extern void TfLiteInterpreterOptionsSetOpResolverExternalWithFallback(
    TfLiteInterpreterOptions* options,
    const TfLiteOperator* (*find_builtin_op_external)(void* user_data, int op, int version),
    const TfLiteOperator* (*find_custom_op_external)(void* user_data, const char* custom_op,
                                                     int version),
    const TfLiteRegistration* (*find_builtin_op)(void* user_data, TfLiteBuiltinOperator op,
                                                 int version),
    const TfLiteRegistration* (*find_custom_op)(void* user_data, const char* op, int version),
    void* op_resolver_user_data);

TFL_CAPI_EXPORT extern void TfLiteInterpreterOptionsSetOpResolver(
    TfLiteInterpreterOptions* options,
    const TfLiteRegistration* (*find_builtin_op)(void* user_data, TfLiteBuiltinOperator op,
                                                 int version),
    const TfLiteRegistration* (*find_custom_op)(void* user_data, const char* custom_op,
                                                int version),
    void* op_resolver_user_data);

// For programs built against earlier forms of TfLiteRegistration.
TFL_CAPI_EXPORT extern void TfLiteInterpreterOptionsSetOpResolverV3(
    TfLiteInterpreterOptions* options,
    const TfLiteRegistration_V3* (*find_builtin_op_v3)(void* user_data, TfLiteBuiltinOperator op,
                                                       int version),
    const TfLiteRegistration_V3* (*find_custom_op_v3)(void* user_data, const char* op,
                                                      int version),
    void* op_resolver_user_data);

TFL_CAPI_EXPORT extern void TfLiteInterpreterOptionsSetOpResolverV2(
    TfLiteInterpreterOptions* options,
    const TfLiteRegistration_V2* (*find_builtin_op_v2)(void* user_data, TfLiteBuiltinOperator op,
                                                       int version),
    const TfLiteRegistration_V2* (*find_custom_op_v2)(void* user_data, const char* op,
                                                      int version),
    void* op_resolver_user_data);

TFL_CAPI_EXPORT extern void TfLiteInterpreterOptionsSetOpResolverV1(
    TfLiteInterpreterOptions* options,
    const TfLiteRegistration_V1* (*find_builtin_op_v1)(void* user_data, TfLiteBuiltinOperator op,
                                                       int version),
    const TfLiteRegistration_V1* (*find_custom_op_v1)(void* user_data, const char* op,
                                                      int version),
    void* op_resolver_user_data);

// As TfLiteInterpreterCreate, with the ops of `options` only and none of the library's own.
TFL_CAPI_EXPORT extern TfLiteInterpreter* TfLiteInterpreterCreateWithSelectedOps(
    const TfLiteModel* model, const TfLiteInterpreterOptions* options);

// ---------------------------------------------------------------------------------------------
// Delegates

// Whether to try Android's NNAPI before the delegates of the options. Off by default; without
// effect where there is no NNAPI.
TFL_CAPI_EXPORT extern void TfLiteInterpreterOptionsSetUseNNAPI(TfLiteInterpreterOptions* options,
                                                                bool enable);

// Whether an invocation that fails in a delegate is repeated once without delegates. It then
// returns kTfLiteDelegateError if the repetition succeeded: outputs are valid, and no delegate is
// used from then on. Off by default.
TFL_CAPI_EXPORT extern void TfLiteInterpreterOptionsSetEnableDelegateFallback(
    TfLiteInterpreterOptions* options, bool enable);

// Applies a delegate to an interpreter. The caller keeps it alive until the interpreter is
// deleted. Allocate tensors afterwards. kTfLiteDelegateError: the delegate failed and the graph is
// as before; kTfLiteApplicationError: the graph's state forbids it.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteInterpreterModifyGraphWithDelegate(
    const TfLiteInterpreter* interpreter, TfLiteDelegate* delegate);

// Tensor index of input number input_index; -1 out of range.
TFL_CAPI_EXPORT extern int32_t TfLiteInterpreterGetInputTensorIndex(
    const TfLiteInterpreter* interpreter, int32_t input_index);

// Tensor index of output number output_index; -1 out of range.
TFL_CAPI_EXPORT extern int32_t TfLiteInterpreterGetOutputTensorIndex(
    const TfLiteInterpreter* interpreter, int32_t output_index);

// ---------------------------------------------------------------------------------------------
// Memory behind tensors

// Makes a tensor use the application's memory, which must outlive the interpreter. allocation is
// copied; flags are bits of TfLiteCustomAllocationFlags. Allocate tensors afterwards: that fails
// when it is too small. kTfLiteError when it is not aligned, or the tensor is neither in the arena
// nor already so set.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteInterpreterSetCustomAllocationForTensor(
    TfLiteInterpreter* interpreter, int tensor_index, const TfLiteCustomAllocation* allocation,
    int64_t flags);

// Says that a tensor's value lives under a handle of a delegate, which from then on owns it; the
// handle it had is freed. kTfLiteError for a constant or a tensor of another delegate.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteInterpreterSetBufferHandle(
    TfLiteInterpreter* interpreter, TfLiteTensor* tensor, TfLiteBufferHandle buffer_handle,
    TfLiteOpaqueDelegate* delegate);

// Stores a tensor's handle and delegate: kTfLiteNullBufferHandle and NULL when it has none.
// kTfLiteError when tensor_index is out of range.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteInterpreterGetBufferHandle(
    TfLiteInterpreter* interpreter, int tensor_index, TfLiteBufferHandle* buffer_handle,
    TfLiteOpaqueDelegate** delegate);

// Whether outputs may stay on a delegate's device after an invocation. Off by default: they are
// copied to TfLiteTensorData. Takes a const interpreter for compatibility; it does change it.
TFL_CAPI_EXPORT extern void TfLiteSetAllowBufferHandleOutput(const TfLiteInterpreter* interpreter,
                                                             bool allow_buffer_handle_output);

// Copies a tensor from its delegate to TfLiteTensorData if the delegate has the newer value.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteInterpreterEnsureTensorDataIsReadable(
    TfLiteInterpreter* interpreter, int tensor_index);

// ---------------------------------------------------------------------------------------------
// Others

// As TfLiteInterpreterCancel, for the signature's graph.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteSignatureRunnerCancel(
    TfLiteSignatureRunner* signature_runner);

// Reports events to a profiler (profiling/telemetry/c/profiler.h), which must outlive the
// interpreter.
TFL_CAPI_EXPORT extern void TfLiteInterpreterOptionsSetTelemetryProfiler(
    TfLiteInterpreterOptions* options, struct TfLiteTelemetryProfilerStruct* profiler);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_CORE_C_C_API_EXPERIMENTAL_H_
