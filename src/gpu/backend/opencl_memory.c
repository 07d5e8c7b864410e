// SPDX-License-Identifier: Apache-2.0
// Memory of the host in the OpenCL backend, from two sides. In: a pointer of the application. Out: a buffer made of
// that memory, which the application may touch while the buffer is mapped: a list unmaps it when a run begins, and maps
// it when it ends. On devices with memory of their own both would copy all of it, inputs back and outputs there: those
// take none. In: the size of a tensor. Out: memory of the driver's that stays mapped, for no kernel uses it: drivers
// pin such memory, from and to which the device copies by itself, where they carry bytes of ordinary memory in pieces.
#include <stdint.h>
#include <stdlib.h>

#include "gpu/backend/opencl_device.h"

enum { PAGE = 4096 }; // what drivers want to use memory where it is

struct gpu_buffer *gpu_opencl_memory_import(struct gpu_device *device, const struct gpu_memory_desc *desc)
{
    const struct gpu_caps *caps = &device->base.caps;
    if (!gpu_device_is_alive(&device->base, "take memory")) return NULL;
    if ((!caps->integrated && !caps->software) || desc->handle % PAGE != 0 || desc->bytes % PAGE != 0) return NULL;
    struct gpu_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer) return gpu_device_no_memory(&device->base, "a buffer");
    cl_int code;
    buffer->bytes = desc->bytes;
    buffer->memory = device->cl->clCreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, desc->bytes,
                                                (void *)(uintptr_t)desc->handle, &code);
    if (code == CL_SUCCESS) {
        buffer->host = (void *)(uintptr_t)desc->handle;
        if (gpu_opencl_memory_map(device, buffer, device->queue)) return buffer;
        buffer->host = NULL;
    }
    gpu_opencl_buffer_destroy(device, buffer);
    return NULL;
}

bool gpu_opencl_memory_unmap(struct gpu_device *device, const struct gpu_buffer *buffer, cl_command_queue queue)
{
    cl_int code = device->cl->clEnqueueUnmapMemObject(queue, buffer->memory, buffer->host, 0, NULL, NULL);
    return gpu_opencl_check(device, code, "clEnqueueUnmapMemObject", "memory of the application");
}

// The pointer is always that of the memory itself.
bool gpu_opencl_memory_map(struct gpu_device *device, const struct gpu_buffer *buffer, cl_command_queue queue)
{
    cl_int code;
    device->cl->clEnqueueMapBuffer(queue, buffer->memory, CL_FALSE, CL_MAP_READ | CL_MAP_WRITE, 0, buffer->bytes, 0,
                                   NULL, NULL, &code);
    return gpu_opencl_check(device, code, "clEnqueueMapBuffer", "memory of the application");
}

// ---- memory of tensors ----------------------------------------------------------------------------------------------

// A copy to the staging memory costs more than it costs the device to fetch bytes that a processor has just written
// (602,112 of them on an H200, in CUDA: 64 us with the copy, 35 without). Larger outputs than these would be read into
// ordinary memory.
enum { MIN_LENT_INPUT_BYTES = 64 << 10, MIN_LENT_OUTPUT_BYTES = OPENCL_READ_BYTES + 1 };

// NULL, without a message, where the driver has none.
static struct gpu_buffer *create_mapped(struct gpu_device *device, size_t bytes)
{
    struct gpu_buffer *buffer = calloc(1, sizeof *buffer);
    cl_int code;
    if (!buffer) return NULL;
    buffer->bytes = bytes;
    buffer->memory =
        device->cl->clCreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &code);
    if (code != CL_SUCCESS) buffer->memory = NULL;
    if (buffer->memory && gpu_opencl_finish(device, device->queue)) // what is mapped next waits without a limit
        buffer->host = device->cl->clEnqueueMapBuffer(device->queue, buffer->memory, CL_TRUE,
                                                      CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &code);
    if (buffer->host && code == CL_SUCCESS) return buffer;
    buffer->host = NULL;
    gpu_opencl_buffer_destroy(device, buffer);
    return NULL;
}

struct gpu_lent *gpu_opencl_lend(struct gpu_device *device, struct gpu_buffer *buffer, size_t bytes, bool from_host)
{
    if (device->base.lost || bytes < (from_host ? MIN_LENT_INPUT_BYTES : MIN_LENT_OUTPUT_BYTES)) return NULL;
    struct gpu_lent desc = {.bytes = bytes, .of = buffer, .buffer = create_mapped(device, bytes)};
    if (!desc.buffer) return NULL;
    desc.memory = desc.buffer->host;
    struct gpu_lent *lent = gpu_device_lend(&device->base, &desc);
    if (!lent) gpu_opencl_buffer_destroy(device, desc.buffer);
    return lent;
}

void gpu_opencl_take_back(struct gpu_device *device, struct gpu_lent *lent)
{
    gpu_opencl_buffer_destroy(device, lent->buffer);
    gpu_device_take_back(&device->base, lent);
}

bool gpu_opencl_buffer_send(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, const void *from,
                            size_t bytes)
{
    if (buffer->host || bytes == 0 || !gpu_device_lent_at(&device->base, from, bytes))
        return gpu_opencl_buffer_write(device, buffer, offset, from, bytes);
    if (!gpu_device_is_alive(&device->base, "write a buffer") ||
        !gpu_device_has_range(&device->base, buffer->bytes, offset, bytes, "writing"))
        return false;
    if (device->sent) device->cl->clReleaseEvent(device->sent);
    device->sent = NULL;
    cl_int code = device->cl->clEnqueueWriteBuffer(device->queue, buffer->memory, CL_FALSE, offset, bytes, from, 0,
                                                   NULL, &device->sent);
    return gpu_opencl_check(device, code, "clEnqueueWriteBuffer", "writing a buffer");
}

bool gpu_opencl_await_sent(struct gpu_device *device)
{
    cl_event event = device->sent;
    device->sent = NULL;
    return !event || gpu_opencl_end_event(device, device->queue, event);
}
