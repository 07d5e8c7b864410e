// SPDX-License-Identifier: Apache-2.0
//
// Options of the GPU delegate. Start from TfLiteGpuDelegateOptionsV2Default() and change what is
// needed. Halite's own choices (device, precision) are in HaliteGpuDelegateOptions of
// halite/gpu_delegate.h and in the keys of tflite_plugin_create_delegate, so that this struct keeps
// TensorFlow Lite's layout.
#ifndef TENSORFLOW_LITE_DELEGATES_GPU_DELEGATE_OPTIONS_H_
#define TENSORFLOW_LITE_DELEGATES_GPU_DELEGATE_OPTIONS_H_

#include <stdint.h>

#include "tensorflow/lite/core/c/c_api_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// How the delegate is going to be used, by which the device "auto" chooses among the APIs of a card.
// It changes nothing else: plans come from a cost model and need no tuning at the start.
enum TfLiteGpuInferenceUsage {
    // Few invocations: the time to the first result matters.
    TFLITE_GPU_INFERENCE_PREFERENCE_FAST_SINGLE_ANSWER = 0,
    // Many invocations: speed matters more than the start. CUDA is taken before Vulkan where its
    // run-time compiler is installed: it starts up to a second later, and each invocation then takes
    // 45 to 90 % of the time.
    TFLITE_GPU_INFERENCE_PREFERENCE_SUSTAINED_SPEED = 1,
    // In between. As FAST_SINGLE_ANSWER.
    TFLITE_GPU_INFERENCE_PREFERENCE_BALANCED = 2
};

// What matters most. Each of the three priorities is a different one of these; the first is not
// AUTO, and once one is, so are those after it. Anything else makes applying the delegate fail.
enum TfLiteGpuInferencePriority {
    TFLITE_GPU_INFERENCE_PRIORITY_AUTO = 0,
    // Ranked first: float32 throughout; second: values are stored as half floats; third: half
    // arithmetic too. What a device lacks is raised to the next better one.
    TFLITE_GPU_INFERENCE_PRIORITY_MAX_PRECISION = 1,
    TFLITE_GPU_INFERENCE_PRIORITY_MIN_LATENCY = 2,
    TFLITE_GPU_INFERENCE_PRIORITY_MIN_MEMORY_USAGE = 3
};

// Bits for experimental_flags. Others are ignored.
enum TfLiteGpuExperimentalFlags {
    TFLITE_GPU_EXPERIMENTAL_FLAGS_NONE = 0,
    // Take 8-bit quantized ops too. On in the default options.
    TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_QUANT = 1,
    // OpenCL, or fail.
    TFLITE_GPU_EXPERIMENTAL_FLAGS_CL_ONLY = 2,
    // OpenGL ES 3.1, or fail; software devices of it are taken only when named. Not together with
    // CL_ONLY.
    TFLITE_GPU_EXPERIMENTAL_FLAGS_GL_ONLY = 4,
    // Keep compiled kernels in serialization_dir, for a quicker next start.
    TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_SERIALIZATION = 8
};

typedef struct TfLiteGpuDelegateOptionsV2 {
    // Older way to say priorities. -1: the priorities below count; 0: priority 1 is
    // MAX_PRECISION; else: priority 1 is MIN_LATENCY; in both cases the others are AUTO.
    int32_t is_precision_loss_allowed;

    // A TfLiteGpuInferenceUsage; another number makes applying the delegate fail.
    int32_t inference_preference;

    // Values of TfLiteGpuInferencePriority, the most important first.
    int32_t inference_priority1;
    int32_t inference_priority2;
    int32_t inference_priority3;

    // Bits of TfLiteGpuExperimentalFlags.
    int64_t experimental_flags;

    // Connected parts of the graph that may go to the GPU, the largest first. Below 1 counts as 1.
    int32_t max_delegated_partitions;

    // Directory that exists and can be written, and a name that says model and version: "auto" will
    // do, since a file says itself which graph it is for; HaliteModelFingerprint of halite/halite.h
    // tells two models of one graph apart as well. Copied. One NULL or empty: nothing is kept. Read
    // only with ENABLE_SERIALIZATION, so older, shorter structs without these two fields are fine
    // as long as the flag is off. A file there is used only if nobody but this user could write it
    // and it was made by this version of the library, for this device, driver, precision, name and
    // graph; any other is ignored, after a message, and replaced. That nothing can be kept there is
    // a message and no error.
    const char* serialization_dir;
    const char* model_token;

#ifdef TFLITE_DEBUG_DELEGATE
    // Delegate only nodes from the first to the last of these indices. Not read by Halite.
    int first_delegate_node_index;
    int last_delegate_node_index;
#endif
#ifdef TFLITE_GPU_ENABLE_INVOKE_LOOP
    // Times that the GPU work of one invocation is repeated, to measure it. Not read by Halite.
    int gpu_invoke_loop_times;
#endif
} TfLiteGpuDelegateOptionsV2;

// is_precision_loss_allowed -1, FAST_SINGLE_ANSWER, priorities MAX_PRECISION, AUTO, AUTO,
// ENABLE_QUANT, one partition, no serialization.
TFL_CAPI_EXPORT extern TfLiteGpuDelegateOptionsV2 TfLiteGpuDelegateOptionsV2Default(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_DELEGATES_GPU_DELEGATE_OPTIONS_H_
