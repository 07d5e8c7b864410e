// SPDX-License-Identifier: Apache-2.0
// Functions under the names that earlier releases had for them (tensorflow/lite/c/c_api.h): programs built with 2.12 to
// 2.15 ask for these symbols.
#include "tensorflow/lite/c/c_api.h"

#undef TfLiteRegistrationExternalCreate

TfLiteRegistrationExternal *TfLiteRegistrationExternalCreate(TfLiteBuiltinOperator builtin_code,
                                                             const char *custom_name, int version)
{
    return TfLiteOperatorCreate(builtin_code, custom_name, version, NULL);
}

void TfLiteRegistrationExternalDelete(TfLiteRegistrationExternal *registration)
{
    TfLiteOperatorDelete(registration);
}

TfLiteBuiltinOperator TfLiteRegistrationExternalGetBuiltInCode(const TfLiteRegistrationExternal *registration)
{
    return TfLiteOperatorGetBuiltInCode(registration);
}

int TfLiteRegistrationExternalGetVersion(const TfLiteRegistrationExternal *registration)
{
    return TfLiteOperatorGetVersion(registration);
}

const char *TfLiteRegistrationExternalGetCustomName(const TfLiteRegistrationExternal *registration)
{
    return TfLiteOperatorGetCustomName(registration);
}

void TfLiteRegistrationExternalSetInit(TfLiteRegistrationExternal *registration,
                                       void *(*init)(TfLiteOpaqueContext *, const char *, size_t))
{
    TfLiteOperatorSetInit(registration, init);
}

void TfLiteRegistrationExternalSetFree(TfLiteRegistrationExternal *registration,
                                       void (*free_state)(TfLiteOpaqueContext *, void *))
{
    TfLiteOperatorSetFree(registration, free_state);
}

void TfLiteRegistrationExternalSetPrepare(TfLiteRegistrationExternal *registration,
                                          TfLiteStatus (*prepare)(TfLiteOpaqueContext *, TfLiteOpaqueNode *))
{
    TfLiteOperatorSetPrepare(registration, prepare);
}

void TfLiteRegistrationExternalSetInvoke(TfLiteRegistrationExternal *registration,
                                         TfLiteStatus (*invoke)(TfLiteOpaqueContext *, TfLiteOpaqueNode *))
{
    TfLiteOperatorSetInvoke(registration, invoke);
}

void TfLiteInterpreterOptionsAddRegistrationExternal(TfLiteInterpreterOptions *options,
                                                     TfLiteRegistrationExternal *registration)
{
    TfLiteInterpreterOptionsAddOperator(options, registration);
}

void TfLiteInterpreterOptionsAddOpaqueDelegate(TfLiteInterpreterOptions *options, TfLiteOpaqueDelegate *delegate)
{
    TfLiteInterpreterOptionsAddDelegate(options, delegate);
}
