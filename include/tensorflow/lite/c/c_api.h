// SPDX-License-Identifier: Apache-2.0
//
// The same as tensorflow/lite/core/c/c_api.h, and former names of some of its functions, for programs
// written or built for releases from 2.12 on. New code uses the names in the comments.
#ifndef TENSORFLOW_LITE_C_C_API_H_
#define TENSORFLOW_LITE_C_C_API_H_

#include "tensorflow/lite/core/c/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

// TfLiteOperatorCreate without user_data. Calls may pass user_data as a fourth argument, as later
// releases want it.
TFL_CAPI_EXPORT extern TfLiteRegistrationExternal* TfLiteRegistrationExternalCreate(
    TfLiteBuiltinOperator builtin_code, const char* custom_name, int version);

// TfLiteOperatorDelete
TFL_CAPI_EXPORT extern void TfLiteRegistrationExternalDelete(
    TfLiteRegistrationExternal* registration);

// TfLiteOperatorGetBuiltInCode
TFL_CAPI_EXPORT extern TfLiteBuiltinOperator TfLiteRegistrationExternalGetBuiltInCode(
    const TfLiteRegistrationExternal* registration);

// TfLiteOperatorGetVersion
TFL_CAPI_EXPORT extern int TfLiteRegistrationExternalGetVersion(
    const TfLiteRegistrationExternal* registration);

// TfLiteOperatorGetCustomName
TFL_CAPI_EXPORT extern const char* TfLiteRegistrationExternalGetCustomName(
    const TfLiteRegistrationExternal* registration);

// TfLiteOperatorSetInit
TFL_CAPI_EXPORT extern void TfLiteRegistrationExternalSetInit(
    TfLiteRegistrationExternal* registration,
    void* (*init)(TfLiteOpaqueContext* context, const char* buffer, size_t length));

// TfLiteOperatorSetFree
TFL_CAPI_EXPORT extern void TfLiteRegistrationExternalSetFree(
    TfLiteRegistrationExternal* registration,
    void (*free)(TfLiteOpaqueContext* context, void* data));

// TfLiteOperatorSetPrepare
TFL_CAPI_EXPORT extern void TfLiteRegistrationExternalSetPrepare(
    TfLiteRegistrationExternal* registration,
    TfLiteStatus (*prepare)(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node));

// TfLiteOperatorSetInvoke
TFL_CAPI_EXPORT extern void TfLiteRegistrationExternalSetInvoke(
    TfLiteRegistrationExternal* registration,
    TfLiteStatus (*invoke)(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node));

// TfLiteInterpreterOptionsAddOperator
TFL_CAPI_EXPORT extern void TfLiteInterpreterOptionsAddRegistrationExternal(
    TfLiteInterpreterOptions* options, TfLiteRegistrationExternal* registration);

// TfLiteInterpreterOptionsAddDelegate
TFL_CAPI_EXPORT extern void TfLiteInterpreterOptionsAddOpaqueDelegate(
    TfLiteInterpreterOptions* options, TfLiteOpaqueDelegate* delegate);

#ifdef __cplusplus
}  // extern "C"

inline TfLiteRegistrationExternal* TfLiteRegistrationExternalCreate(
    TfLiteBuiltinOperator builtin_code, const char* custom_name, int version, void* user_data) {
    return TfLiteOperatorCreate(builtin_code, custom_name, version, user_data);
}
#else
#define TfLiteRegistrationExternalCreate(...) \
    TFLITE_CREATE_WITH_4_(__VA_ARGS__, (void*)0, unused)
#define TFLITE_CREATE_WITH_4_(builtin_code, custom_name, version, user_data, ...) \
    TfLiteOperatorCreate(builtin_code, custom_name, version, user_data)
#endif

#endif  // TENSORFLOW_LITE_C_C_API_H_
