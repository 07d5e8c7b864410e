// SPDX-License-Identifier: Apache-2.0
// What lies on the device and not in tensors. In: buffers that the application binds to tensors, and buffer handles
// that the runtime shows to the delegate. Out: runners that use those buffers. A handle is the number of an output that
// the last run has left on the device; it is never given out twice, and gone with the partition that it belongs to.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "gpu/delegate/part.h"

enum { OFFSET_MULTIPLE = 256 }; // no API demands more

// ---- what an application may bind ---------------------------------------------------------------

static enum gpu_format format_of(const HaliteGpuBuffer *buffer)
{
    bool slices = buffer->layout == kHaliteGpuLayoutSlices, image = buffer->kind == kHaliteGpuKindImage;
    switch (buffer->element) {
    case kHaliteGpuElementFloat16:
        return slices ? GPU_FORMAT_HALF_VECTORS : image ? GPU_FORMAT_HALF_PIXELS : GPU_FORMAT_HALVES;
    case kHaliteGpuElementBytes: return GPU_FORMAT_BYTES;
    case kHaliteGpuElementRgba8: return GPU_FORMAT_PIXELS;
    default: return slices ? GPU_FORMAT_VECTORS : image ? GPU_FORMAT_FLOAT_PIXELS : GPU_FORMAT_FLOATS;
    }
}

static bool has_halves(enum gpu_format format)
{
    return format == GPU_FORMAT_HALVES || format == GPU_FORMAT_HALF_VECTORS || format == GPU_FORMAT_HALF_PIXELS;
}

void gpu_buffers_describe(const struct gpu_value *value, HaliteGpuBuffer *buffer)
{
    enum gpu_format format = gpu_caller_format(value);
    bool slices = format == GPU_FORMAT_VECTORS || format == GPU_FORMAT_HALF_VECTORS;
    buffer->layout = slices ? kHaliteGpuLayoutSlices : kHaliteGpuLayoutDense;
    buffer->element = format == GPU_FORMAT_BYTES    ? kHaliteGpuElementBytes
                      : format == GPU_FORMAT_PIXELS ? kHaliteGpuElementRgba8
                      : has_halves(format)          ? kHaliteGpuElementFloat16
                                                    : kHaliteGpuElementFloat32;
}

static const char *format_name(enum gpu_format format)
{
    switch (format) {
    case GPU_FORMAT_BYTES: return "dense bytes";
    case GPU_FORMAT_HALVES: return "dense float16";
    case GPU_FORMAT_PIXELS: return "pixels";
    case GPU_FORMAT_HALF_PIXELS: return "pixels of float16";
    case GPU_FORMAT_FLOAT_PIXELS: return "pixels of float32";
    case GPU_FORMAT_VECTORS: return "float32 in slices";
    case GPU_FORMAT_HALF_VECTORS: return "float16 in slices";
    default: return "dense float32";
    }
}

// What the first version of HaliteGpuBuffer ended with.
#define FIRST_BUFFER_BYTES offsetof(HaliteGpuBuffer, image)

