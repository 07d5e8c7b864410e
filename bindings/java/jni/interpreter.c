// SPDX-License-Identifier: Apache-2.0
// The native methods of NativeInterpreterWrapper, Graph and NativeSignatureRunnerWrapper: a model, its interpreter with
// delegates, subgraphs that are resized, allocated and run, and signatures. A failure throws IllegalArgumentException,
// of an allocation IllegalStateException, with the library's messages.
#include <stdlib.h>

#include "jni_support.h"
#include "tensorflow/lite/c/c_api_experimental.h"

enum { FLAG_CANCELLABLE = 1, FLAG_HALF_PRECISION = 2, FLAG_BUFFER_HANDLE_OUTPUT = 4 }; // NativeInterpreterWrapper.java

// ---- life -----------------------------------------------------------------------------------------------------------

static struct hlj_interpreter *create(JNIEnv *env)
{
    struct hlj_interpreter *self = calloc(1, sizeof *self);
    if (!self) {
        hlj_out_of_memory(env);
        return NULL;
    }
    atomic_init(&self->cancelled, false);
    atomic_flag_clear(&self->message_lock);
    return self;
}

static void destroy(struct hlj_interpreter *self)
{
    TfLiteInterpreterDelete(self->interpreter);
    TfLiteModelDelete(self->model);
    free(self);
}

HLJ_METHOD(jlong, NativeInterpreterWrapper, createFromFile, jbyteArray path_bytes)
{
    (void)unused;
    char *path = hlj_text(env, path_bytes);
    if (!path) return 0;
    struct hlj_interpreter *self = create(env);
    if (self) {
        self->model = TfLiteModelCreateFromFileWithErrorReporter(path, hlj_keep_message, self);
        if (!self->model) {
            hlj_refuse(env, "Contents of %s does not encode a valid TensorFlow Lite model: %s", path, self->message);
            destroy(self);
            self = NULL;
        }
    }
    free(path);
    return (jlong)(intptr_t)self;
}

HLJ_METHOD(jlong, NativeInterpreterWrapper, createFromBuffer, jobject buffer)
{
    (void)unused;
    const void *data = (*env)->GetDirectBufferAddress(env, buffer);
    jlong bytes = (*env)->GetDirectBufferCapacity(env, buffer);
    struct hlj_interpreter *self = create(env);
    if (!self) return 0;
    if (data && bytes > 0)
        self->model = TfLiteModelCreateWithErrorReporter(data, (size_t)bytes, hlj_keep_message, self);
    if (!self->model) {
        hlj_refuse(env, "ByteBuffer is not a valid TensorFlow Lite model flatbuffer%s%s",
                   self->message_bytes > 0 ? ": " : "", self->message);
        destroy(self);
        self = NULL;
    }
    return (jlong)(intptr_t)self;
}

static bool is_cancelled(void *data)
{
    struct hlj_interpreter *self = data;
    return atomic_load_explicit(&self->cancelled, memory_order_relaxed);
}

HLJ_METHOD(void, NativeInterpreterWrapper, build, jlong handle, jint threads, jint flags)
{
    (void)unused;
    struct hlj_interpreter *self = hlj_from_handle(handle);
    if (threads < -1) {
        hlj_refuse(env,
                   "Internal error: Cannot create interpreter: num_threads is %d; it should be at least 0, or -1 "
                   "to let the library choose",
                   (int)threads);
        return;
    }
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    if (!options) {
        hlj_out_of_memory(env);
        return;
    }
    TfLiteInterpreterOptionsSetNumThreads(options, threads);
    TfLiteInterpreterOptionsSetErrorReporter(options, hlj_keep_message, self);
    hlj_forget_messages(self);
    self->interpreter = TfLiteInterpreterCreate(self->model, options);
    TfLiteInterpreterOptionsDelete(options);
    if (!self->interpreter) {
        hlj_refuse(env, "Internal error: Cannot create interpreter: %s", self->message);
        return;
    }
    if (flags & FLAG_CANCELLABLE) HaliteInterpreterSetCancellation(self->interpreter, is_cancelled, self);
    HaliteInterpreterSetAllowHalfPrecision(self->interpreter, (flags & FLAG_HALF_PRECISION) != 0);
    TfLiteSetAllowBufferHandleOutput(self->interpreter, (flags & FLAG_BUFFER_HANDLE_OUTPUT) != 0);
}

