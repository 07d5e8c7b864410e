// SPDX-License-Identifier: Apache-2.0
// The asynchronous kernel of a partition. In: calls of the runtime, one at a time up to prepare. Out: what the device
// takes, what an application's wishes come to, and a table of the buffers that it has registered. The device is asked
// for nothing here: a buffer is imported when the first run uses it.
#include "gpu/delegate/async.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/checked.h"
#include "base/event.h"
#include "base/grow.h"
#include "gpu/delegate/hardware_buffer.h"

static const char no_fence[] = "no_sync_obj"; // kTfLiteSyncTypeNoSyncObj, which is data of the runtime
enum { OFFSET_MULTIPLE = 256 };               // of buffers of an API, as in HaliteGpuBuffer

bool gpu_async_fail(const struct gpu_async *async, const char *function, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    async->context->ReportError(async->context, "TfLiteGpuDelegate %s: %s", function, text);
    return false;
}

// ---- kinds --------------------------------------------------------------------------------------

static void get_buffer_types(const TfLiteAsyncKernel *kernel, TfLiteIoType io_type, const char *const **types,
                             size_t *n_types)
{
    struct gpu_async *async = gpu_async_of(kernel);
    *types = async->buffer_types;
    *n_types = io_type == kTfLiteIoTypeUnknown ? 0 : async->buffer_type_count;
}

static void get_fence_types(const TfLiteAsyncKernel *kernel, TfLiteIoType io_type, const char *const **types,
                            size_t *n_types)
{
    struct gpu_async *async = gpu_async_of(kernel);
    *types = async->fence_types;
    *n_types = io_type == kTfLiteIoTypeUnknown ? 0 : async->fence_type_counts[io_type == kTfLiteIoTypeOutput];
}

static bool is_listed(const char *const *types, size_t count, const char *type, size_t *index)
{
    for (*index = 0; *index < count; ++*index)
        if (strcmp(types[*index], type) == 0) return true;
    return false;
}

static void add_fence_type(struct gpu_async *async, const char *type, enum gpu_fence_kind kind)
{
    size_t index = async->fence_type_counts[0]++;
    async->fence_types[index] = type;
    async->fence_kinds[index] = kind;
    // Outputs have all kinds but descriptors, which stand last, where the device makes no sync files.
    if (kind != GPU_FENCE_DESCRIPTOR || async->sync_files) async->fence_type_counts[1]++;
}

static void list_types(struct gpu_async *async)
{
    const struct gpu_engine *engine = async->part->engine;
    const struct gpu_backend *backend = engine->info.backend;
    const char *type = backend->fence_type ? backend->fence_type(engine->device) : NULL;
    bool hardware = backend->takes_hardware_buffers && gpu_hardware_buffers_exist() &&
                    backend->takes_hardware_buffers(engine->device);
    async->has_fences = type || hardware;
    async->sync_files = async->has_fences && backend->takes_sync_files && backend->takes_sync_files(engine->device);
    if (type) async->buffer_types[async->buffer_type_count++] = backend->buffer_type;
    if (hardware) async->buffer_types[async->buffer_type_count++] = HALITE_BUFFER_HARDWARE;
    async->buffer_types[async->buffer_type_count++] = HALITE_BUFFER_HOST;
    add_fence_type(async, no_fence, GPU_FENCE_NONE);
    if (type) add_fence_type(async, type, GPU_FENCE_DEVICE);
    if (!hl_event_exists()) return;
    add_fence_type(async, HALITE_FENCE_EVENT, GPU_FENCE_EVENT);
    add_fence_type(async, HALITE_FENCE_FD, GPU_FENCE_DESCRIPTOR);
}

// ---- buffers ------------------------------------------------------------------------------------

static struct gpu_async_buffer *find_buffer(const struct gpu_async *async, TfLiteBufferHandle handle)
{
    for (int i = 0; i < async->buffer_count; i++)
        if (async->buffers[i].handle == handle) return &async->buffers[i];
    return NULL;
}

bool gpu_async_get_buffer(struct gpu_async *async, TfLiteBufferHandle handle, struct gpu_async_buffer *buffer)
{
    hl_mutex_lock(&async->mutex);
    const struct gpu_async_buffer *found = find_buffer(async, handle);
    if (found) *buffer = *found;
    hl_mutex_unlock(&async->mutex);
    return found || gpu_async_fail(async, "InvokeAsync", "buffer %d is not registered", handle);
}

