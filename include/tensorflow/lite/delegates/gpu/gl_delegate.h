// SPDX-License-Identifier: Apache-2.0
//
// The first GPU delegate interface, made for OpenGL ES 3.1, kept for programs that use it: in Halite
// the delegate takes the same devices as that of delegate.h, which new code uses, OpenGL ES among
// them; it takes that one where buffers of the application are bound.
#ifndef TENSORFLOW_LITE_DELEGATES_GPU_GL_DELEGATE_H_
#define TENSORFLOW_LITE_DELEGATES_GPU_GL_DELEGATE_H_

#include <stdint.h>

#include "tensorflow/lite/core/c/c_api_types.h"
#include "tensorflow/lite/core/c/common.h"

#ifdef __cplusplus
extern "C" {
#endif

// As in the OpenGL headers, which may be included before or after this one.
typedef unsigned int GLuint;

// Kind of object that holds tensors on the device.
enum TfLiteGlObjectType {
    TFLITE_GL_OBJECT_TYPE_FASTEST = 0,  // the library chooses
    TFLITE_GL_OBJECT_TYPE_TEXTURE = 1,
    TFLITE_GL_OBJECT_TYPE_BUFFER = 2
};

typedef struct TfLiteGlCompileOptions {
    // Not 0: compute in half precision, as far as the device can. 0: float32.
    int32_t precision_loss_allowed;
    // A TfLiteGlObjectType. A hint. Not used by Halite.
    int32_t preferred_gl_object_type;
    // Not 0: the batch size may change between invocations. A hint. Not used by Halite.
    int32_t dynamic_batch_enabled;
    // Not 0: write parameters into the kernels' text. Compiles longer, may run faster. A hint.
    // Not used by Halite.
    int32_t inline_parameters;
} TfLiteGlCompileOptions;

// All fields 0.
TFL_CAPI_EXPORT extern TfLiteGlCompileOptions TfLiteGlCompileOptionsDefault(void);

typedef struct TfLiteGpuDelegateOptions {
    // Metadata of TfLiteGpuDelegateGetModelMetadata, or NULL. Not used by Halite.
    const uint8_t* metadata;
    TfLiteGlCompileOptions compile_options;
} TfLiteGpuDelegateOptions;

// metadata NULL, compile options as above.
TFL_CAPI_EXPORT extern TfLiteGpuDelegateOptions TfLiteGpuDelegateOptionsDefault(void);

// New delegate; options are copied, NULL means the defaults. 8-bit quantized ops stay on the CPU.
// The caller frees it with TfLiteGpuDelegateDelete after every interpreter that uses it. NULL when
// memory is short.
TFL_CAPI_EXPORT extern TfLiteDelegate* TfLiteGpuDelegateCreate(
    const TfLiteGpuDelegateOptions* options);

// Frees a delegate, not the application's buffers. NULL is allowed.
TFL_CAPI_EXPORT extern void TfLiteGpuDelegateDelete(TfLiteDelegate* delegate);

// Makes an input or output of the graph live in a shader storage buffer of the application: float32,
// dense, as in the tensor. To be called before the delegate is applied, in a thread in which the
// application's context of OpenGL ES 3.1 is current: the delegate then computes in a context that
// shares buffers with it, which must live as long as the delegate and its interpreters. Later calls
// bind other buffers. The same as HaliteDelegateBindBuffer (halite/gpu_delegate.h), where the rules
// are; kTfLiteError after a message on standard error.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteGpuDelegateBindBufferToTensor(TfLiteDelegate* delegate,
                                                                        GLuint buffer,
                                                                        int tensor_index);

// GPU metadata inside a model file's bytes. Halite has no use for it: always NULL.
TFL_CAPI_EXPORT extern const uint8_t* TfLiteGpuDelegateGetModelMetadata(const void* tflite_model);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_DELEGATES_GPU_GL_DELEGATE_H_