// What is wrong with the struct by itself; NULL: nothing.
static const char *problem_of(const HaliteGpuBuffer *buffer)
{
    if (buffer->struct_size < FIRST_BUFFER_BYTES) return "struct_size is less than sizeof(HaliteGpuBuffer)";
    if (!gpu_memory_is_kind(buffer->kind) && !gpu_options_know_api(buffer->api)) return "there is no such api";
    if (buffer->element < kHaliteGpuElementFloat32 || buffer->element > kHaliteGpuElementRgba8)
        return "there is no such element";
    if (buffer->layout < kHaliteGpuLayoutDense || buffer->layout > kHaliteGpuLayoutSlices)
        return "there is no such layout";
    if (buffer->element >= kHaliteGpuElementBytes && buffer->layout != kHaliteGpuLayoutDense)
        return "bytes are taken in the dense layout only";
    if (buffer->image && buffer->image->struct_size < sizeof *buffer->image)
        return "struct_size is less than sizeof(HaliteGpuImage)";
    if (buffer->kind < kHaliteGpuKindBuffer || buffer->kind > kHaliteGpuKindHardwareBuffer)
        return "there is no such kind";
    if (gpu_memory_is_kind(buffer->kind) && buffer->kind != kHaliteGpuKindHardwareBuffer && !buffer->size)
        return "the size of memory is needed";
    if (buffer->kind == kHaliteGpuKindImage &&
        (buffer->offset || buffer->size || buffer->element == kHaliteGpuElementBytes))
        return "an image has neither an offset nor a size, and its elements are floats or pixels";
    if (!buffer->handle) return "the handle is 0";
    if (buffer->offset % OFFSET_MULTIPLE != 0) return "the offset is no multiple of 256";
    if (buffer->offset > SIZE_MAX / 2 || buffer->size > SIZE_MAX / 2) return "offset or size is too large";
    return NULL;
}

// The bound struct, which may have moved, with its image.
static const HaliteGpuBuffer *buffer_of(struct gpu_bound *bound)
{
    bound->buffer.image = bound->image.struct_size ? &bound->image : NULL;
    return &bound->buffer;
}

// ---- messages -----------------------------------------------------------------------------------

static bool HL_PRINTF(3, 4) refuse(const struct gpu_engine *engine, int tensor, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    hl_report(engine ? &engine->reporter : NULL, "cannot bind a buffer to tensor %d: %s", tensor, text);
    return false;
}

// ---- one buffer for one port --------------------------------------------------------------------

static bool fits_value(const struct gpu_part *part, const struct gpu_port *port, const HaliteGpuBuffer *buffer)
{
    const struct gpu_engine *engine = part->engine;
    const struct gpu_value *value = port->value;
    enum gpu_format format = format_of(buffer), planned = gpu_caller_format(value);
    if (has_halves(format) && !engine->info.caps.half_storage)
        return refuse(engine, port->tensor, "%s has no half floats", engine->info.caps.name);
    if (value->is_input && value->is_output) return refuse(engine, port->tensor, "it is a variable");
    if (gpu_checks_concern(&part->checks, value))
        return refuse(engine, port->tensor, "the CPU checks its values: copy to or from the tensor instead");
    if (port->reader >= 0)
        return refuse(engine, port->tensor, "node %d, which runs on the CPU, reads it as well", port->reader);
    struct gpu_image image;
    const char *problem = gpu_is_picture(format) ? gpu_image_resolve(buffer, value, &image) : NULL;
    if (problem) return refuse(engine, port->tensor, "%s", problem);
    if (format == planned && gpu_is_picture(format) && memcmp(&image, &value->image, sizeof image) != 0)
        return refuse(engine, port->tensor, "the delegate was applied for a picture of another kind");
    if (format == planned) return true;
    return refuse(engine, port->tensor, "its buffer has %s, but the delegate was applied for %s", format_name(format),
                  format_name(planned));
}

// Whether the delegate computes where objects of this API can be.
static bool can_share(const struct gpu_engine *engine, const struct gpu_port *port, const HaliteGpuBuffer *from)
{
    const struct gpu_backend *backend = engine->info.backend;
    const char *api = gpu_api_title(from->api);
    if ((engine->info.index >= 0 && !backend->shares_everywhere) || !backend->buffer_import)
        return refuse(engine, port->tensor, "the delegate does not compute in the application's context");
    if (strcmp(engine->info.api, api) != 0)
        return refuse(engine, port->tensor, "it is a buffer of %s, but the delegate's device is one of %s", api,
                      engine->info.api);
    return from->kind != kHaliteGpuKindImage || backend->image_import ||
           refuse(engine, port->tensor, "images of %s are not taken: bind a buffer", engine->info.api);
}

