// SPDX-License-Identifier: Apache-2.0
// What the asynchronous runners of one subgraph share, once the delegate's kernel is there: the table of registered
// buffers, and whether the kernel is prepared.
#include "runtime/async.h"

#include <stdlib.h>

#include "base/grow.h"
#include "runtime/operator.h"

void hl_async_error(const struct hl_async *async, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    hl_report_va(&async->reporter, format, args);
    va_end(args);
}

bool hl_async_is_attached(const struct hl_async *async)
{
    if (async->subgraph) return true;
    hl_async_error(async, "the graph of this asynchronous runner is gone (an input was resized, a delegate applied, or "
                          "the interpreter deleted): finish its tasks, delete it and get a new one");
    return false;
}

// ---- buffers ------------------------------------------------------------------------------------

const struct hl_async_buffer *hl_async_find_buffer(const struct hl_async *async, TfLiteBufferHandle handle)
{
    for (int i = 0; i < async->buffer_count; i++)
        if (async->buffers[i].handle == handle) return &async->buffers[i];
    hl_async_error(async, "buffer handle %d is not registered", handle);
    return NULL;
}

// Makes room for a buffer and numbers it. Returns kTfLiteNullBufferHandle after a message.
static TfLiteBufferHandle reserve_buffer(struct hl_async *async)
{
    TfLiteBufferHandle handle = kTfLiteNullBufferHandle;
    hl_mutex_lock(&async->mutex);
    struct hl_async_buffer *grown =
        hl_grow(async->buffers, async->buffer_count, &async->buffer_capacity, sizeof *grown);
    if (grown) {
        async->buffers = grown;
        handle = async->next_handle++;
    }
    hl_mutex_unlock(&async->mutex);
    if (!grown) hl_async_error(async, "out of memory while registering a buffer");
    return handle;
}

static void append_buffer(struct hl_async *async, struct hl_async_buffer buffer)
{
    hl_mutex_lock(&async->mutex);
    async->buffers[async->buffer_count++] = buffer;
    hl_mutex_unlock(&async->mutex);
}

// The end of both kinds of registration: the kernel has taken the buffer, or refused it.
static TfLiteStatus keep_buffer(struct hl_async *async, TfLiteStatus status, struct hl_async_buffer buffer,
                                TfLiteBufferHandle *handle)
{
    if (status != kTfLiteOk) {
        hl_async_error(async, "the delegate refused to register the buffer");
        return status;
    }
    append_buffer(async, buffer);
    *handle = buffer.handle;
    return kTfLiteOk;
}

TfLiteStatus hl_async_register(struct hl_async *async, TfLiteIoType io_type, const TfLiteBackendBuffer *buffer,
                               const TfLiteAttributeMap *attrs, TfLiteBufferHandle *handle)
{
    const char *type;
    if (!TfLiteAttributeMapGetStringBufferAttr(attrs, kTfLiteBufferAttrKeyResourceTypeName, &type)) {
        hl_async_error(async, "RegisterBuffer: the attributes lack the buffer's kind "
                              "(kTfLiteBufferAttrKeyResourceTypeName in a map of kind buffer)");
        return kTfLiteError;
    }
    struct hl_async_buffer entry = {reserve_buffer(async), kTfLiteNullBufferHandle, io_type};
    if (entry.handle == kTfLiteNullBufferHandle) return kTfLiteError;
    TfLiteStatus status =
        async->kernel->register_buffer(async->kernel, hl_async_context(async), io_type, buffer, attrs, entry.handle);
    return keep_buffer(async, status, entry, handle);
}

// Returns whether a buffer can have slices, and stores what it was registered for; false after a message.
static bool is_pool(struct hl_async *async, TfLiteBufferHandle handle, TfLiteIoType *io_type)
{
    hl_mutex_lock(&async->mutex);
    const struct hl_async_buffer *buffer = hl_async_find_buffer(async, handle);
    bool whole = buffer && buffer->pool == kTfLiteNullBufferHandle;
    if (whole)
        *io_type = buffer->io_type;
    else if (buffer)
        hl_async_error(async, "RegisterBufferSlice: buffer %d is a slice itself, of buffer %d", handle, buffer->pool);
    hl_mutex_unlock(&async->mutex);
    return whole;
}

