// SPDX-License-Identifier: Apache-2.0
// Runs of a partition that do not block, on buffers and fences of the application. async.c is the kernel that the
// runtime asks for: what it takes, and the table of registered buffers. async_task.c starts, awaits and ends the runs.
// async_runtime.c finds the runtime's functions.
#ifndef HALITE_GPU_DELEGATE_ASYNC_H
#define HALITE_GPU_DELEGATE_ASYNC_H

#include <string.h>

#include "base/thread.h"
#include "gpu/delegate/async_runtime.h"
#include "gpu/delegate/part.h"

enum gpu_fence_kind {
    GPU_FENCE_NONE,
    GPU_FENCE_EVENT,      // an eventfd
    GPU_FENCE_DESCRIPTOR, // any descriptor that becomes readable
    GPU_FENCE_DEVICE,     // the backend's
};

struct gpu_async_buffer {
    TfLiteBufferHandle handle;
    bool is_host;
    unsigned char *memory;        // of the host
    HaliteGpuBuffer buffer;       // of an API; offset and size are those of host memory as well
    bool has_element, has_layout; // those of `buffer` are the application's
};

struct gpu_async {
    struct gpu_part *part;
    TfLiteContext *context;
    struct gpu_async_runtime runtime;
    TfLiteAsyncKernel *kernel;
    const char *buffer_types[3], *fence_types[4];
    enum gpu_fence_kind fence_kinds[4];
    size_t buffer_type_count, fence_type_counts[2]; // fences: of inputs, of outputs
    struct hl_mutex mutex;                          // guards the table of buffers
    bool has_fences;                                // of our own: runs need not be waited for when they are submitted
    bool sync_files; // the device takes and makes them; else a thread waits for descriptors, and there are no others
    struct gpu_async_buffer *buffers;
    int buffer_count, buffer_capacity;
    enum gpu_fence_kind *fences; // of each slot, as SetAttributes has said
    // Held from the submission of a run with host memory until its outputs are copied, since all such runs use the same
    // buffers on the device.
    struct hl_mutex host;
};

// A slot is an input or an output: inputs come first, in the order of the part's ports.
static inline int gpu_async_slot_count(const struct gpu_async *async)
{
    return async->part->input_count + async->part->output_count;
}
static inline bool gpu_async_is_output(const struct gpu_async *async, int slot)
{
    return slot >= async->part->input_count;
}
static inline struct gpu_port *gpu_async_port(const struct gpu_async *async, int slot)
{
    struct gpu_part *part = async->part;
    return slot < part->input_count ? &part->inputs[slot] : &part->outputs[slot - part->input_count];
}

// The object of a kernel. The function of the runtime that says so would have to be found first, and not all callbacks
// get a context: the data is what a kernel begins with, in the original too, and gpu_async_kernel has looked.
static inline struct gpu_async *gpu_async_of(const TfLiteAsyncKernel *kernel)
{
    struct gpu_async *async;
    memcpy(&async, kernel, sizeof async);
    return async;
}

// Writes a message. Always false.
bool gpu_async_fail(const struct gpu_async *async, const char *function, const char *format, ...) HL_PRINTF(3, 4);
// Copies a registered buffer. False after a message.
bool gpu_async_get_buffer(struct gpu_async *async, TfLiteBufferHandle handle, struct gpu_async_buffer *buffer);

// ---- async_task.c: callbacks of the kernel

TfLiteStatus gpu_task_start(TfLiteAsyncKernel *kernel, TfLiteOpaqueContext *context, TfLiteOpaqueNode *node,
                            TfLiteExecutionTask *task);
TfLiteStatus gpu_task_wait(TfLiteAsyncKernel *kernel, TfLiteOpaqueContext *context, TfLiteExecutionTask *task);
TfLiteStatus gpu_task_finish(TfLiteAsyncKernel *kernel, TfLiteOpaqueContext *context, TfLiteExecutionTask *task);

#endif