// Whether the buffer, which ends at this byte, has as many bytes as the port needs. False after a message.
static bool has_room(const struct gpu_engine *engine, const struct gpu_port *port, size_t wanted, size_t offset,
                     size_t end)
{
    return (offset <= end && wanted <= end - offset) ||
           refuse(engine, port->tensor, "it needs %zu bytes from byte %zu on, the buffer ends at byte %zu", wanted,
                  offset, end);
}

// NULL after a message, but without one for memory of the host that the device cannot use where it is.
static struct gpu_buffer *import_buffer(const struct gpu_part *part, const struct gpu_port *port,
                                        const HaliteGpuBuffer *from)
{
    const struct gpu_engine *engine = part->engine;
    const struct gpu_backend *backend = engine->info.backend;
    size_t offset = (size_t)from->offset, wanted = gpu_plan_raw_bytes(part->plan, port->value);
    size_t end;
    if (!gpu_memory_measure(engine, from, &end)) return NULL;
    if (from->kind == kHaliteGpuKindHostMemory && wanted > from->size) return NULL; // what is copied may be less
    if (gpu_memory_is_kind(from->kind))
        return has_room(engine, port, wanted, offset, end) ? gpu_memory_import(engine, from, end) : NULL;
    if (!can_share(engine, port, from)) return NULL;
    if (from->kind == kHaliteGpuKindImage) return gpu_image_import(engine, port->value, from);
    struct gpu_buffer *buffer = backend->buffer_import(engine->device, from->handle, &end);
    if (!buffer || has_room(engine, port, wanted, offset, end)) return buffer;
    backend->buffer_destroy(engine->device, buffer);
    return NULL;
}

struct gpu_buffer *gpu_buffers_import(const struct gpu_part *part, const struct gpu_port *port,
                                      const HaliteGpuBuffer *from)
{
    const char *problem = problem_of(from);
    if (problem) refuse(part->engine, port->tensor, "%s", problem);
    if (problem || !fits_value(part, port, from)) return NULL;
    struct gpu_buffer *buffer = import_buffer(part, port, from);
    if (!buffer && from->kind == kHaliteGpuKindHostMemory)
        refuse(part->engine, port->tensor, "the device cannot use this memory of the host where it is");
    return buffer;
}

// Memory of the host that the device cannot use: each run copies from or to it. NULL after a message.
static void *find_host_memory(const struct gpu_part *part, const struct gpu_port *port, const HaliteGpuBuffer *from)
{
    size_t offset = (size_t)from->offset, wanted = gpu_caller_bytes(port->value);
    if (!has_room(part->engine, port, wanted, offset, offset + (size_t)from->size)) return NULL;
    return (unsigned char *)(uintptr_t)from->handle + offset;
}

// Makes the port use this buffer; NULL: none of the application's. False after a message: nothing has changed.
static bool rebind(struct gpu_part *part, struct gpu_port *port, const HaliteGpuBuffer *from)
{
    const struct gpu_engine *engine = part->engine;
    struct gpu_buffer *old = port->application, *buffer = NULL;
    void *host = NULL;
    if (from && !fits_value(part, port, from)) return false;
    if (from) buffer = import_buffer(part, port, from);
    if (from && !buffer && from->kind == kHaliteGpuKindHostMemory) host = find_host_memory(part, port, from);
    if (from && !buffer && !host) return false;
    if (!gpu_runner_bind(part->runner, port->value, buffer, from ? (size_t)from->offset : 0)) {
        engine->info.backend->buffer_destroy(engine->device, buffer);
        return false;
    }
    port->application = buffer;
    port->host = host;
    port->source = NULL;
    engine->info.backend->buffer_destroy(engine->device, old);
    return true;
}

// ---- the ports of a tensor ----------------------------------------------------------------------

