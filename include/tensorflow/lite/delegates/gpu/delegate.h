// SPDX-License-Identifier: Apache-2.0
//
// The GPU delegate: moves the parts of a graph that it can onto a GPU, and says which ops it left
// on the CPU and why. Works with Halite's own runtime and with TensorFlow Lite's.
// In C++ the options may be passed by reference too, unless TFLITE_GPU_NO_OPTIONS_BY_VALUE is
// defined before the include (the overload makes the function's address ambiguous).
#ifndef TENSORFLOW_LITE_DELEGATES_GPU_DELEGATE_H_
#define TENSORFLOW_LITE_DELEGATES_GPU_DELEGATE_H_

#include <stddef.h>
#include <stdint.h>

#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/delegates/gpu/delegate_options.h"

#ifdef __cplusplus
extern "C" {
#endif

// New delegate; options are copied, NULL means the defaults. Devices are opened later, when it is
// applied to a graph: a missing GPU makes that fail, not this. The caller frees it with
// TfLiteGpuDelegateV2Delete after every interpreter that uses it. NULL when memory is short.
TFL_CAPI_EXPORT extern TfLiteDelegate* TfLiteGpuDelegateV2Create(
    const TfLiteGpuDelegateOptionsV2* options);

// As above, for asynchronous runs on memory shared between devices (AHardwareBuffer, in buffers of
// the kind "ahardware_buffer_blob"), on a device of Vulkan that takes it: halite/gpu_async.h. NULL
// where the platform has no such memory, which is everywhere but Android.
TFL_CAPI_EXPORT extern TfLiteDelegate* TfLiteGpuDelegateV2CreateAsync(
    const TfLiteGpuDelegateOptionsV2* options);

// Frees a delegate and what it holds on the device. NULL is allowed.
TFL_CAPI_EXPORT extern void TfLiteGpuDelegateV2Delete(TfLiteDelegate* delegate);

// Entry points of a delegate library that is loaded at run time (external_delegate.h, Python's
// load_delegate). num_options keys and values: the names of the fields of
// TfLiteGpuDelegateOptionsV2 with numbers as text ("2", experimental_flags also "0x9"), where
// serialization_dir with model_token sets ENABLE_SERIALIZATION, and the names of fields of
// HaliteGpuDelegateOptions (halite/gpu_delegate.h): device, precision ("f32", "f16s", "f16"),
// quantized ("float", "exact"), require_full_delegation, take_small_partitions and
// keep_tensor_memory ("true", "false", "1", "0"), wait_limit_ms. A key given twice counts the last
// time. Returns NULL for an unknown key or a bad value, after telling report_error; where that is
// NULL, standard error.
TFL_CAPI_EXPORT extern TfLiteDelegate* tflite_plugin_create_delegate(
    const char* const* options_keys, const char* const* options_values, size_t num_options,
    void (*report_error)(const char*));

// Frees a delegate from tflite_plugin_create_delegate. NULL is allowed.
TFL_CAPI_EXPORT extern void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate);

#ifdef __cplusplus
}  // extern "C"

#ifndef TFLITE_GPU_NO_OPTIONS_BY_VALUE
// For code that passes the options themselves. They are copied.
inline TfLiteDelegate* TfLiteGpuDelegateV2Create(const TfLiteGpuDelegateOptionsV2& options) {
    return TfLiteGpuDelegateV2Create(&options);
}
#endif
#endif

#endif  // TENSORFLOW_LITE_DELEGATES_GPU_DELEGATE_H_
