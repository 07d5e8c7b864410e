// SPDX-License-Identifier: Apache-2.0
//
// A delegate as a table of functions, for code that makes delegates from settings in a file. Settings
// are a parsed FlatBuffer table of type TFLiteSettings, lent for the call; NULL means the defaults.
#ifndef TENSORFLOW_LITE_CORE_ACCELERATION_CONFIGURATION_C_DELEGATE_PLUGIN_H_
#define TENSORFLOW_LITE_CORE_ACCELERATION_CONFIGURATION_C_DELEGATE_PLUGIN_H_

#include "tensorflow/lite/core/c/common.h"

#ifdef __cplusplus
extern "C" {
#endif

// New delegate, or NULL on failure; destroy frees it.
typedef TfLiteDelegate* TfLiteDelegatePluginCreateFunc(const void* tflite_settings);
typedef void TfLiteDelegatePluginDestroyFunc(TfLiteDelegate* delegate);
// An error of the platform that the delegate's last call met, 0 if there was none. Its meaning is
// the delegate's own.
typedef int TfLiteDelegatePluginGetDelegateErrnoFunc(TfLiteDelegate* delegate);

typedef struct TfLiteDelegatePlugin {
    TfLiteDelegatePluginCreateFunc* create;
    TfLiteDelegatePluginDestroyFunc* destroy;
    TfLiteDelegatePluginGetDelegateErrnoFunc* get_delegate_errno;
} TfLiteDelegatePlugin;

// The same for delegates of which no struct is seen.
typedef TfLiteOpaqueDelegate* TfLiteOpaqueDelegatePluginCreateFunc(const void* tflite_settings);
typedef void TfLiteOpaqueDelegatePluginDestroyFunc(TfLiteOpaqueDelegate* delegate);
typedef int TfLiteOpaqueDelegatePluginGetDelegateErrnoFunc(TfLiteOpaqueDelegate* delegate);
#if defined(TFLITE_USE_OPAQUE_DELEGATE) && TFLITE_USE_OPAQUE_DELEGATE
typedef struct TfLiteOpaqueDelegatePlugin {
    TfLiteOpaqueDelegatePluginCreateFunc* create;
    TfLiteOpaqueDelegatePluginDestroyFunc* destroy;
    TfLiteOpaqueDelegatePluginGetDelegateErrnoFunc* get_delegate_errno;
} TfLiteOpaqueDelegatePlugin;
#else
typedef TfLiteDelegatePlugin TfLiteOpaqueDelegatePlugin;
#endif

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_CORE_ACCELERATION_CONFIGURATION_C_DELEGATE_PLUGIN_H_