HLJ_METHOD(void, NativeInterpreterWrapper, applyDelegate, jlong handle, jlong delegate)
{
    (void)unused;
    struct hlj_interpreter *self = hlj_from_handle(handle);
    if (delegate == 0) {
        hlj_refuse(env, "Internal error: Invalid handle to delegate.");
        return;
    }
    hlj_forget_messages(self);
    TfLiteDelegate *native = (TfLiteDelegate *)(intptr_t)delegate;
    if (TfLiteInterpreterModifyGraphWithDelegate(self->interpreter, native) != kTfLiteOk)
        hlj_refuse(env, "Internal error: Error applying delegate: %s", self->message);
}

HLJ_METHOD(void, NativeInterpreterWrapper, delete, jlong handle)
{
    (void)env;
    (void)unused;
    destroy(hlj_from_handle(handle));
}

// ---- what it is -----------------------------------------------------------------------------------------------------

HLJ_METHOD(jint, NativeInterpreterWrapper, subgraphCount, jlong handle)
{
    (void)env;
    (void)unused;
    return HaliteInterpreterGetSubgraphCount(hlj_from_handle(handle)->interpreter);
}

HLJ_METHOD(jint, NativeInterpreterWrapper, executionPlanLength, jlong handle)
{
    (void)env;
    (void)unused;
    return HaliteInterpreterGetNodeCount(hlj_from_handle(handle)->interpreter);
}

HLJ_METHOD(jintArray, Graph, inputs, jlong handle, jint subgraph)
{
    (void)unused;
    int32_t count;
    const int *tensors = HaliteInterpreterGetSubgraphInputs(hlj_from_handle(handle)->interpreter, subgraph, &count);
    return hlj_ints(env, tensors, count);
}

HLJ_METHOD(jintArray, Graph, outputs, jlong handle, jint subgraph)
{
    (void)unused;
    int32_t count;
    const int *tensors = HaliteInterpreterGetSubgraphOutputs(hlj_from_handle(handle)->interpreter, subgraph, &count);
    return hlj_ints(env, tensors, count);
}

// ---- running --------------------------------------------------------------------------------------------------------

// Copies a shape into dims, which has room for max lengths. Returns the rank, or -1 with an exception.
static int read_dims(JNIEnv *env, jintArray array, int *dims, int max, int input)
{
    jsize rank = array ? (*env)->GetArrayLength(env, array) : max + 1;
    if (rank > max) {
        hlj_refuse(env, "Internal error: Failed to resize %d-th input: its shape has %s", input,
                   array ? "too many dimensions" : "to be an array and not null");
        return -1;
    }
    (*env)->GetIntArrayRegion(env, array, 0, rank, (jint *)dims);
    return (int)rank;
}

// Returns whether the shape is another one now, so that tensors must be allocated.
HLJ_METHOD(jboolean, Graph, resize, jlong handle, jint subgraph, jint tensor_index, jintArray shape, jboolean strict,
           jint input)
{
    (void)unused;
    enum { MAX_RANK = 64 };
    struct hlj_interpreter *self = hlj_from_handle(handle);
    int dims[MAX_RANK];
    int rank = read_dims(env, shape, dims, MAX_RANK, input);
    if (rank < 0) return JNI_FALSE;
    const TfLiteTensor *tensor = HaliteInterpreterGetSubgraphTensor(self->interpreter, subgraph, tensor_index);
    if (tensor && tensor->dims && TfLiteIntArrayEqualsArray(tensor->dims, rank, dims)) return JNI_FALSE;
    hlj_forget_messages(self);
    if (HaliteInterpreterResizeTensor(self->interpreter, subgraph, tensor_index, dims, rank, strict != JNI_FALSE) !=
        kTfLiteOk) {
        hlj_refuse(env, "Internal error: Failed to resize %d-th input: %s", (int)input, self->message);
        return JNI_FALSE;
    }
    return JNI_TRUE;
}

HLJ_METHOD(void, Graph, allocate, jlong handle, jint subgraph)
{
    (void)unused;
    struct hlj_interpreter *self = hlj_from_handle(handle);
    hlj_forget_messages(self);
    if (HaliteInterpreterAllocateSubgraph(self->interpreter, subgraph) != kTfLiteOk)
        hlj_throw(env, "java/lang/IllegalStateException",
                  "Internal error: Unexpected failure when preparing tensor allocations: %s", self->message);
}

