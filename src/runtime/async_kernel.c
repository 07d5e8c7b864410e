// SPDX-License-Identifier: Apache-2.0
// The functions of core/async/c/async_kernel.h: a delegate makes a kernel and sets its callbacks. The kernel stays the
// delegate's; the runtime calls it (async.c) and never frees it.
#include "runtime/async_kernel.h"

#include <stdlib.h>

#include "tensorflow/lite/core/async/interop/c/constants.h"

const char kTfLiteSyncTypeNoSyncObj[] = "no_sync_obj";

TfLiteAsyncKernel *TfLiteAsyncKernelCreate(void *kernel_data)
{
    TfLiteAsyncKernel *kernel = calloc(1, sizeof *kernel);
    if (kernel) kernel->kernel_data = kernel_data;
    return kernel;
}

void TfLiteAsyncKernelDelete(TfLiteAsyncKernel *kernel)
{
    free(kernel);
}

void *TfLiteAsyncKernelGetKernelData(const TfLiteAsyncKernel *async_kernel)
{
    return async_kernel ? async_kernel->kernel_data : NULL;
}

#define ASYNC_CALLBACK(Name, member, result, need, ...)                                       \
    void TfLiteAsyncKernelSet##Name(TfLiteAsyncKernel *kernel, result (*member)(__VA_ARGS__)) \
    {                                                                                         \
        if (kernel) kernel->member = member;                                                  \
    }
#include "runtime/async_kernel.def"
#undef ASYNC_CALLBACK

const char *hl_async_kernel_lacks(const TfLiteAsyncKernel *kernel)
{
    enum { OPTIONAL, NEEDED };
#define ASYNC_CALLBACK(Name, member, result, need, ...) \
    if (need == NEEDED && !kernel->member) return #member;
#include "runtime/async_kernel.def"
#undef ASYNC_CALLBACK
    return NULL;
}