static struct gpu_port *find_port(const struct gpu_part *part, int tensor)
{
    if (!part->runner) return NULL;
    for (int i = 0; i < part->input_count; i++)
        if (part->inputs[i].tensor == tensor) return &part->inputs[i];
    for (int i = 0; i < part->output_count; i++)
        if (part->outputs[i].tensor == tensor) return &part->outputs[i];
    return NULL;
}

// Binds the tensor in the list's parts of this graph, up to `end`. *users: how many have it. Returns the part that
// refuses, or NULL if none does.
static const struct gpu_part *rebind_all(struct gpu_engine *engine, const TfLiteContext *context, int tensor,
                                         const HaliteGpuBuffer *buffer, const struct gpu_part *end, int *users)
{
    *users = 0;
    for (struct gpu_part *part = engine->buffers.parts; part != end; part = part->next) {
        struct gpu_port *port = part->context == context ? find_port(part, tensor) : NULL;
        if (!port) continue;
        if (!rebind(part, port, buffer)) return part;
        ++*users;
    }
    return NULL;
}

static struct gpu_bound *find_bound(const struct gpu_buffers *buffers, int tensor)
{
    for (int i = 0; i < buffers->count; i++)
        if (buffers->list[i].tensor == tensor) return &buffers->list[i];
    return NULL;
}

static bool belongs(const struct gpu_bound *bound, const struct gpu_part *part)
{
    return !bound->context || bound->context == part->context;
}

bool gpu_buffers_are_metal(const struct gpu_engine *engine)
{
    return engine->options.is_for_metal && engine->device && engine->info.backend->list_encode;
}

void gpu_buffers_choose_formats(const struct gpu_part *part)
{
    const struct gpu_buffers *buffers = &part->engine->buffers;
    for (int v = 0; v < part->graph->value_count; v++) {
        struct gpu_value *value = part->graph->values[v];
        bool is_port = (value->is_input || value->is_output) && !value->is_checked && !value->data;
        if (is_port && gpu_buffers_are_metal(part->engine) && !(value->is_input && value->is_output))
            value->format = part->engine->precision == GPU_F32 ? GPU_FORMAT_VECTORS : GPU_FORMAT_HALF_VECTORS;
        struct gpu_bound *bound = is_port ? find_bound(buffers, value->tensor) : NULL;
        if (!bound || !belongs(bound, part)) continue;
        enum gpu_format format = format_of(&bound->buffer);
        bool quantized = value->quantization.scale > 0;
        // What cannot be is refused when the buffer is bound.
        if (value->codes && format != GPU_FORMAT_BYTES) continue;
        if (gpu_is_picture(format) && gpu_image_resolve(buffer_of(bound), value, &value->image)) continue;
        if (has_halves(format) ? part->engine->info.caps.half_storage : format != GPU_FORMAT_BYTES || quantized)
            value->format = format;
    }
}

bool gpu_buffers_begin(struct gpu_part *part)
{
    struct gpu_buffers *buffers = &part->engine->buffers;
    part->next = buffers->parts;
    buffers->parts = part;
    for (int i = 0; i < buffers->count; i++) {
        struct gpu_bound *bound = &buffers->list[i];
        struct gpu_port *port = belongs(bound, part) ? find_port(part, bound->tensor) : NULL;
        if (!port) continue;
        if (!rebind(part, port, buffer_of(bound))) return false;
        bound->context = part->context;
        bound->users++;
    }
    return true;
}

// Inputs of other parts that outputs of this one stand for get their own buffers back.
static void disconnect(const struct gpu_part *gone)
{
    for (struct gpu_part *part = gone->engine->buffers.parts; part; part = part->next)
        for (int i = 0; i < part->input_count; i++) {
            struct gpu_port *port = &part->inputs[i];
            bool is_its = false;
            for (int k = 0; k < gone->output_count; k++) is_its = is_its || port->source == &gone->outputs[k];
            if (!is_its) continue;
            gpu_runner_bind(part->runner, port->value, NULL, 0);
            port->source = NULL;
        }
}

