// SPDX-License-Identifier: Apache-2.0
//
// The GPU delegate as a table of functions. In libtensorflowlite_gpu_delegate.
#ifndef TENSORFLOW_LITE_CORE_ACCELERATION_CONFIGURATION_C_GPU_PLUGIN_H_
#define TENSORFLOW_LITE_CORE_ACCELERATION_CONFIGURATION_C_GPU_PLUGIN_H_

#include "tensorflow/lite/core/acceleration/configuration/c/delegate_plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

// Static. Halite does not read settings: with any it makes the delegate with the default options, and
// says so on standard error. get_delegate_errno is always 0.
TFL_CAPI_EXPORT extern const TfLiteDelegatePlugin* TfLiteGpuDelegatePluginCApi(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_CORE_ACCELERATION_CONFIGURATION_C_GPU_PLUGIN_H_
