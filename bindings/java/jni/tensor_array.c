// SPDX-License-Identifier: Apache-2.0
// The native methods of TensorImpl that copy tensors from and to Java's arrays: nested arrays row by row, the array of
// a buffer on the heap as one block, and strings. Each element is copied once, between the array and the tensor.
#include <stdlib.h>
#include <string.h>

#include "tensor.h"

#include "tensorflow/lite/c/c_api_opaque.h"

// ---- rows -----------------------------------------------------------------------------------------------------------

// Copies count elements of a Java array of primitives, from element first on, to memory or from it. Past its end, an
// exception.
typedef void (*copy_row)(JNIEnv *env, jarray array, jsize first, jsize count, void *data);

#define ROW_FUNCTIONS(name, type, Name)                                                     \
    static void get_##name(JNIEnv *env, jarray array, jsize first, jsize count, void *data) \
    {                                                                                       \
        (*env)->Get##Name##ArrayRegion(env, (type##Array)array, first, count, data);        \
    }                                                                                       \
    static void set_##name(JNIEnv *env, jarray array, jsize first, jsize count, void *data) \
    {                                                                                       \
        (*env)->Set##Name##ArrayRegion(env, (type##Array)array, first, count, data);        \
    }
ROW_FUNCTIONS(byte, jbyte, Byte)
ROW_FUNCTIONS(short, jshort, Short)
ROW_FUNCTIONS(int, jint, Int)
ROW_FUNCTIONS(long, jlong, Long)
ROW_FUNCTIONS(float, jfloat, Float)
ROW_FUNCTIONS(boolean, jboolean, Boolean)

struct row_functions {
    size_t element_bytes;
    copy_row get, set;
};

// The functions for arrays that hold elements of a tensor's type; NULL: no array does.
static const struct row_functions *functions_of(TfLiteType type)
{
    static const struct row_functions bytes = {1, get_byte, set_byte}, shorts = {2, get_short, set_short},
                                      ints = {4, get_int, set_int}, longs = {8, get_long, set_long},
                                      floats = {4, get_float, set_float}, booleans = {1, get_boolean, set_boolean};
    switch (type) {
    case kTfLiteFloat32: return &floats;
    case kTfLiteInt32: return &ints;
    case kTfLiteUInt8:
    case kTfLiteInt8: return &bytes;
    case kTfLiteInt64: return &longs;
    case kTfLiteBool: return &booleans;
    case kTfLiteInt16:
    case kTfLiteFloat16: return &shorts;
    default: return NULL;
    }
}

// ---- nested arrays --------------------------------------------------------------------------------------------------

struct walk {
    const TfLiteIntArray *dims;
    size_t element_bytes;
    copy_row copy;
    char *data; // of the next row
};

static bool walk_array(JNIEnv *env, struct walk *walk, jarray array, int dim)
{
    jsize length = array ? (*env)->GetArrayLength(env, array) : 0;
    int expected = walk->dims->size > 0 ? walk->dims->data[dim] : 1;
    if (length != expected) {
        hlj_refuse(env, "Mismatched lengths (%d and %d) in dimension %d", expected, (int)length, dim);
        return false;
    }
    if (dim + 1 >= walk->dims->size) {
        walk->copy(env, array, 0, length, walk->data);
        walk->data += (size_t)length * walk->element_bytes;
        return true; // the row has that length
    }
    for (jsize i = 0; i < length; i++) {
        jarray row = (*env)->GetObjectArrayElement(env, array, i);
        bool copied = walk_array(env, walk, row, dim + 1);
        (*env)->DeleteLocalRef(env, row);
        if (!copied) return false;
    }
    return true;
}

// Java has seen to it that the array is of the tensor's rank and type. Nothing is copied where the tensor has not the
// bytes that its shape says.
static void copy_array(JNIEnv *env, const TfLiteTensor *tensor, jarray array, bool to_java)
{
    const struct row_functions *functions = tensor ? functions_of(tensor->type) : NULL;
    if (!functions) return;
    int64_t elements = 1;
    for (int i = 0; i < tensor->dims->size; i++) elements *= tensor->dims->data[i];
    if ((uint64_t)elements * functions->element_bytes != tensor->bytes) {
        hlj_refuse(env, "Internal error: Tensor hasn't been allocated.");
        return;
    }
    struct walk walk = {
        .dims = tensor->dims,
        .element_bytes = functions->element_bytes,
        .copy = to_java ? functions->set : functions->get,
        .data = tensor->data.raw,
    };
    walk_array(env, &walk, array, 0);
}

HLJ_METHOD(void, TensorImpl, writeArray, jlong handle, jint subgraph, jint index, jobject src)
{
    (void)unused;
    copy_array(env, hlj_writable(env, handle, subgraph, index), src, false);
}

HLJ_METHOD(void, TensorImpl, readArray, jlong handle, jint subgraph, jint index, jobject dst)
{
    (void)unused;
    copy_array(env, hlj_readable(env, handle, subgraph, index), dst, true);
}

// ---- buffers on the heap --------------------------------------------------------------------------------------------

