// SPDX-License-Identifier: Apache-2.0
// What the files of the OpenCL backend share: a device with its errors and buffers (opencl.c), images and memory of the
// application (opencl_images.c, opencl_memory.c), and fences (opencl_fence.c).
#ifndef HALITE_GPU_BACKEND_OPENCL_DEVICE_H
#define HALITE_GPU_BACKEND_OPENCL_DEVICE_H

#include "gpu/backend/device_base.h"
#include "gpu/backend/image_uses.h"
#include "gpu/backend/opencl_api.h"

struct gpu_device {
    struct gpu_device_base base;
    const struct opencl_api *cl;
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    cl_command_queue clocked; // with profiling; NULL until the first profile
    // Pinned host memory that the device reads asynchronously, so that a write need not wait for the queue. It is
    // created by the first write. Writing 602,112 bytes to an H200 takes 23 us this way and 52 us with a wait.
    cl_mem staging;
    unsigned char *staged;
    size_t staged_bytes; // in use by pending writes; 0 whenever the queue is known to be idle
    bool unstaged;       // there is no staging memory: writes wait
    unsigned char *read; // READ_BYTES, where small reads arrive; NULL until the first
};

struct gpu_buffer {
    cl_mem memory;
    size_t bytes;
    struct opencl_image { // of the application, whose texels the buffer has; no memory: none
        cl_mem memory;
        size_t width, height;
        bool is_input;
    } image;
    void *host; // memory of the application that the buffer is made of, mapped but for the time of a run; else NULL
};

// Whether an OpenCL call succeeded. False after a message; about: the purpose of the call in a few words.
bool gpu_opencl_check(struct gpu_device *device, cl_int code, const char *function, const char *about);

// An event to wait for with a limit, which clWaitForEvents and clFinish do not have.
struct opencl_await {
    const struct opencl_api *cl;
    cl_event event;
};
// gpu_wait_desc.is_busy; about: a struct opencl_await.
bool gpu_opencl_is_busy(void *about);

// Functions of gpu_backend.
struct gpu_buffer *gpu_opencl_buffer_create(struct gpu_device *device, size_t bytes);
void gpu_opencl_buffer_destroy(struct gpu_device *device, struct gpu_buffer *buffer);
struct gpu_buffer *gpu_opencl_image_import(struct gpu_device *device, const struct gpu_image_desc *desc);
struct gpu_buffer *gpu_opencl_memory_import(struct gpu_device *device, const struct gpu_memory_desc *desc);
// Hands memory of the application to the device, or back to the host. False after a message.
bool gpu_opencl_memory_unmap(struct gpu_device *device, const struct gpu_buffer *buffer, cl_command_queue queue);
bool gpu_opencl_memory_map(struct gpu_device *device, const struct gpu_buffer *buffer, cl_command_queue queue);
// Enqueues the copy of the buffer's image to the buffer, or the other way for an output. False after a message.
bool gpu_opencl_image_copy(struct gpu_device *device, const struct gpu_buffer *buffer, cl_command_queue queue);

// The same, of opencl_fence.c.
const char *gpu_opencl_fence_type(const struct gpu_device *device);
bool gpu_opencl_fence_await(struct gpu_device *device, const HaliteGpuFence *fence);
bool gpu_opencl_fence_signal(struct gpu_device *device, HaliteGpuFence *fence);
struct gpu_fence *gpu_opencl_fence_create(struct gpu_device *device);
bool gpu_opencl_fence_wait(struct gpu_fence *fence);
void gpu_opencl_fence_destroy(struct gpu_fence *fence);

#endif
