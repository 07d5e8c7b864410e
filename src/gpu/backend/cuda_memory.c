// SPDX-License-Identifier: Apache-2.0
// The CUDA backend's memory. In: ranges of buffers and bytes of the host. Out: copies in the device's stream, which
// come after earlier lists and before later ones. Small copies go through pinned memory: a write then returns when its
// bytes are in there, and does not wait for the stream.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/backend/cuda_device.h"

enum {
    STAGING_BYTES = 4 << 20, // for writes, and as much for reads
    STAGING_PIECE = 256,
    MAX_FROM_HOST_BYTES = 2 << 20, // larger inputs, and larger outputs, lie on the device
    MAX_TO_HOST_BYTES = 64 << 10,
};

struct gpu_buffer *gpu_cuda_buffer_create(struct gpu_device *device, size_t bytes)
{
    struct gpu_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer) return gpu_device_no_memory(&device->base, "a buffer");
    char about[48];
    snprintf(about, sizeof about, "%zu bytes", bytes);
    buffer->bytes = bytes;
    bool ok = gpu_device_allows_buffer(&device->base, bytes) && gpu_cuda_enter(device, "create a buffer");
    if (ok) {
        cuda_result code = device->cuda->memory_allocate(&buffer->address, bytes);
        gpu_cuda_leave(device);
        ok = gpu_cuda_succeeded(device, code, "cuMemAlloc", about);
    }
    if (ok) return buffer;
    free(buffer);
    return NULL;
}

// Kernels of the first and last level read and write such a buffer through the bus, without a copy of the stream's. On
// an H200, MobileNet v1 takes 173 to 178 us this way and 185 to 189 with copies. Larger outputs are slower: the kernel
// that writes them has stores of a few bytes (DeepLab v3, 5.5 MB: 1,570 us, and 714 with a copy).
struct gpu_buffer *gpu_cuda_buffer_create_for_host(struct gpu_device *device, size_t bytes, bool from_host)
{
    unsigned flags = CUDA_HOST_PORTABLE | CUDA_HOST_MAPPED | (from_host ? CUDA_HOST_WRITE_COMBINED : 0);
    if (bytes > (from_host ? MAX_FROM_HOST_BYTES : MAX_TO_HOST_BYTES)) return gpu_cuda_buffer_create(device, bytes);
    if (!gpu_cuda_enter(device, "create a buffer")) return NULL;
    struct gpu_buffer *buffer = calloc(1, sizeof *buffer);
    void *memory = NULL;
    bool ok = buffer && device->cuda->host_allocate(&memory, bytes, flags) == CUDA_OK;
    gpu_cuda_leave(device);
    if (ok) {
        *buffer = (struct gpu_buffer){.address = (cuda_pointer)memory, .bytes = bytes, .host = memory};
        return buffer;
    }
    free(buffer);
    return gpu_cuda_buffer_create(device, bytes);
}

// Kernels read and write vectors of four floats.
enum { ADDRESS_MULTIPLE = 16 };

struct gpu_buffer *gpu_cuda_buffer_import(struct gpu_device *device, uint64_t handle, size_t *bytes)
{
    cuda_pointer address = (cuda_pointer)handle, start = 0;
    size_t all = 0;
    if (!gpu_cuda_enter(device, "take a buffer")) return NULL;
    cuda_result code = device->cuda->memory_range(&start, &all, address);
    gpu_cuda_leave(device);
    if (!gpu_cuda_succeeded(device, code, "cuMemGetAddressRange", "a CUdeviceptr of the application")) return NULL;
    size_t there = all - (size_t)(address - start);
    if (address % ADDRESS_MULTIPLE != 0 || *bytes > there) {
        gpu_device_fail(&device->base, "the application's CUdeviceptr %s",
                        *bytes > there ? "has less memory from there on than it says: set offset and size"
                                       : "is no multiple of 16: align it");
        return NULL;
    }
    struct gpu_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer) return gpu_device_no_memory(&device->base, "a buffer");
    *buffer = (struct gpu_buffer){.address = address, .bytes = there, .is_borrowed = true};
    if (*bytes == 0) *bytes = there;
    return buffer;
}

