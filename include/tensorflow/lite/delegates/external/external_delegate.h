// SPDX-License-Identifier: Apache-2.0
//
// A delegate from a shared library that is loaded at run time. The library exports
// tflite_plugin_create_delegate and tflite_plugin_destroy_delegate (delegates/gpu/delegate.h).
#ifndef TENSORFLOW_LITE_DELEGATES_EXTERNAL_EXTERNAL_DELEGATE_H_
#define TENSORFLOW_LITE_DELEGATES_EXTERNAL_EXTERNAL_DELEGATE_H_

#include "tensorflow/lite/core/c/c_api_types.h"
#include "tensorflow/lite/core/c/common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Length of the arrays below.
#define kExternalDelegateMaxOptions 256

// Library and options. Make it with TfLiteExternalDelegateOptionsDefault. The strings are borrowed
// until the delegate is created.
typedef struct TfLiteExternalDelegateOptions {
    // File name or path, searched as dlopen does.
    const char* lib_path;
    // Options that are set.
    int count;
    const char* keys[kExternalDelegateMaxOptions];
    const char* values[kExternalDelegateMaxOptions];
    // TfLiteExternalDelegateOptionsInsert.
    TfLiteStatus (*insert)(struct TfLiteExternalDelegateOptions* options, const char* key,
                           const char* value);
} TfLiteExternalDelegateOptions;

// Adds an option; the library decides which keys there are. kTfLiteError when all places are taken.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteExternalDelegateOptionsInsert(
    TfLiteExternalDelegateOptions* options, const char* key, const char* value);

// Options for a library, with no keys. lib_path is borrowed.
TFL_CAPI_EXPORT extern TfLiteExternalDelegateOptions TfLiteExternalDelegateOptionsDefault(
    const char* lib_path);

// Loads the library and makes its delegate. The caller frees it with
// TfLiteExternalDelegateDelete after every interpreter that uses it. NULL when the library cannot
// be loaded, lacks the entry points or refuses the options.
TFL_CAPI_EXPORT extern TfLiteDelegate* TfLiteExternalDelegateCreate(
    const TfLiteExternalDelegateOptions* options);

// Frees a delegate and lets go of its library. NULL is allowed.
TFL_CAPI_EXPORT extern void TfLiteExternalDelegateDelete(TfLiteDelegate* delegate);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_DELEGATES_EXTERNAL_EXTERNAL_DELEGATE_H_
