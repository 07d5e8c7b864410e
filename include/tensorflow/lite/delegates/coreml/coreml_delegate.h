// SPDX-License-Identifier: Apache-2.0
//
// The Core ML delegate, on Apple systems. This header compiles everywhere; elsewhere the create
// function returns NULL.
#ifndef TENSORFLOW_LITE_DELEGATES_COREML_COREML_DELEGATE_H_
#define TENSORFLOW_LITE_DELEGATES_COREML_COREML_DELEGATE_H_

#include "tensorflow/lite/core/c/c_api_types.h"
#include "tensorflow/lite/core/c/common.h"

#ifdef __cplusplus
extern "C" {
#endif

// On which devices to make a delegate.
typedef enum {
    // Only where there is a Neural Engine.
    TfLiteCoreMlDelegateDevicesWithNeuralEngine = 0,
    TfLiteCoreMlDelegateAllDevices = 1
} TfLiteCoreMlDelegateEnabledDevices;

typedef struct {
    TfLiteCoreMlDelegateEnabledDevices enabled_devices;
    // Core ML version to write models for: 2 or 3. 0: the newest that the system has. Another value
    // counts as the newest, after a message.
    int coreml_version;
    // Connected parts of the graph to take. 0: as many as there are.
    int max_delegated_partitions;
    // Parts with fewer ops stay on the CPU. 0 or less: 2.
    int min_nodes_per_partition;
} TfLiteCoreMlDelegateOptions;

// New delegate; options are copied, NULL means all zero. NULL, after a message that says why, where the
// system has no Core ML or the device is not enabled. The caller frees it with
// TfLiteCoreMlDelegateDelete after every interpreter that uses it.
TFL_CAPI_EXPORT extern TfLiteDelegate* TfLiteCoreMlDelegateCreate(
    const TfLiteCoreMlDelegateOptions* options);

// Frees a delegate. NULL is allowed.
TFL_CAPI_EXPORT extern void TfLiteCoreMlDelegateDelete(TfLiteDelegate* delegate);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_DELEGATES_COREML_COREML_DELEGATE_H_
