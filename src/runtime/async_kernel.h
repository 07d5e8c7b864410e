// SPDX-License-Identifier: Apache-2.0
// The inside of a TfLiteAsyncKernel: the callbacks with which a delegate offers runs that do not block.
#ifndef HALITE_RUNTIME_ASYNC_KERNEL_H
#define HALITE_RUNTIME_ASYNC_KERNEL_H

#include "tensorflow/lite/core/async/c/async_kernel.h"

struct TfLiteAsyncKernel {
    void *kernel_data; // the delegate's own
#define ASYNC_CALLBACK(Name, member, result, need, ...) result (*member)(__VA_ARGS__);
#include "runtime/async_kernel.def"
#undef ASYNC_CALLBACK
};

// Returns the name of the first callback that the kernel needs and does not have, NULL where it has all of them.
const char *hl_async_kernel_lacks(const TfLiteAsyncKernel *kernel);

#endif
