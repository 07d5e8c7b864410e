// SPDX-License-Identifier: Apache-2.0
// What the files of the OpenCL backend share: a device with its errors and buffers (opencl.c), images and memory of the
// application (opencl_images.c, opencl_memory.c), and fences (opencl_fence.c).
#ifndef HALITE_GPU_BACKEND_OPENCL_DEVICE_H
#define HALITE_GPU_BACKEND_OPENCL_DEVICE_H

#include "gpu/backend/device_base.h"
#include "gpu/backend/image_uses.h"
#include "gpu/backend/opencl_api.h"

enum { OPENCL_READ_BYTES = 16 << 10 }; // smaller reads go through memory of their own

struct gpu_device {
    struct gpu_device_base base;
    const struct opencl_api *cl;
    cl_device_id id;
    int capability; // of a device of NVIDIA's, 90 for 9.0; else 0
    cl_context context;
    cl_command_queue queue;
    cl_command_queue clocked; // with profiling; NULL until the first profile
    // Pinned host memory that the device reads asynchronously, so that a write need not wait for the queue. It is
    // created by the first write. Writing 602,112 bytes to an H200 takes 23 us this way and 52 us with a wait.
    cl_mem staging;
    unsigned char *staged;
    size_t staged_bytes; // in use by pending writes; 0 whenever the queue is known to be idle
    bool unstaged;       // there is no staging memory: writes wait
    cl_event sent;       // of the last buffer_send from lent memory that list_run has yet to wait for; else NULL
    unsigned char *read; // OPENCL_READ_BYTES, where small reads arrive; NULL until the first
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

// Waits for an event of a queue, and releases it. False after a message.
bool gpu_opencl_end_event(struct gpu_device *device, cl_command_queue queue, cl_event event);
// Waits for all that the queue has to do. False after a message.
bool gpu_opencl_finish(struct gpu_device *device, cl_command_queue queue);

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
bool gpu_opencl_buffer_write(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, const void *from,
                             size_t bytes);
struct gpu_lent *gpu_opencl_lend(struct gpu_device *device, struct gpu_buffer *buffer, size_t bytes, bool from_host);
void gpu_opencl_take_back(struct gpu_device *device, struct gpu_lent *lent);
bool gpu_opencl_buffer_send(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, const void *from,
                            size_t bytes);
// Waits until the last buffer_send has read what it sends. False after a message.
bool gpu_opencl_await_sent(struct gpu_device *device);
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