HLJ_METHOD(void, Graph, invoke, jlong handle, jint subgraph)
{
    (void)unused;
    struct hlj_interpreter *self = hlj_from_handle(handle);
    hlj_forget_messages(self);
    if (HaliteInterpreterInvokeSubgraph(self->interpreter, subgraph) != kTfLiteOk)
        hlj_refuse(env, "Internal error: Failed to run on the given Interpreter: %s", self->message);
}

HLJ_METHOD(void, NativeInterpreterWrapper, resetVariables, jlong handle)
{
    (void)unused;
    struct hlj_interpreter *self = hlj_from_handle(handle);
    hlj_forget_messages(self);
    if (TfLiteInterpreterResetVariableTensors(self->interpreter) != kTfLiteOk)
        hlj_refuse(env, "Internal error: Failed to reset variable tensors: %s", self->message);
}

// Comes from any thread, also while another one is in invoke.
HLJ_METHOD(void, NativeInterpreterWrapper, setCancelled, jlong handle, jboolean cancelled)
{
    (void)env;
    (void)unused;
    atomic_store(&hlj_from_handle(handle)->cancelled, cancelled != JNI_FALSE);
}

// ---- signatures -----------------------------------------------------------------------------------------------------

static const char *signature_key(const void *interpreter, int index)
{
    return TfLiteInterpreterGetSignatureKey(interpreter, index);
}

HLJ_METHOD(jobjectArray, NativeInterpreterWrapper, signatureKeys, jlong handle)
{
    (void)unused;
    const TfLiteInterpreter *interpreter = hlj_from_handle(handle)->interpreter;
    return hlj_strings(env, TfLiteInterpreterGetSignatureCount(interpreter), signature_key, interpreter);
}

// The caller deletes it. NULL: there is none with that key, or an exception.
static TfLiteSignatureRunner *find_signature(JNIEnv *env, jlong handle, jbyteArray key_bytes)
{
    char *key = hlj_text(env, key_bytes);
    if (!key) return NULL;
    TfLiteSignatureRunner *runner = TfLiteInterpreterGetSignatureRunner(hlj_from_handle(handle)->interpreter, key);
    free(key);
    return runner;
}

HLJ_METHOD(jint, NativeInterpreterWrapper, subgraphOfSignature, jlong handle, jbyteArray key)
{
    (void)unused;
    TfLiteSignatureRunner *runner = find_signature(env, handle, key);
    jint subgraph = HaliteSignatureRunnerGetSubgraph(runner);
    TfLiteSignatureRunnerDelete(runner);
    return subgraph;
}

static const char *input_name(const void *runner, int index)
{
    return TfLiteSignatureRunnerGetInputName(runner, index);
}

static const char *output_name(const void *runner, int index)
{
    return TfLiteSignatureRunnerGetOutputName(runner, index);
}

HLJ_METHOD(jobjectArray, NativeSignatureRunnerWrapper, names, jlong handle, jbyteArray key, jboolean inputs)
{
    (void)unused;
    TfLiteSignatureRunner *runner = find_signature(env, handle, key);
    size_t count = inputs ? TfLiteSignatureRunnerGetInputCount(runner) : TfLiteSignatureRunnerGetOutputCount(runner);
    jobjectArray names = hlj_strings(env, (int)count, inputs ? input_name : output_name, runner);
    TfLiteSignatureRunnerDelete(runner);
    return names;
}

// The tensors that the names stand for, in the same order.
HLJ_METHOD(jintArray, NativeSignatureRunnerWrapper, tensors, jlong handle, jbyteArray key, jboolean inputs)
{
    (void)unused;
    TfLiteSignatureRunner *runner = find_signature(env, handle, key);
    size_t count = inputs ? TfLiteSignatureRunnerGetInputCount(runner) : TfLiteSignatureRunnerGetOutputCount(runner);
    jintArray array = NULL;
    int *tensors = malloc((count > 0 ? count : 1) * sizeof *tensors);
    for (size_t i = 0; tensors && i < count; i++)
        tensors[i] = inputs ? HaliteSignatureRunnerGetInputTensorIndex(runner, input_name(runner, (int)i))
                            : HaliteSignatureRunnerGetOutputTensorIndex(runner, output_name(runner, (int)i));
    if (tensors)
        array = hlj_ints(env, tensors, (int)count);
    else
        hlj_out_of_memory(env);
    free(tensors);
    TfLiteSignatureRunnerDelete(runner);
    return array;
}
