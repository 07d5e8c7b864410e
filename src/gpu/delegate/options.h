// SPDX-License-Identifier: Apache-2.0
// The options of a delegate in one form. In: the option structs of the four C interfaces, or keys and values of the
// plug-in interface. Out: struct gpu_options. If a struct contradicts itself, `problem` says so and is reported when
// the delegate is applied, as in the original.
#ifndef HALITE_GPU_DELEGATE_OPTIONS_H
#define HALITE_GPU_DELEGATE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/report.h"
#include "gpu/backend/backend.h"
#include "gpu/lang/kernel.h"
#include "halite/gpu_delegate.h"
#include "tensorflow/lite/delegates/gpu/delegate_options.h"
#include "tensorflow/lite/delegates/gpu/gl_delegate.h"
#ifndef TFLITE_GPU_NO_OPTIONS_BY_VALUE
#define TFLITE_GPU_NO_OPTIONS_BY_VALUE
#endif
#include "tensorflow/lite/delegates/gpu/metal_delegate.h"

struct gpu_options {
    const char *problem;          // why nothing will be delegated, static text; NULL if there is no problem
    const char *node_name;        // name of the operator that replaces partitions, static text
    enum gpu_precision precision; // the lowest that is allowed; a device that lacks it uses a higher one
    bool quantized;               // whether 8-bit tensors are taken
    bool exact_integers;          // they are computed with as integers, not as floats
    bool prefer_memory;           // small memory matters more than speed
    int max_partitions;           // >= 1
    bool full_delegation;         // fail if a node would stay on the CPU
    bool tune;                    // blocks of kernels are to be tried
    bool keep_tensor_memory;      // tensors get no memory of the backend
    bool sustained;               // a device may start slower if it is faster then
    bool skip_small;              // every partition but the first must be worth its copies
    char backend[16];             // "opencl": only this one; "": any
    char device[48];              // text for gpu_device_choose; "": not set
    HaliteGpuContext context;     // its api is kHaliteGpuApiNone without one
    // Of the application, whose buffers may be bound by the names of the original. NULL: what is current in the thread
    // that binds the first one.
    void *egl_display, *egl_context;
    // Made by the interface for Metal: on a device of Metal, inputs and outputs lie in slices of four channels, and
    // what is in a buffer of the application is not copied to its tensor.
    bool is_for_metal;
    enum gpu_wait wait;                    // where the backend knows several ways
    uint64_t wait_limit;                   // nanoseconds; 0: the backend's
    char *serialization_dir, *model_token; // either both are set or neither is
    uint64_t cache_bytes;                  // that the folder's files may have together
};

// Each function fills in all fields. False without memory or, for the keys, after a message. NULL stands for the
// default options.
bool gpu_options_from_v2(const TfLiteGpuDelegateOptionsV2 *from, struct gpu_options *options);
// The reporter gets a message about what is wrong with the struct.
bool gpu_options_from_halite(const HaliteGpuDelegateOptions *from, const struct hl_reporter *reporter,
                             struct gpu_options *options);
bool gpu_options_from_gl(const TfLiteGpuDelegateOptions *from, struct gpu_options *options);
bool gpu_options_know_api(HaliteGpuApi api);
bool gpu_options_from_metal(const TFLGpuDelegateOptions *from, struct gpu_options *options);
bool gpu_options_from_keys(const char *const *keys, const char *const *values, size_t count,
                           const struct hl_reporter *reporter, struct gpu_options *options);
void gpu_options_free(struct gpu_options *options);

#endif
