// SPDX-License-Identifier: Apache-2.0
// What a user asked of the delegate, in one form. In: the option structs of the four C interfaces, or keys and values
// of the plug-in interface. Out: struct gpu_options. A struct that contradicts itself is told when the delegate is
// applied (as the original does), through `problem`.
#ifndef HALITE_GPU_DELEGATE_OPTIONS_H
#define HALITE_GPU_DELEGATE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/report.h"
#include "gpu/lang/kernel.h"
#include "halite/gpu_delegate.h"
#include "tensorflow/lite/delegates/gpu/delegate_options.h"
#include "tensorflow/lite/delegates/gpu/gl_delegate.h"
#ifndef TFLITE_GPU_NO_OPTIONS_BY_VALUE
#define TFLITE_GPU_NO_OPTIONS_BY_VALUE
#endif
#include "tensorflow/lite/delegates/gpu/metal_delegate.h"

struct gpu_options {
    const char *problem;          // why nothing will be delegated; NULL: all is well. Static text
    const char *node_name;        // of the kernel's registration, static text
    enum gpu_precision precision; // the least precise that is allowed; the device may make it better
    bool quantized;               // take 8-bit tensors
    bool prefer_memory;           // small memory before short time
    enum TfLiteGpuInferenceUsage usage;
    int max_partitions;                    // >= 1
    bool full_delegation;                  // fail rather than leave a node on the CPU
    bool skip_small;                       // partitions behind the first must be worth their copies
    char backend[16];                      // "opencl": no other; "": any
    char device[48];                       // text for gpu_device_choose; "": not said
    char *serialization_dir, *model_token; // both or none
};

// Each fills all fields; false without memory or, for the keys, after a message. NULL options: the defaults.
bool gpu_options_from_v2(const TfLiteGpuDelegateOptionsV2 *from, struct gpu_options *options);
// The reporter gets what is wrong with the struct.
bool gpu_options_from_halite(const HaliteGpuDelegateOptions *from, const struct hl_reporter *reporter,
                             struct gpu_options *options);
bool gpu_options_from_gl(const TfLiteGpuDelegateOptions *from, struct gpu_options *options);
bool gpu_options_from_metal(const TFLGpuDelegateOptions *from, struct gpu_options *options);
bool gpu_options_from_keys(const char *const *keys, const char *const *values, size_t count,
                           const struct hl_reporter *reporter, struct gpu_options *options);
void gpu_options_free(struct gpu_options *options);

#endif
