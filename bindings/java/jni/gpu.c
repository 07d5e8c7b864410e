// SPDX-License-Identifier: Apache-2.0
// The native methods of org.tensorflow.lite.gpu: the GPU delegate with Java's options as those of the C interface, and
// the question whether there is a GPU that is worth it.
#include <stdlib.h>

#include "jni_support.h"
#include "tensorflow/lite/delegates/gpu/delegate.h"

enum { BACKEND_OPENCL = 1, BACKEND_OPENGL = 2 }; // GpuBackend of GpuDelegateFactory.java

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *machine, void *unused);
JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *machine, void *unused)
{
    (void)machine;
    (void)unused;
    return JNI_VERSION_1_6;
}

HLJ_METHOD_0(void, gpu_GpuDelegateNative, nativeDoNothing)
{
    (void)env;
    (void)unused;
}

static TfLiteGpuDelegateOptionsV2 options_of(bool precision_loss, bool quantized, int preference, int backend)
{
    TfLiteGpuDelegateOptionsV2 options = TfLiteGpuDelegateOptionsV2Default();
    if (precision_loss) {
        options.is_precision_loss_allowed = 1;
        options.inference_priority1 = TFLITE_GPU_INFERENCE_PRIORITY_MIN_LATENCY;
        options.inference_priority2 = TFLITE_GPU_INFERENCE_PRIORITY_MIN_MEMORY_USAGE;
        options.inference_priority3 = TFLITE_GPU_INFERENCE_PRIORITY_MAX_PRECISION;
    }
    options.inference_preference = preference;
    options.experimental_flags = quantized ? TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_QUANT : 0; // C's default has it
    if (backend == BACKEND_OPENCL) options.experimental_flags |= TFLITE_GPU_EXPERIMENTAL_FLAGS_CL_ONLY;
    if (backend == BACKEND_OPENGL) options.experimental_flags |= TFLITE_GPU_EXPERIMENTAL_FLAGS_GL_ONLY;
    return options;
}

HLJ_METHOD(jlong, gpu_GpuDelegate, createDelegate, jboolean precision_loss, jboolean quantized, jint preference,
           jbyteArray folder_bytes, jbyteArray token_bytes, jint backend, jbyteArray device_bytes)
{
    (void)unused;
    TfLiteGpuDelegateOptionsV2 options = options_of(precision_loss, quantized, preference, backend);
    TfLiteDelegate *delegate = NULL;
    char *folder = folder_bytes ? hlj_text(env, folder_bytes) : NULL;
    char *token = token_bytes ? hlj_text(env, token_bytes) : NULL;
    char *device = device_bytes ? hlj_text(env, device_bytes) : NULL;
    if (folder && token) {
        options.experimental_flags |= TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_SERIALIZATION;
        options.serialization_dir = folder;
        options.model_token = token;
    }
    HaliteGpuDelegateOptions all = {.struct_size = sizeof all, .v2 = &options, .device = device};
    if (!(*env)->ExceptionCheck(env)) delegate = HaliteGpuDelegateCreate(&all); // which copies the texts
    free(device);
    free(folder);
    free(token);
    return (jlong)(intptr_t)delegate;
}

HLJ_METHOD(void, gpu_GpuDelegate, deleteDelegate, jlong delegate)
{
    (void)env;
    (void)unused;
    TfLiteGpuDelegateV2Delete((TfLiteDelegate *)(intptr_t)delegate);
}

// ---- is there a GPU? ------------------------------------------------------------------------------------------------

static HaliteCompatibility *compatibility(jlong handle)
{
    return (HaliteCompatibility *)(intptr_t)handle;
}

HLJ_METHOD_0(jlong, gpu_CompatibilityList, createCompatibilityList)
{
    (void)unused;
    HaliteCompatibility *list = HaliteCompatibilityCreate(NULL);
    if (!list) hlj_out_of_memory(env);
    return (jlong)(intptr_t)list;
}

HLJ_METHOD(void, gpu_CompatibilityList, deleteCompatibilityList, jlong list)
{
    (void)env;
    (void)unused;
    HaliteCompatibilityDelete(compatibility(list));
}

HLJ_METHOD(jboolean, gpu_CompatibilityList, nativeIsDelegateSupportedOnThisDevice, jlong list)
{
    (void)env;
    (void)unused;
    return HaliteCompatibilityIsGpuWorthIt(compatibility(list)) ? JNI_TRUE : JNI_FALSE;
}

HLJ_METHOD(jstring, gpu_CompatibilityList, nativeReason, jlong list)
{
    (void)unused;
    return hlj_string(env, HaliteCompatibilityGetReason(compatibility(list)));
}

// The name of the device that is worth it, or null.
HLJ_METHOD(jstring, gpu_CompatibilityList, nativeBestDevice, jlong list)
{
    (void)unused;
    const HaliteGpuDelegateOptions *best = HaliteCompatibilityGetBestOptions(compatibility(list));
    return best && best->device ? hlj_string(env, best->device) : NULL;
}

HLJ_METHOD(jint, gpu_CompatibilityList, nativeBestThreads, jlong list)
{
    (void)env;
    (void)unused;
    return HaliteCompatibilityGetBestThreads(compatibility(list));
}
