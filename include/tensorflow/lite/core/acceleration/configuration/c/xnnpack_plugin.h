// SPDX-License-Identifier: Apache-2.0
//
// The XNNPACK delegate as a table of functions.
#ifndef TENSORFLOW_LITE_CORE_ACCELERATION_CONFIGURATION_C_XNNPACK_PLUGIN_H_
#define TENSORFLOW_LITE_CORE_ACCELERATION_CONFIGURATION_C_XNNPACK_PLUGIN_H_

#include "tensorflow/lite/core/acceleration/configuration/c/delegate_plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

// Static. The delegate leaves every node to Halite's own kernels, so no setting changes what it does.
// get_delegate_errno is always 0.
TFL_CAPI_EXPORT extern const TfLiteDelegatePlugin* TfLiteXnnpackDelegatePluginCApi(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_CORE_ACCELERATION_CONFIGURATION_C_XNNPACK_PLUGIN_H_
