// SPDX-License-Identifier: Apache-2.0
// See async_runtime.h. A runtime is found by one of the functions in its contexts, also where it was loaded out of
// sight of other libraries, as Python does. Of a program that has the runtime linked in, only exported functions can be
// found.
#include "gpu/delegate/async_runtime.h"

#include "base/library.h"

const char *gpu_async_runtime_find(const TfLiteContext *context, struct gpu_async_runtime *runtime)
{
    const char *missing = NULL;
    struct hl_library *library = hl_library_of((void (*)(void))context->ReportError);
    if (!library) return "TfLiteAsyncKernelCreate";
#define X(result, name, arguments) \
    if (!hl_library_find(library, "TfLite" #name, &runtime->name, sizeof runtime->name)) missing = "TfLite" #name;
    GPU_ASYNC_KERNEL_FUNCTIONS(X)
    GPU_ASYNC_OBJECT_FUNCTIONS(X)
#undef X
    hl_library_close(library); // the runtime is there as long as it calls
    return missing;
}
