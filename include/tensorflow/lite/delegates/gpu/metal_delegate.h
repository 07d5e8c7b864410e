// SPDX-License-Identifier: Apache-2.0
//
// The GPU delegate for Metal, on Apple systems. This header compiles everywhere, and the functions
// are there everywhere: where there is no Metal the delegate takes the same devices as that of
// delegate.h, and what has to do with Metal objects is refused with a message on standard error.
// Outside Objective-C Metal objects are void*.
// TFLGpuDelegateCreate takes a pointer to options or, for code that passes the struct itself, the
// struct: through an overload in C++ and a macro in C11. Define TFLITE_GPU_NO_OPTIONS_BY_VALUE
// before the include to leave both out (they make the functions' addresses ambiguous in C++).
#ifndef TENSORFLOW_LITE_DELEGATES_GPU_METAL_DELEGATE_H_
#define TENSORFLOW_LITE_DELEGATES_GPU_METAL_DELEGATE_H_

#include <stdbool.h>

#include "tensorflow/lite/core/c/c_api_types.h"
#include "tensorflow/lite/core/c/common.h"

#if defined(__OBJC__)
@protocol MTLBuffer;
typedef id<MTLBuffer> TFLGpuMetalBuffer;
#else
typedef void* TFLGpuMetalBuffer;
#endif

#ifdef __cplusplus
extern "C" {
#endif

// How an invocation waits for the GPU. Without Metal, always Passive.
typedef enum {
    // Sleeps until the results are there.
    TFLGpuDelegateWaitTypePassive = 0,
    // Spins: less delay, one CPU core busy.
    TFLGpuDelegateWaitTypeActive = 1,
    // Returns at once. For outputs in bound Metal buffers, read by later GPU work; others are waited
    // for.
    TFLGpuDelegateWaitTypeDoNotWait = 2,
    // As Active, and keeps the GPU from slowing its clock between invocations.
    TFLGpuDelegateWaitTypeAggressive = 3
} TFLGpuDelegateWaitType;

typedef struct {
    // Compute in half precision, as far as the device can.
    bool allow_precision_loss;
    // Without effect where the device is none of Metal's: there an invocation waits as the driver does.
    TFLGpuDelegateWaitType wait_type;
    // Take 8-bit quantized ops too.
    bool enable_quantization;
} TFLGpuDelegateOptions;

// allow_precision_loss false, Passive, enable_quantization true.
TFL_CAPI_EXPORT extern TFLGpuDelegateOptions TFLGpuDelegateOptionsDefault(void);

// New delegate; options are copied, NULL means the defaults. The caller frees it with
// TFLGpuDelegateDelete after every interpreter that uses it. Devices are opened when it is applied to
// a graph: a missing GPU makes that fail, not this. NULL when memory is short.
TFL_CAPI_EXPORT extern TfLiteDelegate* TFLGpuDelegateCreate(const TFLGpuDelegateOptions* options);

// Another spelling of TFLGpuDelegateCreate, found in older documentation.
TFL_CAPI_EXPORT extern TfLiteDelegate* TFLGPUDelegateCreate(const TFLGpuDelegateOptions* options);

// Frees a delegate, not the application's buffers. NULL is allowed.
TFL_CAPI_EXPORT extern void TFLGpuDelegateDelete(TfLiteDelegate* delegate);

// Makes an input or output of the graph live in a Metal buffer of the application: slices of four
// channels, [batch, slice, height, width, 4], float32, or half with allow_precision_loss. Call
// after the delegate is applied. The buffer has to be one of the delegate's device, the system's
// default; it is retained. A bound output is not copied to its tensor.
// False when the tensor is neither input nor output, the buffer is too small, or there is no Metal.
TFL_CAPI_EXPORT extern bool TFLGpuDelegateBindMetalBufferToTensor(TfLiteDelegate* delegate,
                                                                  int tensor_index,
                                                                  TFLGpuMetalBuffer metal_buffer);

#ifdef __cplusplus
}  // extern "C"
#endif

#ifndef TFLITE_GPU_NO_OPTIONS_BY_VALUE
#if defined(__cplusplus)
// For code that passes the options themselves. They are copied.
inline TfLiteDelegate* TFLGpuDelegateCreate(const TFLGpuDelegateOptions& options) {
    return TFLGpuDelegateCreate(&options);
}
inline TfLiteDelegate* TFLGPUDelegateCreate(const TFLGpuDelegateOptions& options) {
    return TFLGPUDelegateCreate(&options);
}
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
static inline TfLiteDelegate* TFLGpuDelegateCreateByValue(TFLGpuDelegateOptions options) {
    return TFLGpuDelegateCreate(&options);
}
// Pick by the type of the argument. A definition of the function itself needs #undef first.
#define TFLGpuDelegateCreate(options)                        \
    _Generic((options),                                      \
        TFLGpuDelegateOptions: TFLGpuDelegateCreateByValue,  \
        default: TFLGpuDelegateCreate)(options)
#define TFLGPUDelegateCreate(options)                        \
    _Generic((options),                                      \
        TFLGpuDelegateOptions: TFLGpuDelegateCreateByValue,  \
        default: TFLGPUDelegateCreate)(options)
#endif
#endif

#endif  // TENSORFLOW_LITE_DELEGATES_GPU_METAL_DELEGATE_H_