void gpu_buffers_end(struct gpu_part *part)
{
    struct gpu_buffers *buffers = &part->engine->buffers;
    struct gpu_part **link = &buffers->parts;
    while (*link && *link != part) link = &(*link)->next;
    if (!*link) return;
    *link = part->next;
    disconnect(part);
    for (int i = 0; i < buffers->count; i++) {
        struct gpu_bound *bound = &buffers->list[i];
        const struct gpu_port *port = bound->context == part->context ? find_port(part, bound->tensor) : NULL;
        if (port && (port->application || port->host) && --bound->users == 0) bound->context = NULL;
    }
}

bool gpu_buffers_are_used(const struct gpu_part *part)
{
    const struct gpu_buffers *buffers = &part->engine->buffers;
    for (int i = 0; i < buffers->count; i++)
        if (!buffers->list[i].context)
            return refuse(part->engine, buffers->list[i].tensor, "it is no input or output of what runs on the device");
    return true;
}

bool gpu_buffers_are_shared(const struct gpu_part *part)
{
    bool shared = false;
    for (int i = 0; i < part->input_count; i++) shared = shared || part->inputs[i].application;
    for (int i = 0; i < part->output_count; i++) shared = shared || part->outputs[i].application;
    return shared;
}

// ---- the interface ------------------------------------------------------------------------------

// In memory of the host the handle is an address: others than this one can be within the same memory.
static bool is_host(const HaliteGpuBuffer *buffer)
{
    return buffer->kind == kHaliteGpuKindHostMemory;
}

static uint64_t start_of(const HaliteGpuBuffer *buffer)
{
    return buffer->offset + (is_host(buffer) ? buffer->handle : 0);
}

static uint64_t end_of(const HaliteGpuBuffer *buffer)
{
    return buffer->size ? start_of(buffer) + buffer->size : UINT64_MAX;
}

static bool overlaps(const HaliteGpuBuffer *a, const HaliteGpuBuffer *b)
{
    return a->kind == b->kind && (a->api == b->api || gpu_memory_is_kind(a->kind)) &&
           (a->handle == b->handle || is_host(a)) && start_of(a) < end_of(b) && start_of(b) < end_of(a);
}

// The graph whose tensor is meant: that of the oldest part that has it. NULL: there is none.
static const TfLiteContext *find_graph(const struct gpu_engine *engine, int tensor)
{
    const TfLiteContext *context = NULL;
    for (const struct gpu_part *part = engine->buffers.parts; part; part = part->next)
        if (find_port(part, tensor)) context = part->context;
    return context;
}

static void unbind(struct gpu_engine *engine, struct gpu_bound *bound)
{
    struct gpu_buffers *buffers = &engine->buffers;
    int users;
    rebind_all(engine, bound->context, bound->tensor, NULL, NULL, &users);
    *bound = buffers->list[--buffers->count];
}

static bool bind(struct gpu_engine *engine, int tensor, const HaliteGpuBuffer *buffer)
{
    struct gpu_buffers *buffers = &engine->buffers;
    struct gpu_bound *old = find_bound(buffers, tensor);
    const TfLiteContext *context = old && old->context ? old->context : find_graph(engine, tensor);
    if (!context && buffers->parts)
        return refuse(engine, tensor, "it is no input or output of what runs on the device");
    for (int i = 0; i < buffers->count; i++)
        if (&buffers->list[i] != old && overlaps(&buffers->list[i].buffer, buffer))
            return refuse(engine, tensor, "it overlaps the buffer of tensor %d", buffers->list[i].tensor);
    struct gpu_bound *list = hl_grow(buffers->list, buffers->count, &buffers->capacity, sizeof *list);
    if (!list) return refuse(engine, tensor, "out of memory");
    buffers->list = list;
    old = find_bound(buffers, tensor);
    struct gpu_bound bound = {.tensor = tensor, .buffer = *buffer, .context = context};
    if (buffer->image) bound.image = *buffer->image;
    bound.buffer.image = NULL;
    const struct gpu_part *failed = NULL;
    if (context) failed = rebind_all(engine, context, tensor, buffer, NULL, &bound.users);
    if (failed) { // the parts before it take back what they had
        rebind_all(engine, context, tensor, old ? buffer_of(old) : NULL, failed, &bound.users);
        return false;
    }
    if (!old) old = &list[buffers->count++];
    *old = bound;
    return true;
}

