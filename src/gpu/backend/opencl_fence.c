// SPDX-License-Identifier: Apache-2.0
// The OpenCL backend's fences. In: events of the application. Out: a barrier in the queue that waits for them, and
// markers, whose events others wait for.
#include <stdlib.h>

#include "gpu/backend/opencl_device.h"
#include "gpu/backend/wait.h"

struct gpu_fence {
    struct opencl_await await;
    uint64_t spin, limit; // of struct gpu_wait_desc
};

const char *gpu_opencl_fence_type(const struct gpu_device *device)
{
    (void)device;
    return HALITE_FENCE_CL;
}

bool gpu_opencl_fence_await(struct gpu_device *device, const HaliteGpuFence *fence)
{
    cl_event event = (cl_event)(uintptr_t)fence->handle;
    return gpu_device_is_alive(&device->base, "wait for a fence") &&
           gpu_opencl_check(device, device->cl->clEnqueueBarrierWithWaitList(device->queue, 1, &event, NULL),
                            "clEnqueueBarrierWithWaitList", "an input's cl_event");
}

// An event behind everything in the queue, which is flushed so that other queues may wait for it. NULL after a message.
static cl_event mark(struct gpu_device *device)
{
    cl_event event = NULL;
    if (!gpu_device_is_alive(&device->base, "make a fence") ||
        !gpu_opencl_check(device, device->cl->clEnqueueMarkerWithWaitList(device->queue, 0, NULL, &event),
                          "clEnqueueMarkerWithWaitList", "a fence"))
        return NULL;
    if (gpu_opencl_check(device, device->cl->clFlush(device->queue), "clFlush", "a fence")) return event;
    device->cl->clReleaseEvent(event);
    return NULL;
}

bool gpu_opencl_fence_signal(struct gpu_device *device, HaliteGpuFence *fence)
{
    cl_event event = mark(device);
    if (event) fence->handle = (uint64_t)(uintptr_t)event;
    return event != NULL;
}

struct gpu_fence *gpu_opencl_fence_create(struct gpu_device *device)
{
    struct gpu_fence *fence = calloc(1, sizeof *fence);
    if (!fence) return gpu_device_no_memory(&device->base, "a fence");
    *fence = (struct gpu_fence){{device->cl, mark(device)},
                                gpu_device_wait_spin(&device->base),
                                gpu_device_wait_limit(&device->base)};
    if (fence->await.event) return fence;
    free(fence);
    return NULL;
}

bool gpu_opencl_fence_wait(struct gpu_fence *fence)
{
    struct gpu_wait_desc desc = {gpu_opencl_is_busy, &fence->await, fence->spin, fence->limit};
    return gpu_wait_until_done(&desc) && fence->await.cl->clWaitForEvents(1, &fence->await.event) == CL_SUCCESS;
}

void gpu_opencl_fence_destroy(struct gpu_fence *fence)
{
    if (fence) fence->await.cl->clReleaseEvent(fence->await.event);
    free(fence);
}