// The array of a ByteBuffer holds bytes of a tensor of any type; other buffers hold its elements.
static const struct row_functions *functions_of_array(JNIEnv *env, jobject array, TfLiteType type)
{
    jclass bytes = (*env)->FindClass(env, "[B");
    if (!bytes) return NULL;
    bool is_bytes = (*env)->IsInstanceOf(env, array, bytes);
    (*env)->DeleteLocalRef(env, bytes);
    return functions_of(is_bytes ? kTfLiteInt8 : type);
}

HLJ_METHOD(void, TensorImpl, writeHeap, jlong handle, jint subgraph, jint index, jobject src, jint first)
{
    (void)unused;
    TfLiteTensor *tensor = hlj_writable(env, handle, subgraph, index);
    const struct row_functions *functions = tensor ? functions_of_array(env, src, tensor->type) : NULL;
    if (functions) functions->get(env, src, first, (jsize)(tensor->bytes / functions->element_bytes), tensor->data.raw);
}

HLJ_METHOD(void, TensorImpl, readHeap, jlong handle, jint subgraph, jint index, jobject dst, jint first)
{
    (void)unused;
    TfLiteTensor *tensor = hlj_readable(env, handle, subgraph, index);
    const struct row_functions *functions = tensor ? functions_of_array(env, dst, tensor->type) : NULL;
    if (functions) functions->set(env, dst, first, (jsize)(tensor->bytes / functions->element_bytes), tensor->data.raw);
}

// ---- strings --------------------------------------------------------------------------------------------------------

// The packed form of strings: int32 count, count + 1 int32 offsets from the start, then the bytes of all.
HLJ_METHOD(void, TensorImpl, writeStrings, jlong handle, jint subgraph, jint index, jobjectArray strings)
{
    (void)unused;
    TfLiteTensor *tensor = hlj_tensor(env, handle, subgraph, index);
    if (!tensor) return;
    int64_t count = (*env)->GetArrayLength(env, strings), header = (count + 2) * (int64_t)sizeof(int32_t), end = header;
    for (int64_t i = 0; i < count; i++) {
        jarray string = (*env)->GetObjectArrayElement(env, strings, (jsize)i);
        end += (*env)->GetArrayLength(env, string);
        (*env)->DeleteLocalRef(env, string);
    }
    if (end > INT32_MAX) {
        hlj_refuse(env, "Input error: the strings are larger than the 2 GiB that a Tensor of them can hold.");
        return;
    }
    if (tensor->allocation_type != kTfLiteDynamic && tensor->allocation_type != kTfLitePersistentRo) {
        hlj_refuse(env, "Internal error: a Tensor of strings cannot be written before it is allocated.");
        return;
    }
    if (TfLiteTensorResizeMaybeCopy((size_t)end, tensor, false) != kTfLiteOk) {
        hlj_out_of_memory(env);
        return;
    }
    char *data = tensor->data.raw;
    int32_t word = (int32_t)count, at = (int32_t)header;
    memcpy(data, &word, sizeof word);
    for (int32_t i = 0; i < count; i++) {
        memcpy(data + ((size_t)i + 1) * sizeof at, &at, sizeof at);
        jbyteArray string = (*env)->GetObjectArrayElement(env, strings, i);
        jsize length = (*env)->GetArrayLength(env, string);
        (*env)->GetByteArrayRegion(env, string, 0, length, (jbyte *)data + at);
        (*env)->DeleteLocalRef(env, string);
        at += length;
    }
    memcpy(data + ((size_t)count + 1) * sizeof at, &at, sizeof at);
}

static jbyteArray string_at(JNIEnv *env, const TfLiteOpaqueTensor *tensor, int index)
{
    const char *text;
    int length;
    if (TfLiteOpaqueTensorGetString(tensor, index, &text, &length) != kTfLiteOk) {
        hlj_refuse(env, "Internal error: string %d of a Tensor is broken.", index);
        return NULL;
    }
    jbyteArray string = (*env)->NewByteArray(env, length);
    if (string) (*env)->SetByteArrayRegion(env, string, 0, length, (const jbyte *)text);
    return string;
}

HLJ_METHOD(jobjectArray, TensorImpl, readStrings, jlong handle, jint subgraph, jint index)
{
    (void)unused;
    const TfLiteTensor *tensor = hlj_readable(env, handle, subgraph, index);
    if (!tensor) return NULL;
    const TfLiteOpaqueTensor *opaque = (const TfLiteOpaqueTensor *)tensor;
    int64_t elements = 1;
    for (int i = 0; i < tensor->dims->size; i++) elements *= tensor->dims->data[i];
    int count = TfLiteOpaqueTensorGetStringCount(opaque);
    if (count < 0 || count != elements) {
        hlj_refuse(env, "Internal error: a Tensor holds %d strings in place of the %lld of its shape.", count,
                   (long long)elements);
        return NULL;
    }
    jclass class = (*env)->FindClass(env, "[B");
    jobjectArray strings = class ? (*env)->NewObjectArray(env, count, class, NULL) : NULL;
    for (int i = 0; strings && i < count; i++) {
        jbyteArray string = string_at(env, opaque, i);
        if (!string) return NULL;
        (*env)->SetObjectArrayElement(env, strings, i, string);
        (*env)->DeleteLocalRef(env, string);
    }
    return strings;
}