static bool add_buffer(struct gpu_async *async, const struct gpu_async_buffer *buffer)
{
    hl_mutex_lock(&async->mutex);
    struct gpu_async_buffer *list = hl_grow(async->buffers, async->buffer_count, &async->buffer_capacity, sizeof *list);
    if (list) {
        async->buffers = list;
        list[async->buffer_count++] = *buffer;
    }
    hl_mutex_unlock(&async->mutex);
    return list || gpu_async_fail(async, "RegisterBuffer", "out of memory");
}

// Reads the attributes of a buffer, or of a slice of it. False after a message.
static bool read_attributes(const struct gpu_async *async, const TfLiteAttributeMap *attrs,
                            struct gpu_async_buffer *buffer)
{
    const struct gpu_async_runtime *runtime = &async->runtime;
    size_t offset = 0, size = 0;
    int value;
    runtime->AttributeMapGetSizeTBufferAttr(attrs, kTfLiteBufferAttrKeyOffset, &offset);
    runtime->AttributeMapGetSizeTBufferAttr(attrs, kTfLiteBufferAttrKeySize, &size);
    buffer->buffer.offset = offset;
    buffer->buffer.size = size;
    if (runtime->AttributeMapGetCustomIntAttr(attrs, HALITE_BUFFER_ELEMENT, &value)) {
        buffer->buffer.element = (HaliteGpuElement)value;
        buffer->has_element = true;
    }
    if (runtime->AttributeMapGetCustomIntAttr(attrs, HALITE_BUFFER_LAYOUT, &value)) {
        buffer->buffer.layout = (HaliteGpuLayout)value;
        buffer->has_layout = true;
    }
    if (buffer->is_host && size == 0)
        return gpu_async_fail(async, "RegisterBuffer",
                              "memory of the host has no size of its own: set "
                              "kTfLiteBufferAttrKeySize");
    if (!buffer->is_host && offset % OFFSET_MULTIPLE != 0)
        return gpu_async_fail(async, "RegisterBuffer", "offset %zu is no multiple of %d", offset, OFFSET_MULTIPLE);
    return true;
}

// What an application's pointer is, for a kind of buffer.
static uint64_t handle_of(const char *type, const void *pointer)
{
    uint64_t handle;
    if (strcmp(type, HALITE_BUFFER_VK) != 0) return (uint64_t)(uintptr_t)pointer;
    memcpy(&handle, pointer, sizeof handle); // a VkBuffer has 64 bits everywhere
    return handle;
}

static HaliteGpuApi api_of(const char *type)
{
    if (strcmp(type, HALITE_BUFFER_GL) == 0) return kHaliteGpuApiOpenGlEs;
    return strcmp(type, HALITE_BUFFER_CL) == 0 ? kHaliteGpuApiOpenCl : kHaliteGpuApiVulkan;
}

static TfLiteStatus register_buffer(TfLiteAsyncKernel *kernel, TfLiteOpaqueContext *context, TfLiteIoType io_type,
                                    const TfLiteBackendBuffer *backend_buffer, const TfLiteAttributeMap *attrs,
                                    TfLiteBufferHandle handle)
{
    struct gpu_async *async = gpu_async_of(kernel);
    struct gpu_async_buffer buffer = {.handle = handle, .buffer = {.struct_size = sizeof buffer.buffer}};
    void *pointer = async->runtime.BackendBufferGetPtr(backend_buffer);
    const char *type = "";
    size_t index;
    (void)context, (void)io_type;
    async->runtime.AttributeMapGetStringBufferAttr(attrs, kTfLiteBufferAttrKeyResourceTypeName, &type);
    bool ok = is_listed(async->buffer_types, async->buffer_type_count, type, &index) ||
              gpu_async_fail(async, "RegisterBuffer", "a delegate on %s takes no buffer of kind %s",
                             async->part->engine->info.api, type);
    ok = ok && (pointer || gpu_async_fail(async, "RegisterBuffer", "the buffer's pointer is NULL"));
    if (!ok) return kTfLiteError;
    buffer.is_host = strcmp(type, HALITE_BUFFER_HOST) == 0;
    buffer.memory = buffer.is_host ? pointer : NULL;
    if (strcmp(type, HALITE_BUFFER_HARDWARE) == 0) buffer.buffer.kind = kHaliteGpuKindHardwareBuffer;
    if (!buffer.is_host) {
        buffer.buffer.api = api_of(type); // does not count for memory
        buffer.buffer.handle = handle_of(type, pointer);
    }
    return read_attributes(async, attrs, &buffer) && add_buffer(async, &buffer) ? kTfLiteOk : kTfLiteError;
}

