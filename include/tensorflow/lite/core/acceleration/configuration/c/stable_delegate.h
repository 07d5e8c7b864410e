// SPDX-License-Identifier: Apache-2.0
//
// What a delegate library exports that works with any release of the runtime: see
// delegates/utils/experimental/stable_delegate/stable_delegate_interface.h.
#ifndef TENSORFLOW_LITE_CORE_ACCELERATION_CONFIGURATION_C_STABLE_DELEGATE_H_
#define TENSORFLOW_LITE_CORE_ACCELERATION_CONFIGURATION_C_STABLE_DELEGATE_H_

#include "tensorflow/lite/core/acceleration/configuration/c/delegate_plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

// Version of the struct below.
#define TFL_STABLE_DELEGATE_ABI_VERSION "1.0.0"

// All texts are static and of the form "1.2.3" where they are versions.
typedef struct TfLiteStableDelegate {
    // TFL_STABLE_DELEGATE_ABI_VERSION as it was when the delegate was compiled.
    const char* delegate_abi_version;
    // Vendor and delegate in lower case, such as "mycompany_npu".
    const char* delegate_name;
    const char* delegate_version;
    const TfLiteOpaqueDelegatePlugin* delegate_plugin;
} TfLiteStableDelegate;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_CORE_ACCELERATION_CONFIGURATION_C_STABLE_DELEGATE_H_
