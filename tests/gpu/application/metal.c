// SPDX-License-Identifier: Apache-2.0
// An application that uses Metal, by the Objective-C runtime as the delegate does.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/application/application.h"
#include "gpu/backend/metal_api.h"

// The value of delegate_session.h.
static const char text_of_fill[] =
    "kernel void fill(device float *to [[buffer(0)]], uint3 gid_ [[thread_position_in_grid]],\n"
    "    uint3 lid_ [[thread_position_in_threadgroup]], uint3 group_ [[threadgroup_position_in_grid]])\n{\n"
    "    int i = int(gid_.x);\n"
    "    to[i] = float(i % 7 - 3) * 0.5f;\n}\n";
static const char text_of_inspect[] =
    "kernel void inspect(device const float *from [[buffer(0)]], device float *to [[buffer(1)]],\n"
    "    uint3 gid_ [[thread_position_in_grid]], uint3 lid_ [[thread_position_in_threadgroup]],\n"
    "    uint3 group_ [[threadgroup_position_in_grid]])\n{\n"
    "    to[gid_.x] = from[gid_.x] + 1.0f;\n}\n";

static struct {
    const struct metal_api *mtl;
    void *device, *queue, *fill, *inspect, *room;
} app;

static void *string_of(const char *text)
{
    return METAL_TELL(app.mtl, void *, app.mtl->objc.get_class("NSString"), new_string, (const char *), text);
}

static void *make_pipeline(const char *text, const char *name)
{
    void *error = NULL;
    void *library =
        METAL_TELL(app.mtl, void *, app.device, new_library, (void *, void *, void **), string_of(text), NULL, &error);
    assert_non_null(library);
    void *function = METAL_TELL(app.mtl, void *, library, new_function, (void *), string_of(name));
    void *pipeline = METAL_TELL(app.mtl, void *, app.device, new_pipeline, (void *, void **), function, &error);
    METAL_TELL0(app.mtl, void, function, release);
    METAL_TELL0(app.mtl, void, library, release);
    assert_non_null(pipeline);
    return pipeline;
}

static void *make_buffer(size_t bytes, unsigned long options)
{
    return METAL_TELL(app.mtl, void *, app.device, new_buffer, (unsigned long, unsigned long), (unsigned long)bytes,
                      options);
}

static bool begin(HaliteGpuContext *context)
{
    const struct metal_library *library = gpu_metal_library();
    if (library->count <= 0) return false;
    app.mtl = &library->api;
    void *pool = app.mtl->objc.push();
    app.device = library->devices[0];
    app.queue = METAL_TELL0(app.mtl, void *, app.device, new_queue);
    app.fill = make_pipeline(text_of_fill, "fill");
    app.inspect = make_pipeline(text_of_inspect, "inspect");
    app.room = make_buffer(APPLICATION_ROOM, METAL_STORAGE_SHARED);
    app.mtl->objc.pop(pool);
    *context = (HaliteGpuContext){.struct_size = sizeof *context,
                                  .api = kHaliteGpuApiMetal,
                                  .mtl_device = app.device,
                                  .mtl_command_queue = app.queue};
    return true;
}

static void end(void)
{
    void *const objects[] = {app.queue, app.fill, app.inspect, app.room};
    for (int i = 0; i < 4; i++) METAL_TELL0(app.mtl, void, objects[i], release);
}

static uint64_t create(size_t bytes)
{
    return (uint64_t)(uintptr_t)make_buffer(bytes, METAL_STORAGE_PRIVATE);
}

static void destroy(uint64_t buffer)
{
    METAL_TELL0(app.mtl, void, (void *)(uintptr_t)buffer, release);
}

// Runs a kernel over `count` floats, with buffers from index 0 on.
static void run(void *pipeline, int count, void *const buffers[2], const size_t offsets[2], bool waits)
{
    const struct metal_api *mtl = app.mtl;
    const struct metal_size groups = {(unsigned long)count, 1, 1}, group = {1, 1, 1};
    void *pool = mtl->objc.push();
    void *commands = METAL_TELL0(mtl, void *, app.queue, commands);
    void *encoder = METAL_TELL(mtl, void *, commands, encoder_of_type, (unsigned long), METAL_DISPATCH_CONCURRENT);
    METAL_TELL(mtl, void, encoder, set_pipeline, (void *), pipeline);
    for (int i = 0; i < 2 && buffers[i]; i++)
        METAL_TELL(mtl, void, encoder, set_buffer, (void *, unsigned long, unsigned long), buffers[i],
                   (unsigned long)offsets[i], (unsigned long)i);
    METAL_TELL(mtl, void, encoder, dispatch, (struct metal_size, struct metal_size), groups, group);
    METAL_TELL0(mtl, void, encoder, end);
    METAL_TELL0(mtl, void, commands, commit);
    if (waits) METAL_TELL0(mtl, void, commands, wait);
    mtl->objc.pop(pool);
}

static void fill(uint64_t buffer, size_t offset, int count)
{
    run(app.fill, count, (void *const[2]){(void *)(uintptr_t)buffer}, (size_t[2]){offset}, false);
}

static void inspect(uint64_t buffer, size_t offset, int count, float *to)
{
    assert_true((size_t)count * sizeof(float) <= APPLICATION_ROOM);
    run(app.inspect, count, (void *const[2]){(void *)(uintptr_t)buffer, app.room}, (size_t[2]){offset, 0}, true);
    memcpy(to, METAL_TELL0(app.mtl, void *, app.room, contents), (size_t)count * sizeof(float));
}

// Copies between a buffer and memory of the host, by way of a shared buffer.
static void copy(void *from, size_t from_offset, void *to, size_t to_offset, size_t bytes)
{
    const struct metal_api *mtl = app.mtl;
    void *pool = mtl->objc.push();
    void *commands = METAL_TELL0(mtl, void *, app.queue, commands);
    void *copier = METAL_TELL0(mtl, void *, commands, copier);
    METAL_TELL(mtl, void, copier, copy, (void *, unsigned long, void *, unsigned long, unsigned long), from,
               (unsigned long)from_offset, to, (unsigned long)to_offset, (unsigned long)bytes);
    METAL_TELL0(mtl, void, copier, end);
    METAL_TELL0(mtl, void, commands, commit);
    METAL_TELL0(mtl, void, commands, wait);
    mtl->objc.pop(pool);
}

static void write_bytes(uint64_t buffer, size_t offset, const void *from, size_t bytes)
{
    void *shared = make_buffer(bytes, METAL_STORAGE_SHARED);
    memcpy(METAL_TELL0(app.mtl, void *, shared, contents), from, bytes);
    copy(shared, 0, (void *)(uintptr_t)buffer, offset, bytes);
    METAL_TELL0(app.mtl, void, shared, release);
}

static void read_bytes(uint64_t buffer, size_t offset, void *to, size_t bytes)
{
    void *shared = make_buffer(bytes, METAL_STORAGE_SHARED);
    copy((void *)(uintptr_t)buffer, offset, shared, 0, bytes);
    memcpy(to, METAL_TELL0(app.mtl, void *, shared, contents), bytes);
    METAL_TELL0(app.mtl, void, shared, release);
}

const struct application application_metal = {
    .name = "metal",
    .begin = begin,
    .end = end,
    .create = create,
    .destroy = destroy,
    .fill = fill,
    .inspect = inspect,
    .write = write_bytes,
    .read = read_bytes,
};
