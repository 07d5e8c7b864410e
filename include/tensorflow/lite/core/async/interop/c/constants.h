// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous runs: names of kinds of synchronization that every delegate may use.
#ifndef TENSORFLOW_LITE_CORE_ASYNC_INTEROP_C_CONSTANTS_H_
#define TENSORFLOW_LITE_CORE_ASYNC_INTEROP_C_CONSTANTS_H_

#include "tensorflow/lite/core/c/c_api_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Kind "no_sync_obj". An input is ready when the run starts; an output is ready when the wait for
// the run returns.
TFL_CAPI_EXPORT extern const char kTfLiteSyncTypeNoSyncObj[];

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_CORE_ASYNC_INTEROP_C_CONSTANTS_H_
