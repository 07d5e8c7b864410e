// SPDX-License-Identifier: Apache-2.0
// Tensors as the native methods of TensorImpl find them: by the handle of their interpreter, subgraph and index.
#ifndef HALITE_JNI_TENSOR_H
#define HALITE_JNI_TENSOR_H

#include "jni_support.h"

// Each lends the tensor until the interpreter is called again, or throws and returns NULL.
TfLiteTensor *hlj_tensor(JNIEnv *env, jlong handle, jint subgraph, jint index);
// The same with data on the CPU that can be read; data.raw may be NULL where there are no bytes.
TfLiteTensor *hlj_readable(JNIEnv *env, jlong handle, jint subgraph, jint index);
// The same with memory that may be written, of which a constant has none.
TfLiteTensor *hlj_writable(JNIEnv *env, jlong handle, jint subgraph, jint index);

#endif
