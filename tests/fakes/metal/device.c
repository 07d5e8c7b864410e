// SPDX-License-Identifier: Apache-2.0
// Devices, queues and buffers of the fake. Devices are made once and never go.
#include <stdlib.h>
#include <string.h>

#include "fake.h"

#define EXPORTED __attribute__((visibility("default")))
enum { STORAGE_MASK = 0xf0, STORAGE_PRIVATE = 0x20, MAX_BUFFER = 1 << 30 };

// ---- MTLBuffer ------------------------------------------------------------------------------------------------------

static unsigned long buffer_length(void *own, const char *selector)
{
    (void)selector;
    return ((struct fake_buffer *)own)->bytes;
}

static void *buffer_contents(void *own, const char *selector)
{
    const struct fake_buffer *buffer = own;
    (void)selector;
    return buffer->is_private ? NULL : buffer->data;
}

static void *buffer_device(void *own, const char *selector)
{
    (void)selector;
    return ((struct fake_buffer *)own)->device;
}

static void buffer_dealloc(void *own)
{
    free(((struct fake_buffer *)own)->data);
}

static const struct objc_method buffer_methods[] = {
    OBJC_METHOD("length", buffer_length),
    OBJC_METHOD("contents", buffer_contents),
    OBJC_METHOD("device", buffer_device),
    {NULL, NULL, false},
};
static const struct objc_class buffer_class = {
    .name = "MTLBuffer",
    .bytes = sizeof(struct fake_buffer),
    .methods = buffer_methods,
    .dealloc = buffer_dealloc,
};

static void *device_new_buffer(void *own, const char *selector, unsigned long bytes, unsigned long options)
{
    (void)selector;
    if (!fake_begin()) return NULL;
    if (bytes == 0 || bytes > MAX_BUFFER) objc_complain("a buffer of %lu bytes", bytes);
    struct fake_buffer *buffer = objc_create(&buffer_class);
    buffer->device = own;
    buffer->bytes = bytes;
    buffer->data = malloc(bytes);
    buffer->is_private = (options & STORAGE_MASK) == STORAGE_PRIVATE;
    memset(buffer->data, 0xa5, bytes); // nothing promises zeros
    return buffer;
}

static void *device_new_filled(void *own, const char *selector, const void *from, unsigned long bytes,
                               unsigned long options)
{
    struct fake_buffer *buffer = device_new_buffer(own, selector, bytes, options);
    if (buffer && buffer->is_private) objc_complain("newBufferWithBytes: into private memory");
    if (buffer) memcpy(buffer->data, from, bytes);
    return buffer;
}

// ---- MTLCommandQueue ------------------------------------------------------------------------------------------------

static void *queue_commands(void *own, const char *selector)
{
    (void)selector;
    return fake_begin() ? objc_autorelease(fake_commands_create(own)) : NULL;
}

static void *queue_device(void *own, const char *selector)
{
    (void)selector;
    return ((struct fake_queue *)own)->device;
}

static const struct objc_method queue_methods[] = {OBJC_METHOD("commandBuffer", queue_commands),
                                                   OBJC_METHOD("device", queue_device),
                                                   {NULL, NULL, false}};
static const struct objc_class queue_class = {.name = "MTLCommandQueue",
                                              .bytes = sizeof(struct fake_queue),
                                              .methods = queue_methods};

static void *device_new_queue(void *own, const char *selector)
{
    (void)selector;
    if (!fake_begin()) return NULL;
    struct fake_queue *queue = objc_create(&queue_class);
    queue->device = own;
    return queue;
}

// ---- MTLDevice ------------------------------------------------------------------------------------------------------

static void *device_name(void *own, const char *selector)
{
    (void)selector;
    return ((struct fake_device *)own)->name;
}

static signed char device_unified(void *own, const char *selector)
{
    (void)own;
    (void)selector;
    return fake.unified != 0;
}

static uint64_t device_working_set(void *own, const char *selector)
{
    (void)own;
    (void)selector;
    return UINT64_C(1) << 33;
}

static unsigned long device_max_buffer(void *own, const char *selector)
{
    (void)own;
    (void)selector;
    return MAX_BUFFER;
}

static unsigned long device_max_shared(void *own, const char *selector)
{
    (void)own;
    (void)selector;
    return 32768;
}

static struct fake_size device_max_group(void *own, const char *selector)
{
    (void)own;
    (void)selector;
    return (struct fake_size){FAKE_MAX_GROUP, FAKE_MAX_GROUP, FAKE_MAX_GROUP};
}

static signed char device_family(void *own, const char *selector, long family)
{
    (void)own;
    (void)selector;
    return family >= 1001 && family <= 1007;
}

static void *device_new_library(void *own, const char *selector, void *source, void *options, void **error)
{
    (void)own;
    (void)selector;
    if (fake_options_are_fast(options)) fake_count(&fake.fast_math);
    if (fake_begin()) return fake_library_create(fake_text(source), error);
    if (error) *error = fake_error(3, "the compiler was told to fail");
    return NULL;
}

static void *device_new_pipeline(void *own, const char *selector, void *function, void **error)
{
    (void)own;
    (void)selector;
    if (fake_begin()) return fake_pipeline_create(function);
    if (error) *error = fake_error(2, "the pipeline was told to fail");
    return NULL;
}

static const struct objc_method device_methods[] = {
    OBJC_METHOD("name", device_name),
    OBJC_NEW_METHOD("hasUnifiedMemory", device_unified),
    OBJC_NEW_METHOD("recommendedMaxWorkingSetSize", device_working_set),
    OBJC_METHOD("maxBufferLength", device_max_buffer),
    OBJC_METHOD("maxThreadgroupMemoryLength", device_max_shared),
    OBJC_METHOD("maxThreadsPerThreadgroup", device_max_group),
    OBJC_NEW_METHOD("supportsFamily:", device_family),
    OBJC_METHOD("newCommandQueue", device_new_queue),
    OBJC_METHOD("newBufferWithLength:options:", device_new_buffer),
    OBJC_METHOD("newBufferWithBytes:length:options:", device_new_filled),
    OBJC_METHOD("newLibraryWithSource:options:error:", device_new_library),
    OBJC_METHOD("newComputePipelineStateWithFunction:error:", device_new_pipeline),
    {NULL, NULL, false},
};
static const struct objc_class device_class = {.name = "MTLDevice",
                                               .bytes = sizeof(struct fake_device),
                                               .methods = device_methods};

// Retained and released like others, and kept by the fake as well.
static void *const *find_devices(void)
{
    static const char *const names[] = {"Apple G1 (fake)", "Apple G2 (fake)"};
    static void *devices[2];
    fake_lock();
    bool first = !devices[0];
    fake_unlock();
    for (int i = 0; i < 2 && first; i++) {
        struct fake_device *device = objc_create(&device_class);
        device->name = fake_string(names[i]);
        devices[i] = device;
        fake.kept += 2;
    }
    return devices;
}

EXPORTED void *MTLCreateSystemDefaultDevice(void);
void *MTLCreateSystemDefaultDevice(void)
{
    fake_read_environment();
    return fake.devices > 0 ? objc_retain(find_devices()[0]) : NULL;
}

EXPORTED void *MTLCopyAllDevices(void);
void *MTLCopyAllDevices(void)
{
    return fake_array(find_devices(), (int)fake.devices);
}