TfLiteStatus hl_async_register_slice(struct hl_async *async, TfLiteBufferHandle pool, const TfLiteAttributeMap *attrs,
                                     TfLiteBufferHandle *handle)
{
    TfLiteIoType io_type;
    if (!is_pool(async, pool, &io_type)) return kTfLiteError;
    if (!async->kernel->register_buffer_slice) {
        hl_async_error(async, "RegisterBufferSlice: the delegate takes whole buffers only");
        return kTfLiteError;
    }
    if (!TfLiteAttributeMapIsBufferAttributeMap(attrs)) {
        hl_async_error(async, "RegisterBufferSlice: the attributes are not those of a buffer");
        return kTfLiteError;
    }
    struct hl_async_buffer entry = {reserve_buffer(async), pool, io_type};
    if (entry.handle == kTfLiteNullBufferHandle) return kTfLiteError;
    TfLiteStatus status =
        async->kernel->register_buffer_slice(async->kernel, hl_async_context(async), pool, attrs, entry.handle);
    return keep_buffer(async, status, entry, handle);
}

// Returns whether nothing relies on a buffer, no slice of it and no run; false after a message.
static bool is_unused(const struct hl_async *async, TfLiteBufferHandle handle)
{
    for (int i = 0; i < async->buffer_count; i++) {
        if (async->buffers[i].pool != handle) continue;
        hl_async_error(async, "UnregisterBuffer: unregister slice %d of buffer %d first", async->buffers[i].handle,
                       handle);
        return false;
    }
    for (const TfLiteExecutionTask *task = async->tasks; task; task = task->next)
        for (int i = 0; i < task->slot_count && task->scheduled; i++) {
            if (task->slots[i].handle != handle) continue;
            hl_async_error(async, "UnregisterBuffer: a run under way uses buffer %d for tensor %d, wait for it first",
                           handle, task->slots[i].tensor);
            return false;
        }
    return true;
}

// Removes a buffer from the table, so that no run can begin with it. Returns false after a message.
static bool take_buffer(struct hl_async *async, TfLiteBufferHandle handle, struct hl_async_buffer *taken)
{
    hl_mutex_lock(&async->mutex);
    const struct hl_async_buffer *buffer = hl_async_find_buffer(async, handle);
    bool free_to_go = buffer && is_unused(async, handle);
    if (free_to_go) {
        *taken = *buffer;
        async->buffers[buffer - async->buffers] = async->buffers[async->buffer_count - 1];
        async->buffer_count--;
    }
    hl_mutex_unlock(&async->mutex);
    return free_to_go;
}

TfLiteStatus hl_async_unregister(struct hl_async *async, TfLiteBufferHandle handle)
{
    struct hl_async_buffer buffer;
    if (!take_buffer(async, handle, &buffer)) return kTfLiteError;
    TfLiteStatus status = async->kernel->unregister_buffer(async->kernel, hl_async_context(async), handle);
    if (status == kTfLiteOk) return kTfLiteOk;
    append_buffer(async, buffer); // where it was taken from there is room
    hl_async_error(async, "the delegate could not unregister buffer %d", handle);
    return status;
}

// ---- attributes ---------------------------------------------------------------------------------

// Runs cannot begin from here on until the kernel is prepared. Returns false after a message where one is under way.
static bool stop_runs(struct hl_async *async, const char *function)
{
    int scheduled = 0;
    hl_mutex_lock(&async->mutex);
    for (const TfLiteExecutionTask *task = async->tasks; task; task = task->next) scheduled += task->scheduled;
    if (scheduled == 0) async->prepared = false;
    hl_mutex_unlock(&async->mutex);
    if (scheduled > 0)
        hl_async_error(async, "%s: %d tasks are under way, call Wait or Finish for them first", function, scheduled);
    return scheduled == 0;
}

TfLiteStatus hl_async_set_attributes(struct hl_async *async, int tensor, const TfLiteAttributeMap *attrs)
{
    if (!stop_runs(async, "SetAttributes")) return kTfLiteError;
    TfLiteStatus status = async->kernel->set_attributes(async->kernel, hl_async_context(async),
                                                        (TfLiteOpaqueNode *)async->node, tensor, attrs);
    if (status != kTfLiteOk)
        hl_async_error(async, "SetAttributes: the delegate refused those of tensor %d (%s)", tensor,
                       hl_tensor_label(&async->subgraph->context.tensors[tensor]));
    return status;
}

TfLiteStatus hl_async_prepare(struct hl_async *async)
{
    if (!stop_runs(async, "PrepareBackends")) return kTfLiteError;
    // The kernel needs the shapes, which only a graph with memory has.
    if (async->subgraph->state == HL_NOT_READY && hl_subgraph_allocate(async->subgraph) != kTfLiteOk)
        return kTfLiteError;
    TfLiteStatus status =
        async->kernel->prepare(async->kernel, hl_async_context(async), (TfLiteOpaqueNode *)async->node);
    if (status != kTfLiteOk) {
        hl_async_error(async, "PrepareBackends: the delegate could not prepare");
        return status;
    }
    hl_mutex_lock(&async->mutex);
    async->prepared = true;
    hl_mutex_unlock(&async->mutex);
    return kTfLiteOk;
}
