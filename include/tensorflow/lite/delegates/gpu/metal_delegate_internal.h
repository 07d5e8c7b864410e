// SPDX-License-Identifier: Apache-2.0
//
// The less common part of the Metal delegate: running as part of a command buffer of the
// application. Like metal_delegate.h, it compiles everywhere.
#ifndef TENSORFLOW_LITE_DELEGATES_GPU_METAL_DELEGATE_INTERNAL_H_
#define TENSORFLOW_LITE_DELEGATES_GPU_METAL_DELEGATE_INTERNAL_H_

#include <stdbool.h>

#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/delegates/gpu/metal_delegate.h"

#if defined(__OBJC__)
@protocol MTLCommandBuffer;
typedef id<MTLCommandBuffer> TFLGpuMetalCommandBuffer;
#else
typedef void* TFLGpuMetalCommandBuffer;
#endif

#ifdef __cplusplus
extern "C" {
#endif

// Makes the next invocation, and only that one, encode its work into command_buffer and return
// without committing it. Every output must be bound to a Metal buffer, else that invocation fails.
// The command buffer is retained until then; NULL takes back what was set. An input that is not bound
// is copied by Invoke, so that the command buffer has to be done before the next one. False when the
// delegate is not one of this kind, or there is no Metal.
TFL_CAPI_EXPORT extern bool TFLGpuDelegateSetCommandBuffer(TfLiteDelegate* delegate,
                                                           TFLGpuMetalCommandBuffer command_buffer);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_DELEGATES_GPU_METAL_DELEGATE_INTERNAL_H_
