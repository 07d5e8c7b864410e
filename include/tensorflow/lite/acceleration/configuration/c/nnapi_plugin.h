// SPDX-License-Identifier: Apache-2.0
//
// The same as tensorflow/lite/core/acceleration/configuration/c/nnapi_plugin.h.
#ifndef TENSORFLOW_LITE_ACCELERATION_CONFIGURATION_C_NNAPI_PLUGIN_H_
#define TENSORFLOW_LITE_ACCELERATION_CONFIGURATION_C_NNAPI_PLUGIN_H_

#include "tensorflow/lite/core/acceleration/configuration/c/nnapi_plugin.h"

#endif  // TENSORFLOW_LITE_ACCELERATION_CONFIGURATION_C_NNAPI_PLUGIN_H_
