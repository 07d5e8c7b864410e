// SPDX-License-Identifier: Apache-2.0
//
// The first OpenCL interface of the GPU delegate, kept for programs that use it: the delegate is the
// same as that of delegates/gpu/delegate.h, which new code uses, and computes with OpenGL ES where
// buffers of the application are bound.
#ifndef TENSORFLOW_LITE_DELEGATES_GPU_CL_GPU_API_DELEGATE_H_
#define TENSORFLOW_LITE_DELEGATES_GPU_CL_GPU_API_DELEGATE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/delegates/gpu/delegate.h"
#include "tensorflow/lite/delegates/gpu/gl_delegate.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    // Not 0: compute in half precision, as far as the device can. 0: float32.
    int32_t precision_loss_allowed;
    // A TfLiteGpuInferencePriority; counts where precision_loss_allowed is not 0.
    int32_t inference_priority;
} TfLiteGpuCompileOptions_New;

typedef struct {
    TfLiteGpuCompileOptions_New compile_options;
    // EGLDisplay and EGLContext of the application, whose buffers may be bound. NULL, one or both:
    // those that are current in the thread that binds the first buffer.
    void* egl_display;
    void* egl_context;
    // Bytes of TfLiteGpuDelegateGetSerializedBinaryCache from an earlier run, or NULL. Not used by
    // Halite: serialization_dir of TfLiteGpuDelegateOptionsV2 names a folder that keeps them.
    const uint8_t* serialized_binary_cache_data;
    size_t serialized_binary_cache_size;
} TfLiteGpuDelegateOptions_New;

// New delegate; options are copied, NULL means float32. The caller frees it with
// TfLiteGpuDelegateDelete_New after every interpreter that uses it. NULL when memory is short. A
// priority that does not exist is told when the delegate is applied.
TFL_CAPI_EXPORT extern TfLiteDelegate* TfLiteGpuDelegateCreate_New(
    const TfLiteGpuDelegateOptions_New* options);

// Frees a delegate. NULL is allowed.
TFL_CAPI_EXPORT extern void TfLiteGpuDelegateDelete_New(TfLiteDelegate* delegate);

// Order of elements in a buffer of the application.
typedef enum {
    TFLITE_GPU_DATA_LAYOUT_BHWC = 0,   // as in the tensor
    TFLITE_GPU_DATA_LAYOUT_DHWC4 = 1,  // slices of four channels
} TfLiteGpuDataLayout;

// Makes an input or output of the graph live in a shader storage buffer of the application, as
// TfLiteGpuDelegateBindBufferToTensor does. data_type: kTfLiteFloat32, kTfLiteFloat16, or for the
// bytes of a quantized tensor kTfLiteInt8 or kTfLiteUInt8, in the layout BHWC.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteGpuDelegateBindGlBufferToTensor(
    TfLiteDelegate* delegate, GLuint buffer_id, int tensor_index, TfLiteType data_type,
    TfLiteGpuDataLayout data_layout);

// Compiled kernels as bytes. Halite keeps them in a folder of the caller's choice instead
// (serialization_dir): always false, with *size 0 and *data NULL.
TFL_CAPI_EXPORT extern bool TfLiteGpuDelegateGetSerializedBinaryCache(TfLiteDelegate* delegate,
                                                                      size_t* size,
                                                                      const uint8_t** data);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_DELEGATES_GPU_CL_GPU_API_DELEGATE_H_
