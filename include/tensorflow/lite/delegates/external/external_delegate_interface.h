// SPDX-License-Identifier: Apache-2.0
//
// What the author of an external delegate defines in a library of his own, for external_delegate.h and
// for Python's load_delegate.
#ifndef TENSORFLOW_LITE_DELEGATES_EXTERNAL_EXTERNAL_DELEGATE_INTERFACE_H_
#define TENSORFLOW_LITE_DELEGATES_EXTERNAL_EXTERNAL_DELEGATE_INTERFACE_H_

#include <stddef.h>
#include "tensorflow/lite/core/c/common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Before the definitions of the functions below.
#ifndef TFL_EXTERNAL_DELEGATE_EXPORT
#if !defined(_WIN32)
#define TFL_EXTERNAL_DELEGATE_EXPORT __attribute__((visibility("default")))
#elif defined(TFL_EXTERNAL_DELEGATE_COMPILE_LIBRARY)
#define TFL_EXTERNAL_DELEGATE_EXPORT __declspec(dllexport)
#else
#define TFL_EXTERNAL_DELEGATE_EXPORT __declspec(dllimport)
#endif
#endif

// New delegate from num_options keys and values, which are lent for the call and may be NULL if there
// are none. On failure NULL, after a message to report_error unless that is NULL.
extern TFL_EXTERNAL_DELEGATE_EXPORT TfLiteDelegate* tflite_plugin_create_delegate(
    const char* const* options_keys, const char* const* options_values, size_t num_options,
    void (*report_error)(const char*));

// Frees it. NULL is allowed.
extern TFL_EXTERNAL_DELEGATE_EXPORT void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_DELEGATES_EXTERNAL_EXTERNAL_DELEGATE_INTERFACE_H_