TfLiteStatus HaliteDelegateBindBuffer(TfLiteDelegate *delegate, int32_t tensor, const HaliteGpuBuffer *given)
{
    struct gpu_delegate *own = gpu_delegate_of(delegate);
    HaliteGpuBuffer copy = {.struct_size = 0};
    const HaliteGpuBuffer *buffer = given ? &copy : NULL;
    const char *problem = own ? NULL : "the delegate is none of Halite's GPU delegates";
    if (given) memcpy(&copy, given, given->struct_size < sizeof copy ? given->struct_size : sizeof copy);
    if (!problem && tensor < 0) problem = "there is no such tensor";
    if (!problem && buffer) problem = problem_of(buffer);
    if (problem) {
        refuse(NULL, tensor, "%s", problem);
        return kTfLiteError;
    }
    gpu_engine_enter(own->engine, NULL, "Bind");
    struct gpu_bound *bound = find_bound(&own->engine->buffers, tensor);
    bool ok = true;
    if (buffer)
        ok = bind(own->engine, tensor, buffer);
    else if (bound && bound->context && gpu_is_picture(format_of(&bound->buffer)))
        ok = refuse(own->engine, tensor, "the delegate was applied for a picture: bind another one");
    else if (bound)
        unbind(own->engine, bound);
    gpu_engine_leave(own->engine);
    return ok ? kTfLiteOk : kTfLiteError;
}

bool gpu_buffers_take_context(TfLiteDelegate *tflite)
{
    const struct gpu_delegate *delegate = gpu_delegate_of(tflite);
    if (!delegate) return true; // the caller goes on, and says so
    struct gpu_engine *engine = delegate->engine;
    HaliteGpuContext context = {.struct_size = sizeof context,
                                .api = kHaliteGpuApiOpenGlEs,
                                .egl_display = engine->options.egl_display,
                                .egl_context = engine->options.egl_context};
    gpu_engine_enter(engine, NULL, "Bind");
    bool wanted = !engine->device && engine->options.context.api == kHaliteGpuApiNone;
    bool is_named = context.egl_display && context.egl_context;
    bool ok = !wanted || is_named || gpu_device_current(&context);
    if (!ok) hl_report(&engine->reporter, "no context of OpenGL ES is current in this thread: no buffer can be bound");
    if (wanted && ok) engine->options.context = context;
    gpu_engine_leave(engine);
    return ok;
}

// carried: those that processors copied, else all.
static uint64_t bytes_of(const TfLiteDelegate *delegate, bool carried)
{
    const struct gpu_delegate *own = gpu_delegate_of(delegate);
    if (!own) return 0;
    gpu_engine_enter(own->engine, NULL, "Report");
    uint64_t bytes = carried ? own->engine->buffers.carried : own->engine->buffers.copied;
    gpu_engine_leave(own->engine);
    return bytes;
}

uint64_t HaliteDelegateGetCopiedBytes(const TfLiteDelegate *delegate)
{
    return bytes_of(delegate, false);
}

uint64_t HaliteDelegateGetCarriedBytes(const TfLiteDelegate *delegate)
{
    return bytes_of(delegate, true);
}

// ---- handles ------------------------------------------------------------------------------------

static const struct gpu_port *find_handle(const struct gpu_engine *engine, TfLiteBufferHandle handle,
                                          struct gpu_part **owner)
{
    for (struct gpu_part *part = engine->buffers.parts; part; part = part->next)
        for (int i = 0; i < part->output_count; i++) {
            if (!part->outputs[i].is_kept || part->outputs[i].handle != handle) continue;
            *owner = part;
            return &part->outputs[i];
        }
    return NULL;
}

