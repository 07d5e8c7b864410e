// SPDX-License-Identifier: Apache-2.0
// Memory of the host in the OpenCL backend. In: a pointer of the application. Out: a buffer made of that memory,
// which the application may touch while the buffer is mapped: a list unmaps it when a run begins, and maps it when it
// ends. On devices with memory of their own both would copy all of it, inputs back and outputs there: those take
// none.
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