static TfLiteStatus register_slice(TfLiteAsyncKernel *kernel, TfLiteOpaqueContext *context, TfLiteBufferHandle pool,
                                   const TfLiteAttributeMap *attrs, TfLiteBufferHandle handle)
{
    struct gpu_async *async = gpu_async_of(kernel);
    struct gpu_async_buffer buffer;
    size_t end, offset;
    (void)context;
    if (!gpu_async_get_buffer(async, pool, &buffer)) return kTfLiteError;
    uint64_t before = buffer.buffer.offset, room = buffer.buffer.size;
    buffer.handle = handle;
    if (!read_attributes(async, attrs, &buffer)) return kTfLiteError;
    // A size of 0 is up to the end, also where the end of the whole buffer is not known.
    if (buffer.buffer.size == 0 && buffer.buffer.offset < room) buffer.buffer.size = room - buffer.buffer.offset;
    bool fits = hl_add_size((size_t)buffer.buffer.offset, (size_t)buffer.buffer.size, &end) &&
                (room == 0 || (buffer.buffer.size > 0 && end <= room)) &&
                hl_add_size((size_t)before, (size_t)buffer.buffer.offset, &offset);
    if (!fits) {
        gpu_async_fail(async, "RegisterBufferSlice", "it ends behind the buffer, which has %zu bytes", (size_t)room);
        return kTfLiteError;
    }
    buffer.buffer.offset = offset;
    return add_buffer(async, &buffer) ? kTfLiteOk : kTfLiteError;
}

static TfLiteStatus unregister_buffer(TfLiteAsyncKernel *kernel, TfLiteOpaqueContext *context,
                                      TfLiteBufferHandle handle)
{
    struct gpu_async *async = gpu_async_of(kernel);
    (void)context;
    hl_mutex_lock(&async->mutex);
    struct gpu_async_buffer *buffer = find_buffer(async, handle);
    if (buffer) *buffer = async->buffers[--async->buffer_count];
    hl_mutex_unlock(&async->mutex);
    return buffer ? kTfLiteOk : kTfLiteError;
}

// ---- attributes ---------------------------------------------------------------------------------

static int find_slot(const struct gpu_async *async, int tensor)
{
    for (int i = 0; i < gpu_async_slot_count(async); i++)
        if (gpu_async_port(async, i)->tensor == tensor) return i;
    return -1;
}

// Joins the wishes for a tensor's fence with what there is.
static bool reconcile_fence(const struct gpu_async *async, int slot, const TfLiteAttributeMap *wishes,
                            TfLiteAttributeMap *merged, TfLiteAttributeMap *conflict)
{
    const struct gpu_async_runtime *runtime = &async->runtime;
    const char *type = no_fence;
    size_t index;
    runtime->AttributeMapGetStringSyncAttr(wishes, kTfLiteSynchronizationAttrKeyObjectTypeName, &type);
    if (is_listed(async->fence_types, async->fence_type_counts[gpu_async_is_output(async, slot)], type, &index))
        return runtime->AttributeMapSetStringSyncAttr(merged, kTfLiteSynchronizationAttrKeyObjectTypeName, type);
    if (conflict) runtime->AttributeMapSetStringSyncAttr(conflict, kTfLiteSynchronizationAttrKeyObjectTypeName, type);
    return false;
}

// The bytes of a tensor in a buffer of a kind.
static size_t needed_bytes(const struct gpu_async *async, int slot, bool is_host)
{
    const struct gpu_port *port = gpu_async_port(async, slot);
    return is_host ? async->context->tensors[port->tensor].bytes : gpu_plan_raw_bytes(async->part->plan, port->value);
}

