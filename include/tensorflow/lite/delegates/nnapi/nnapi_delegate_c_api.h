// SPDX-License-Identifier: Apache-2.0
//
// The delegate for Android's neural network interface (NNAPI), in libtensorflowlite_nnapi_delegate. Where
// the system has no such interface, or no device for it, the delegate takes no node and says why. All other
// options of the original go by key and value through tflite_plugin_create_delegate
// (external_delegate_interface.h); docs/delegates.md lists them.
#ifndef TENSORFLOW_LITE_DELEGATES_NNAPI_NNAPI_DELEGATE_C_API_H_
#define TENSORFLOW_LITE_DELEGATES_NNAPI_NNAPI_DELEGATE_C_API_H_

#include "tensorflow/lite/core/c/common.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TfLiteNnapiDelegateOptions {
    // Power against speed, as NNAPI's compilation preference.
    enum ExecutionPreference {
        kUndefined = -1,
        kLowPower = 0,
        kFastSingleAnswer = 1,
        kSustainedSpeed = 2
    } execution_preference;
    // The device that NNAPI is to use, or NULL for any. The texts are lent to Create.
    const char* accelerator_name;
    // Folder and name for compiled models, or NULL.
    const char* cache_dir;
    const char* model_token;
    // Not 0: leave NNAPI's own CPU device out.
    int disallow_nnapi_cpu;
    // Not 0: compute float32 in half precision.
    int allow_fp16;
    // Partitions to take at most; 0 or below: any number.
    int max_number_delegated_partitions;
    // An NNAPI implementation of the application's, or NULL for the system's.
    void* nnapi_support_library_handle;
} TfLiteNnapiDelegateOptions;

// Undefined preference, no names, disallow_nnapi_cpu 1, 3 partitions, the rest 0.
TFL_CAPI_EXPORT extern TfLiteNnapiDelegateOptions TfLiteNnapiDelegateOptionsDefault(void);

// New delegate, to be freed with TfLiteNnapiDelegateDelete after every interpreter that uses it. NULL
// on failure.
TFL_CAPI_EXPORT extern TfLiteDelegate* TfLiteNnapiDelegateCreate(
    const TfLiteNnapiDelegateOptions* options);

// Frees it. NULL is allowed.
TFL_CAPI_EXPORT extern void TfLiteNnapiDelegateDelete(TfLiteDelegate* delegate);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_DELEGATES_NNAPI_NNAPI_DELEGATE_C_API_H_