// Whether a kernel can read the output in place of the input.
static bool can_stand_for(const struct gpu_part *owner, const struct gpu_port *output, const struct gpu_part *part,
                          const struct gpu_port *input)
{
    const struct gpu_value *from = output->value, *to = input->value;
    enum gpu_format format = gpu_caller_format(to);
    bool in_slices = format == GPU_FORMAT_VECTORS || format == GPU_FORMAT_HALF_VECTORS;
    size_t there = gpu_plan_raw_bytes(owner->plan, from), wanted = gpu_plan_raw_bytes(part->plan, to);
    return owner != part && gpu_caller_format(from) == format && from->type == to->type &&
           gpu_caller_bytes(from) == gpu_caller_bytes(to) && (!in_slices || gpu_same_shape(from->shape, to->shape)) &&
           (!output->application || there >= wanted) && !to->is_output && !gpu_checks_concern(&part->checks, to);
}

bool gpu_buffers_connect(struct gpu_part *part, struct gpu_port *port, TfLiteTensor *tensor, const TfLiteNode *node)
{
    bool has_handle =
        tensor->delegate && tensor->delegate == node->delegate && tensor->buffer_handle != kTfLiteNullBufferHandle;
    struct gpu_part *owner = NULL;
    const struct gpu_port *source = has_handle ? find_handle(part->engine, tensor->buffer_handle, &owner) : NULL;
    if (has_handle && !source)
        return gpu_part_complain(part, tensor,
                                 "has a buffer handle that does not exist, or no longer: the interpreter that made it "
                                 "was deleted, or its inputs were resized");
    size_t offset = 0;
    struct gpu_buffer *buffer = NULL;
    if (source && can_stand_for(owner, source, part, port))
        buffer = gpu_runner_buffer(owner->runner, source->value, &offset);
    else if (source && !gpu_port_fetch(owner, source, tensor))
        return false;
    if (!gpu_runner_bind(part->runner, port->value, buffer, offset)) return false;
    port->source = buffer ? source : NULL;
    return true;
}

static TfLiteStatus copy(TfLiteContext *context, TfLiteDelegate *tflite, TfLiteBufferHandle handle,
                         TfLiteTensor *tensor, bool to_host)
{
    struct gpu_delegate *delegate = gpu_delegate_of(tflite);
    if (!delegate) return kTfLiteError;
    gpu_engine_enter(delegate->engine, context, "Invoke");
    struct gpu_part *owner = NULL;
    const struct gpu_port *port = find_handle(delegate->engine, handle, &owner);
    bool ok = port && (to_host ? gpu_port_fetch(owner, port, tensor) : gpu_port_store(owner, port, tensor));
    if (!port) hl_report(&delegate->engine->reporter, "buffer handle %d does not exist, or no longer", handle);
    gpu_engine_leave(delegate->engine);
    return ok ? kTfLiteOk : kTfLiteError;
}

TfLiteStatus gpu_copy_from_handle(TfLiteContext *context, TfLiteDelegate *delegate, TfLiteBufferHandle handle,
                                  TfLiteTensor *tensor)
{
    return copy(context, delegate, handle, tensor, true);
}

TfLiteStatus gpu_copy_to_handle(TfLiteContext *context, TfLiteDelegate *delegate, TfLiteBufferHandle handle,
                                TfLiteTensor *tensor)
{
    return copy(context, delegate, handle, tensor, false);
}

void gpu_free_handle(TfLiteContext *context, TfLiteDelegate *delegate, TfLiteBufferHandle *handle)
{
    (void)context;
    (void)delegate;
    *handle = kTfLiteNullBufferHandle; // the memory is the partition's, which other tensors with this handle may read
}
