// SPDX-License-Identifier: Apache-2.0
// The native methods of TensorImpl that say what a tensor is, and that copy it from and to buffers as one block. A
// tensor is named by subgraph and index and looked up in each call: the library may move the struct.
#include <string.h>

#include "tensor.h"

#include "tensorflow/lite/c/c_api_experimental.h"

TfLiteTensor *hlj_tensor(JNIEnv *env, jlong handle, jint subgraph, jint index)
{
    TfLiteTensor *tensor = HaliteInterpreterGetSubgraphTensor(hlj_from_handle(handle)->interpreter, subgraph, index);
    if (!tensor) hlj_refuse(env, "Internal error: Invalid handle to Tensor.");
    return tensor;
}

TfLiteTensor *hlj_readable(JNIEnv *env, jlong handle, jint subgraph, jint index)
{
    TfLiteTensor *tensor = hlj_tensor(env, handle, subgraph, index);
    if (!tensor) return NULL;
    struct hlj_interpreter *self = hlj_from_handle(handle);
    if (tensor->data_is_stale) {
        hlj_forget_messages(self);
        if (HaliteInterpreterEnsureSubgraphTensorIsReadable(self->interpreter, subgraph, index) != kTfLiteOk) {
            hlj_refuse(env, "Internal error: Failed to copy a tensor from its delegate: %s", self->message);
            return NULL;
        }
    }
    if (tensor->data.raw || tensor->bytes == 0) return tensor;
    hlj_refuse(env, "Internal error: Tensor hasn't been allocated.");
    return NULL;
}

TfLiteTensor *hlj_writable(JNIEnv *env, jlong handle, jint subgraph, jint index)
{
    TfLiteTensor *tensor = hlj_tensor(env, handle, subgraph, index);
    if (!tensor) return NULL;
    if (tensor->allocation_type == kTfLiteMmapRo)
        hlj_refuse(env, "Internal error: the Tensor is a constant of the model and cannot be written to.");
    else if (!tensor->data.raw && tensor->bytes > 0)
        hlj_refuse(env, "Internal error: Tensor hasn't been allocated.");
    else
        return tensor;
    return NULL;
}

// ---- what a tensor is -----------------------------------------------------------------------------------------------

#define TENSOR_METHOD(result, name) HLJ_METHOD(result, TensorImpl, name, jlong handle, jint subgraph, jint index)

TENSOR_METHOD(jint, dataType)
{
    (void)unused;
    const TfLiteTensor *tensor = hlj_tensor(env, handle, subgraph, index);
    return tensor ? (jint)tensor->type : 0;
}

TENSOR_METHOD(jint, numBytes)
{
    (void)unused;
    const TfLiteTensor *tensor = hlj_tensor(env, handle, subgraph, index);
    if (!tensor) return 0;
    if (tensor->bytes > INT32_MAX) hlj_refuse(env, "Internal error: a Tensor of 2 GiB or more has no place in Java.");
    return (jint)tensor->bytes;
}

static jintArray dims_of(JNIEnv *env, const TfLiteIntArray *dims)
{
    return hlj_ints(env, dims ? dims->data : NULL, dims ? dims->size : 0);
}

TENSOR_METHOD(jintArray, shape)
{
    (void)unused;
    const TfLiteTensor *tensor = hlj_tensor(env, handle, subgraph, index);
    return tensor ? dims_of(env, tensor->dims) : NULL;
}

TENSOR_METHOD(jintArray, shapeSignature)
{
    (void)unused;
    const TfLiteTensor *tensor = hlj_tensor(env, handle, subgraph, index);
    if (!tensor) return NULL;
    const TfLiteIntArray *signature = tensor->dims_signature;
    return dims_of(env, signature && signature->size > 0 ? signature : tensor->dims);
}

TENSOR_METHOD(jstring, name)
{
    (void)unused;
    const TfLiteTensor *tensor = hlj_tensor(env, handle, subgraph, index);
    return tensor ? hlj_string(env, tensor->name) : NULL;
}

TENSOR_METHOD(jfloat, quantizationScale)
{
    (void)unused;
    const TfLiteTensor *tensor = hlj_tensor(env, handle, subgraph, index);
    return tensor ? tensor->params.scale : 0;
}

TENSOR_METHOD(jint, quantizationZeroPoint)
{
    (void)unused;
    const TfLiteTensor *tensor = hlj_tensor(env, handle, subgraph, index);
    return tensor ? tensor->params.zero_point : 0;
}

TENSOR_METHOD(jboolean, hasBufferHandle)
{
    (void)unused;
    const TfLiteTensor *tensor = hlj_tensor(env, handle, subgraph, index);
    return tensor && tensor->delegate && tensor->buffer_handle != kTfLiteNullBufferHandle ? JNI_TRUE : JNI_FALSE;
}

TENSOR_METHOD(jobject, buffer)
{
    (void)unused;
    TfLiteTensor *tensor = hlj_readable(env, handle, subgraph, index);
    if (!tensor) return NULL;
    static char nothing; // a buffer without bytes has an address, too
    return (*env)->NewDirectByteBuffer(env, tensor->data.raw ? tensor->data.raw : &nothing, (jlong)tensor->bytes);
}

// ---- direct buffers -------------------------------------------------------------------------------------------------

// Java has compared the buffer's capacity with the tensor's bytes, under the lock that this call holds, too.
HLJ_METHOD(void, TensorImpl, writeDirect, jlong handle, jint subgraph, jint index, jobject src)
{
    (void)unused;
    TfLiteTensor *tensor = hlj_writable(env, handle, subgraph, index);
    if (!tensor || tensor->bytes == 0) return;
    const void *data = (*env)->GetDirectBufferAddress(env, src);
    if (!data)
        hlj_refuse(env, "Internal error: the direct buffer has no address.");
    else if (data != tensor->data.raw) // a program may write straight into the tensor
        memcpy(tensor->data.raw, data, tensor->bytes);
}

HLJ_METHOD(void, TensorImpl, readDirect, jlong handle, jint subgraph, jint index, jobject dst, jlong offset)
{
    (void)unused;
    const TfLiteTensor *tensor = hlj_readable(env, handle, subgraph, index);
    if (!tensor || tensor->bytes == 0) return;
    char *data = (*env)->GetDirectBufferAddress(env, dst);
    if (!data)
        hlj_refuse(env, "Internal error: the direct buffer has no address.");
    else if (data + offset != tensor->data.raw)
        memcpy(data + offset, tensor->data.raw, tensor->bytes);
}
