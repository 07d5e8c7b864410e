// SPDX-License-Identifier: Apache-2.0
//
// TfLiteOperator: an operator whose callbacks see opaque types only, so that it keeps working
// when struct layouts change. Give it to TfLiteInterpreterOptionsAddOperator, or hand it to
// TfLiteOpaqueContextReplaceNodeSubsetsWithDelegateKernels as a delegate's kernel.
// Each callback exists twice: plain, and "WithData", which also gets the operator's user_data.
// The WithData form wins when both are set.
#ifndef TENSORFLOW_LITE_CORE_C_OPERATOR_H_
#define TENSORFLOW_LITE_CORE_C_OPERATOR_H_

#include <stddef.h>
#include <stdint.h>

#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/core/c/c_api_types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct TfLiteAsyncKernel;

// New operator without callbacks. For a custom op or a delegate kernel, builtin_code is
// kTfLiteBuiltinCustom or kTfLiteBuiltinDelegate and custom_name its name; the text must outlive the operator.
// user_data is borrowed. The caller frees the operator with TfLiteOperatorDelete after every
// interpreter that uses it. NULL when memory is short.
TFL_CAPI_EXPORT extern TfLiteOperator* TfLiteOperatorCreate(TfLiteBuiltinOperator builtin_code,
                                                            const char* custom_name, int version,
                                                            void* user_data);

// Former name of TfLiteOperatorCreate, from when that had no user_data (TensorFlow 2.15 to 2.18): for
// programs built then.
TFL_CAPI_EXPORT extern TfLiteOperator* TfLiteOperatorCreateWithData(
    TfLiteBuiltinOperator builtin_code, const char* custom_name, int version, void* user_data);

// Frees an operator, not its user_data. NULL is allowed.
TFL_CAPI_EXPORT extern void TfLiteOperatorDelete(TfLiteOperator* registration);

// The values given to TfLiteOperatorCreate. The name belongs to the operator.
TFL_CAPI_EXPORT extern TfLiteBuiltinOperator
TfLiteOperatorGetBuiltInCode(const TfLiteOperator* registration);
TFL_CAPI_EXPORT extern const char*
TfLiteOperatorGetCustomName(const TfLiteOperator* registration);
TFL_CAPI_EXPORT extern int TfLiteOperatorGetVersion(const TfLiteOperator* registration);
TFL_CAPI_EXPORT extern void* TfLiteOperatorGetUserData(const TfLiteOperator* registration);

// init: called once for each node. buffer, lent for the call, holds the parameter struct of a
// built-in op (length 0), the option bytes of a custom op, or a TfLiteOpaqueDelegateParams. What
// it returns is the node's user data (TfLiteOpaqueNodeGetUserData); NULL is fine.
TFL_CAPI_EXPORT extern void TfLiteOperatorSetInit(
    TfLiteOperator* registration,
    void* (*init)(TfLiteOpaqueContext* context, const char* buffer, size_t length));
// The WithData forms return kTfLiteError, and change nothing, only when registration is NULL.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOperatorSetInitWithData(
    TfLiteOperator* registration, void* (*init)(void* user_data, TfLiteOpaqueContext* context,
                                                const char* buffer, size_t length));

// free: takes back what init returned.
TFL_CAPI_EXPORT extern void TfLiteOperatorSetFree(TfLiteOperator* registration,
                                                  void (*free)(TfLiteOpaqueContext* context,
                                                               void* data));
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOperatorSetFreeWithData(
    TfLiteOperator* registration,
    void (*free)(void* user_data, TfLiteOpaqueContext* context, void* data));

// prepare: checks the node and sets its outputs' shapes, each time shapes are fixed.
TFL_CAPI_EXPORT extern void TfLiteOperatorSetPrepare(
    TfLiteOperator* registration,
    TfLiteStatus (*prepare)(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node));
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOperatorSetPrepareWithData(
    TfLiteOperator* registration, TfLiteStatus (*prepare)(void* user_data,
                                                          TfLiteOpaqueContext* context,
                                                          TfLiteOpaqueNode* node));

// invoke: computes the outputs. An operator needs it.
TFL_CAPI_EXPORT extern void TfLiteOperatorSetInvoke(
    TfLiteOperator* registration,
    TfLiteStatus (*invoke)(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node));
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOperatorSetInvokeWithData(
    TfLiteOperator* registration,
    TfLiteStatus (*invoke)(void* user_data, TfLiteOpaqueContext* context, TfLiteOpaqueNode* node));

// async_kernel: makes the object for asynchronous runs of a delegate kernel; the operator's
// author keeps it alive.
TFL_CAPI_EXPORT extern void TfLiteOperatorSetAsyncKernel(
    TfLiteOperator* registration,
    struct TfLiteAsyncKernel* (*async_kernel)(TfLiteOpaqueContext* context,
                                              TfLiteOpaqueNode* node));
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteOperatorSetAsyncKernelWithData(
    TfLiteOperator* registration,
    struct TfLiteAsyncKernel* (*async_kernel)(void* user_data, TfLiteOpaqueContext* context,
                                              TfLiteOpaqueNode* node));

// Bits of TfLiteInPlaceOp (common.h): which outputs may use an input's memory.
TFL_CAPI_EXPORT extern void TfLiteOperatorSetInplaceOperator(TfLiteOperator* registration,
                                                             uint64_t inplace_operator);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_CORE_C_OPERATOR_H_
