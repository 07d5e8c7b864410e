// SPDX-License-Identifier: Apache-2.0
//
// The NNAPI delegate as a table of functions. In libtensorflowlite_nnapi_delegate.
#ifndef TENSORFLOW_LITE_CORE_ACCELERATION_CONFIGURATION_C_NNAPI_PLUGIN_H_
#define TENSORFLOW_LITE_CORE_ACCELERATION_CONFIGURATION_C_NNAPI_PLUGIN_H_

#include "tensorflow/lite/core/acceleration/configuration/c/delegate_plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

// Static. Halite does not read settings: with any it makes the delegate with the default options, and
// says so on standard error. get_delegate_errno gives the result code of NNAPI's last call that failed, or 0.
TFL_CAPI_EXPORT extern const TfLiteDelegatePlugin* TfLiteNnapiDelegatePluginCApi(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_CORE_ACCELERATION_CONFIGURATION_C_NNAPI_PLUGIN_H_
