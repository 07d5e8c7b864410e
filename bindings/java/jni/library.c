// SPDX-License-Identifier: Apache-2.0
// Versions of the library, and delegates from other libraries: the native methods of TensorFlowLite,
// InterpreterFactoryImpl and NnApiDelegateImpl.
#include <stdlib.h>

#include "jni_support.h"
#include "tensorflow/lite/delegates/external/external_delegate.h"

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *machine, void *unused);
JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *machine, void *unused)
{
    (void)machine;
    (void)unused;
    return JNI_VERSION_1_6;
}

// That it can be called shows that the library is there.
HLJ_METHOD_0(void, TensorFlowLite, nativeDoNothing)
{
    (void)env;
    (void)unused;
}

HLJ_METHOD_0(jstring, InterpreterFactoryImpl, nativeRuntimeVersion)
{
    (void)unused;
    return hlj_string(env, TfLiteVersion());
}

HLJ_METHOD_0(jstring, InterpreterFactoryImpl, nativeSchemaVersion)
{
    (void)unused;
    char text[] = {(char)('0' + TfLiteSchemaVersion()), '\0'};
    return hlj_string(env, text);
}

// ---- delegate plug-ins ----------------------------------------------------------------------------------------------

static char *text_at(JNIEnv *env, jobjectArray texts, jsize index)
{
    jbyteArray bytes = (*env)->GetObjectArrayElement(env, texts, index);
    char *text = bytes ? hlj_text(env, bytes) : NULL;
    (*env)->DeleteLocalRef(env, bytes);
    return text;
}

// Returns 0 where the library cannot be opened or refuses the options.
HLJ_METHOD(jlong, nnapi_NnApiDelegateImpl, createPlugin, jbyteArray path_bytes, jobjectArray keys, jobjectArray values)
{
    (void)unused;
    char *path = hlj_text(env, path_bytes);
    if (!path) return 0;
    TfLiteExternalDelegateOptions options = TfLiteExternalDelegateOptionsDefault(path);
    TfLiteDelegate *delegate = NULL;
    jsize count = (*env)->GetArrayLength(env, keys);
    bool complete = true;
    for (jsize i = 0; i < count && complete; i++) {
        char *key = text_at(env, keys, i), *value = text_at(env, values, i);
        complete = key && value && options.insert(&options, key, value) == kTfLiteOk;
        if (!complete) {
            free(key);
            free(value);
        }
    }
    if (complete) delegate = TfLiteExternalDelegateCreate(&options); // which copies the texts that it keeps
    for (int i = 0; i < options.count; i++) {
        free((char *)(uintptr_t)options.keys[i]);
        free((char *)(uintptr_t)options.values[i]);
    }
    free(path);
    return (jlong)(intptr_t)delegate;
}

HLJ_METHOD(void, nnapi_NnApiDelegateImpl, deletePlugin, jlong delegate)
{
    (void)env;
    (void)unused;
    TfLiteExternalDelegateDelete((TfLiteDelegate *)(intptr_t)delegate);
}
