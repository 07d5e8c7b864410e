// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous runs: names of the objects behind async_kernel.h, async_signature_runner.h and
// task.h.
#ifndef TENSORFLOW_LITE_CORE_ASYNC_C_TYPES_H_
#define TENSORFLOW_LITE_CORE_ASYNC_C_TYPES_H_

#include "tensorflow/lite/core/async/interop/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// A delegate's callbacks for runs that do not block.
typedef struct TfLiteAsyncKernel TfLiteAsyncKernel;

// One run: its buffers and synchronization objects.
typedef struct TfLiteExecutionTask TfLiteExecutionTask;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_CORE_ASYNC_C_TYPES_H_
