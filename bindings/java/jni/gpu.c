// SPDX-License-Identifier: Apache-2.0
// The native methods of org.tensorflow.lite.gpu: the GPU delegate with Java's options as those of the C interface, and
// the question whether there is a GPU.
#include <stdlib.h>
#include <string.h>

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
           jbyteArray folder_bytes, jbyteArray token_bytes, jint backend)
{
    (void)unused;
    TfLiteGpuDelegateOptionsV2 options = options_of(precision_loss, quantized, preference, backend);
    TfLiteDelegate *delegate = NULL;
    char *folder = folder_bytes ? hlj_text(env, folder_bytes) : NULL;
    char *token = token_bytes ? hlj_text(env, token_bytes) : NULL;
    if (folder && token) {
        options.experimental_flags |= TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_SERIALIZATION;
        options.serialization_dir = folder;
        options.model_token = token;
    }
    if (!(*env)->ExceptionCheck(env)) delegate = TfLiteGpuDelegateV2Create(&options); // which copies the texts
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

HLJ_METHOD_0(jlong, gpu_CompatibilityList, createCompatibilityList)
{
    (void)unused;
    HaliteDeviceList *list = HaliteDeviceListCreate();
    if (!list) hlj_out_of_memory(env);
    return (jlong)(intptr_t)list;
}

HLJ_METHOD(void, gpu_CompatibilityList, deleteCompatibilityList, jlong list)
{
    (void)env;
    (void)unused;
    HaliteDeviceListDelete((HaliteDeviceList *)(intptr_t)list);
}

// Whether the list has the device that a text names: "vulkan" any of that interface, "vulkan:1" that one.
static bool has_device(const HaliteDeviceList *list, const char *wanted)
{
    size_t length = strlen(wanted);
    for (int32_t i = 0; i < HaliteDeviceListGetCount(list); i++) {
        const char *name = HaliteDeviceListGetDevice(list, i)->name;
        if (strncmp(name, wanted, length) == 0 && (name[length] == '\0' || name[length] == ':')) return true;
    }
    return false;
}

HLJ_METHOD(jboolean, gpu_CompatibilityList, nativeIsDelegateSupportedOnThisDevice, jlong handle)
{
    (void)env;
    (void)unused;
    const HaliteDeviceList *list = (const HaliteDeviceList *)(intptr_t)handle;
    const char *wanted = getenv("HALITE_DEVICE"); // as the delegate itself asks
    if (wanted && wanted[0] && strcmp(wanted, "auto") != 0) return has_device(list, wanted);
    return HaliteDeviceListGetAuto(list) >= 0;
}