struct gpu_buffer *gpu_cuda_memory_import(struct gpu_device *device, const struct gpu_memory_desc *desc)
{
    void *memory = (void *)(uintptr_t)desc->handle;
    cuda_pointer address = 0;
    if (desc->handle % ADDRESS_MULTIPLE != 0 || !gpu_cuda_enter(device, "take memory")) return NULL;
    struct gpu_buffer *buffer = calloc(1, sizeof *buffer);
    bool pinned =
        buffer && device->cuda->host_register(memory, desc->bytes, CUDA_HOST_PORTABLE | CUDA_HOST_MAPPED) == CUDA_OK;
    bool seen = pinned && device->cuda->host_pointer(&address, memory, 0) == CUDA_OK;
    if (pinned && !seen) device->cuda->host_unregister(memory);
    gpu_cuda_leave(device);
    if (seen) {
        *buffer = (struct gpu_buffer){.address = address, .bytes = desc->bytes, .host = memory, .is_borrowed = true};
        return buffer;
    }
    free(buffer);
    return NULL;
}

void gpu_cuda_buffer_destroy(struct gpu_device *device, struct gpu_buffer *buffer)
{
    if (!buffer) return;
    if (gpu_cuda_enter_to_destroy(device)) {
        cuda_result ignored;
        bool ended = gpu_cuda_settle(device, &ignored);
        if (ended && buffer->host && buffer->is_borrowed)
            device->cuda->host_unregister(buffer->host);
        else if (ended && buffer->host)
            device->cuda->host_free(buffer->host);
        else if (ended && !buffer->is_borrowed)
            device->cuda->memory_free(buffer->address);
        gpu_cuda_leave(device);
    }
    free(buffer);
}

// Whether a copy of this size can go through the staging memory, which is made at its first use. If the driver has none
// to give, copies go without.
static bool has_staging(struct gpu_device *device, size_t bytes)
{
    if (bytes > STAGING_BYTES) return false;
    void *memory = NULL;
    if (!device->staging && device->cuda->host_allocate(&memory, 2 * STAGING_BYTES, CUDA_HOST_PORTABLE) == CUDA_OK)
        device->staging = memory;
    return device->staging != NULL;
}

static bool write_now(struct gpu_device *device, cuda_pointer to, const void *from, size_t bytes)
{
    const struct cuda_api *cuda = device->cuda;
    if (has_staging(device, bytes)) {
        if (bytes > STAGING_BYTES - device->staged_bytes && !gpu_cuda_finish(device)) return false;
        from = memcpy(device->staging + device->staged_bytes, from, bytes);
        device->is_busy = true;
        device->staged_bytes += (bytes + STAGING_PIECE - 1) / STAGING_PIECE * STAGING_PIECE;
        return gpu_cuda_succeeded(device, cuda->copy_to_device(to, from, bytes, device->stream), "cuMemcpyHtoDAsync",
                                  "writing a buffer");
    }
    return gpu_cuda_succeeded(device, cuda->copy_to_device(to, from, bytes, device->stream), "cuMemcpyHtoDAsync",
                              "writing a large buffer") &&
           gpu_cuda_finish(device);
}

bool gpu_cuda_buffer_write(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, const void *from,
                           size_t bytes)
{
    if (!gpu_device_has_range(&device->base, buffer->bytes, offset, bytes, "writing") ||
        !gpu_device_is_alive(&device->base, "write a buffer"))
        return false;
    if (buffer->host && !device->is_busy) { // no kernel can be reading it
        memcpy(buffer->host + offset, from, bytes);
        return true;
    }
    if (!gpu_cuda_enter(device, "write a buffer")) return false;
    bool ok = bytes == 0 || write_now(device, buffer->address + offset, from, bytes);
    gpu_cuda_leave(device);
    return ok;
}

// Copies through the stream, and waits.
static bool read_now(struct gpu_device *device, cuda_pointer from, void *to, size_t bytes)
{
    void *staged = has_staging(device, bytes) ? device->staging + STAGING_BYTES : NULL;
    // A copy to the caller's memory begins when the device has nothing else to do: none is left behind by a run that
    // does not end.
    if (!staged && !gpu_cuda_finish(device)) return false;
    cuda_result code = device->cuda->copy_to_host(staged ? staged : to, from, bytes, device->stream);
    device->is_busy = true;
    if (!gpu_cuda_succeeded(device, code, "cuMemcpyDtoHAsync", "reading a buffer") || !gpu_cuda_finish(device))
        return false;
    if (staged) memcpy(to, staged, bytes);
    return true;
}

bool gpu_cuda_buffer_read(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, void *to, size_t bytes)
{
    if (!gpu_device_has_range(&device->base, buffer->bytes, offset, bytes, "reading") ||
        !gpu_cuda_enter(device, "read a buffer"))
        return false;
    bool ok = true;
    if (buffer->host) {
        ok = !device->is_busy || gpu_cuda_finish(device);
        if (ok) memcpy(to, buffer->host + offset, bytes);
    } else if (bytes > 0) {
        ok = read_now(device, buffer->address + offset, to, bytes);
    }
    gpu_cuda_leave(device);
    return ok;
}