static bool reconcile_buffer(const struct gpu_async *async, int slot, const TfLiteAttributeMap *wishes,
                             TfLiteAttributeMap *merged, TfLiteAttributeMap *conflict)
{
    const struct gpu_async_runtime *runtime = &async->runtime;
    const char *type = async->buffer_types[0];
    size_t index, size = 0, offset = 0, alignment = 0;
    runtime->AttributeMapGetStringBufferAttr(wishes, kTfLiteBufferAttrKeyResourceTypeName, &type);
    runtime->AttributeMapGetSizeTBufferAttr(wishes, kTfLiteBufferAttrKeySize, &size);
    runtime->AttributeMapGetSizeTBufferAttr(wishes, kTfLiteBufferAttrKeyOffset, &offset);
    runtime->AttributeMapGetSizeTBufferAttr(wishes, kTfLiteBufferAttrKeyAlignment, &alignment);
    if (!is_listed(async->buffer_types, async->buffer_type_count, type, &index)) {
        if (conflict) runtime->AttributeMapSetStringBufferAttr(conflict, kTfLiteBufferAttrKeyResourceTypeName, type);
        return false;
    }
    bool is_host = strcmp(type, HALITE_BUFFER_HOST) == 0;
    size_t multiple = is_host ? 1 : OFFSET_MULTIPLE, needed = needed_bytes(async, slot, is_host);
    if (offset % multiple != 0) {
        if (conflict) runtime->AttributeMapSetSizeTBufferAttr(conflict, kTfLiteBufferAttrKeyOffset, offset);
        return false;
    }
    if (alignment == 0) alignment = 1;
    while (alignment % multiple != 0 && alignment <= SIZE_MAX / 2) alignment *= 2; // both are powers of two
    return runtime->AttributeMapSetStringBufferAttr(merged, kTfLiteBufferAttrKeyResourceTypeName, type) &&
           runtime->AttributeMapSetSizeTBufferAttr(merged, kTfLiteBufferAttrKeyAlignment, alignment) &&
           runtime->AttributeMapSetSizeTBufferAttr(merged, kTfLiteBufferAttrKeyOffset, offset) &&
           runtime->AttributeMapSetSizeTBufferAttr(merged, kTfLiteBufferAttrKeySize, size > needed ? size : needed);
}

static bool reconcile(const TfLiteAsyncKernel *kernel, const TfLiteOpaqueContext *context, const TfLiteOpaqueNode *node,
                      int tensor, const TfLiteAttributeMap *wishes, TfLiteAttributeMap *merged,
                      TfLiteAttributeMap *conflict)
{
    const struct gpu_async *async = gpu_async_of(kernel);
    int slot = find_slot(async, tensor);
    (void)context, (void)node;
    if (slot < 0) return gpu_async_fail(async, "ReconcileRestrictions", "tensor %d is not on the device", tensor);
    return async->runtime.AttributeMapIsSyncAttributeMap(wishes)
               ? reconcile_fence(async, slot, wishes, merged, conflict)
               : reconcile_buffer(async, slot, wishes, merged, conflict);
}

// Only the kind of fence has to be known before the run; what is wrong with a buffer shows when it is used.
static TfLiteStatus set_attributes(TfLiteAsyncKernel *kernel, TfLiteOpaqueContext *context, TfLiteOpaqueNode *node,
                                   int tensor, const TfLiteAttributeMap *attrs)
{
    struct gpu_async *async = gpu_async_of(kernel);
    const struct gpu_async_runtime *runtime = &async->runtime;
    int slot = find_slot(async, tensor);
    const char *type = no_fence;
    size_t index;
    bool of_fence = runtime->AttributeMapIsSyncAttributeMap(attrs), ok = slot >= 0;
    (void)context, (void)node;
    if (!ok) {
        gpu_async_fail(async, "SetAttributes", "tensor %d is not on the device", tensor);
    } else if (of_fence) {
        runtime->AttributeMapGetStringSyncAttr(attrs, kTfLiteSynchronizationAttrKeyObjectTypeName, &type);
        ok = is_listed(async->fence_types, async->fence_type_counts[gpu_async_is_output(async, slot)], type, &index);
        if (ok) async->fences[slot] = async->fence_kinds[index];
    } else if (runtime->AttributeMapGetStringBufferAttr(attrs, kTfLiteBufferAttrKeyResourceTypeName, &type)) {
        ok = is_listed(async->buffer_types, async->buffer_type_count, type, &index);
    }
    if (slot >= 0 && !ok)
        gpu_async_fail(async, "SetAttributes", "tensor %d cannot have a %s of kind %s on %s", tensor,
                       of_fence ? "fence" : "buffer", type, async->part->engine->info.api);
    return ok ? kTfLiteOk : kTfLiteError;
}

