// SPDX-License-Identifier: Apache-2.0
// The C side of Overhead.java: the same runs without Java, with the interface that any C program has. In: a model with
// one input and one output. Out: nanoseconds.
#include <jni.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "tensorflow/lite/c/c_api.h"

struct bench {
    TfLiteInterpreter *interpreter;
    TfLiteTensor *input;
    const TfLiteTensor *output;
    size_t input_bytes, output_bytes;
    void *in, *out;
};

JNIEXPORT jlong JNICALL Java_org_tensorflow_lite_bench_Overhead_open(JNIEnv *env, jclass unused, jbyteArray path_bytes);
JNIEXPORT jlong JNICALL Java_org_tensorflow_lite_bench_Overhead_open(JNIEnv *env, jclass unused, jbyteArray path_bytes)
{
    (void)unused;
    char path[4096];
    jsize length = (*env)->GetArrayLength(env, path_bytes);
    if ((size_t)length > sizeof path) return 0;
    (*env)->GetByteArrayRegion(env, path_bytes, 0, length, (jbyte *)path);
    struct bench *bench = calloc(1, sizeof *bench); // until the process ends, as the model
    TfLiteModel *model = TfLiteModelCreateFromFile(path);
    if (!bench || !model) return 0;
    bench->interpreter = TfLiteInterpreterCreate(model, NULL);
    if (!bench->interpreter || TfLiteInterpreterAllocateTensors(bench->interpreter) != kTfLiteOk) return 0;
    bench->input = TfLiteInterpreterGetInputTensor(bench->interpreter, 0);
    bench->output = TfLiteInterpreterGetOutputTensor(bench->interpreter, 0);
    if (!bench->input || !bench->output) return 0;
    bench->input_bytes = TfLiteTensorByteSize(bench->input);
    bench->output_bytes = TfLiteTensorByteSize(bench->output);
    bench->in = calloc(1, bench->input_bytes + 1);
    bench->out = calloc(1, bench->output_bytes + 1);
    return bench->in && bench->out ? (jlong)(intptr_t)bench : 0;
}

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

JNIEXPORT jlong JNICALL Java_org_tensorflow_lite_bench_Overhead_nanoseconds(JNIEnv *env, jclass unused, jlong handle,
                                                                            jint times);
JNIEXPORT jlong JNICALL Java_org_tensorflow_lite_bench_Overhead_nanoseconds(JNIEnv *env, jclass unused, jlong handle,
                                                                            jint times)
{
    (void)env;
    (void)unused;
    struct bench *bench = (struct bench *)(intptr_t)handle;
    int64_t begin = now();
    for (jint i = 0; i < times; i++) {
        TfLiteTensorCopyFromBuffer(bench->input, bench->in, bench->input_bytes);
        TfLiteInterpreterInvoke(bench->interpreter);
        TfLiteTensorCopyToBuffer(bench->output, bench->out, bench->output_bytes);
    }
    return now() - begin;
}