// The partition is ready since the delegate was applied.
static TfLiteStatus prepare(TfLiteAsyncKernel *kernel, TfLiteOpaqueContext *context, TfLiteOpaqueNode *node)
{
    (void)kernel, (void)context, (void)node;
    return kTfLiteOk;
}

// ---- life ---------------------------------------------------------------------------------------

static void set_callbacks(const struct gpu_async_runtime *runtime, TfLiteAsyncKernel *kernel)
{
    runtime->AsyncKernelSetRegisterBuffer(kernel, register_buffer);
    runtime->AsyncKernelSetRegisterBufferSlice(kernel, register_slice);
    runtime->AsyncKernelSetUnregisterBuffer(kernel, unregister_buffer);
    runtime->AsyncKernelSetSupportedBufferTypes(kernel, get_buffer_types);
    runtime->AsyncKernelSetSupportedSynchronizations(kernel, get_fence_types);
    runtime->AsyncKernelSetReconcileRestrictions(kernel, reconcile);
    runtime->AsyncKernelSetSetAttributes(kernel, set_attributes);
    runtime->AsyncKernelSetPrepare(kernel, prepare);
    runtime->AsyncKernelSetEval(kernel, gpu_task_start);
    runtime->AsyncKernelSetWait(kernel, gpu_task_wait);
    runtime->AsyncKernelSetFinish(kernel, gpu_task_finish);
}

// Why runs of the partition have to go through Invoke; NULL: they need not.
static const char *obstacle(const struct gpu_part *part)
{
    if (!part->runner) return "all of its outputs are constants";
    if (part->constant_count > 0) return "one of its outputs is a constant";
    if (part->checks.count > 0) return "the CPU checks values of it";
    for (int i = 0; i < part->input_count; i++)
        if (part->inputs[i].value->is_output) return "it has variables";
    return NULL;
}

static struct gpu_async *create(struct gpu_part *part, TfLiteContext *context, const struct gpu_async_runtime *runtime)
{
    struct gpu_async *async = calloc(1, sizeof *async);
    if (!async) return NULL;
    *async = (struct gpu_async){.part = part, .context = context, .runtime = *runtime};
    if (!hl_mutex_init(&async->mutex)) goto no_mutex;
    if (!hl_mutex_init(&async->host)) goto no_host;
    async->fences = calloc((size_t)gpu_async_slot_count(async) + 1, sizeof *async->fences);
    async->kernel = async->fences ? runtime->AsyncKernelCreate(async) : NULL;
    if (async->kernel) return async;
    free(async->fences);
    hl_mutex_destroy(&async->host);
no_host:
    hl_mutex_destroy(&async->mutex);
no_mutex:
    free(async);
    return NULL;
}

TfLiteAsyncKernel *gpu_async_kernel(struct gpu_part *part, TfLiteContext *context)
{
    struct gpu_async_runtime runtime;
    if (part->async) return part->async->kernel;
    const char *problem = obstacle(part), *missing = problem ? NULL : gpu_async_runtime_find(context, &runtime);
    if (missing) problem = missing;
    if (problem) {
        context->ReportError(context, "TfLiteGpuDelegate: the graph has no asynchronous runs: %s%s", problem,
                             missing ? " is not exported by this runtime, or by the program that it is linked into"
                                     : "");
        return NULL;
    }
    struct gpu_async *async = create(part, context, &runtime);
    if (!async) {
        context->ReportError(context, "TfLiteGpuDelegate: out of memory for asynchronous runs");
        return NULL;
    }
    part->async = async;
    if (gpu_async_of(async->kernel) != async) {
        context->ReportError(context, "TfLiteGpuDelegate: this runtime's asynchronous kernels are of another form");
        gpu_async_destroy(async);
        part->async = NULL;
        return NULL;
    }
    list_types(async);
    set_callbacks(&runtime, async->kernel);
    return async->kernel;
}

void gpu_async_destroy(struct gpu_async *async)
{
    if (!async) return;
    async->runtime.AsyncKernelDelete(async->kernel);
    free(async->buffers);
    free(async->fences);
    hl_mutex_destroy(&async->host);
    hl_mutex_destroy(&async->mutex);
    free(async);
}
