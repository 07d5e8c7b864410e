// SPDX-License-Identifier: Apache-2.0
// The Vulkan backend's fences. In: semaphores of the application. Out: submissions without commands, which wait for
// them or signal them, or which a VkFence of our own belongs to. A wait of a submission holds back what is submitted
// after it, and a signal comes when everything before it is done, so that lists know nothing of fences.
#if defined(HALITE_GPU_VULKAN)
#include <stdlib.h>
#include <string.h>

#include "gpu/backend/vulkan_device.h"

struct gpu_fence {
    const struct vulkan_device_api *vk;
    VkDevice device;
    VkFence handle;
    uint64_t limit;
    bool is_abandoned; // as the device
};

// On a queue of our own nothing of the application can be waited for.
const char *gpu_vulkan_fence_type(const struct gpu_device *device)
{
    return device->shared ? HALITE_FENCE_VK : NULL;
}

bool gpu_vulkan_submit_semaphore(struct gpu_device *device, VkSemaphore semaphore, uint64_t value, bool signals)
{
    VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = signals ? 0 : 1,
        .pWaitSemaphoreValues = &value,
        .signalSemaphoreValueCount = signals ? 1 : 0,
        .pSignalSemaphoreValues = &value,
    };
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = value ? &values : NULL,
        .waitSemaphoreCount = signals ? 0 : 1,
        .pWaitSemaphores = &semaphore,
        .pWaitDstStageMask = &stage,
        .signalSemaphoreCount = signals ? 1 : 0,
        .pSignalSemaphores = &semaphore,
    };
    return VULKAN_CALL(device, vkQueueSubmit, device->queue, 1, &info, VK_NULL_HANDLE);
}

static bool submit(struct gpu_device *device, const HaliteGpuFence *fence, bool signals)
{
    VkSemaphore semaphore;
    memcpy(&semaphore, &fence->handle, sizeof semaphore); // a pointer or an integer
    return gpu_vulkan_submit_semaphore(device, semaphore, fence->value, signals);
}

bool gpu_vulkan_fence_await(struct gpu_device *device, const HaliteGpuFence *fence)
{
    return gpu_device_is_alive(&device->base, "wait for a semaphore") && submit(device, fence, false);
}

bool gpu_vulkan_fence_signal(struct gpu_device *device, HaliteGpuFence *fence)
{
    return gpu_device_is_alive(&device->base, "signal a semaphore") && submit(device, fence, true);
}

struct gpu_fence *gpu_vulkan_fence_create(struct gpu_device *device)
{
    VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    if (!gpu_device_is_alive(&device->base, "make a fence")) return NULL;
    struct gpu_fence *fence = calloc(1, sizeof *fence);
    if (!fence) return gpu_device_no_memory(&device->base, "a fence");
    fence->vk = &device->vk;
    fence->device = device->handle;
    fence->limit = gpu_device_wait_limit(&device->base);
    if (VULKAN_CALL(device, vkCreateFence, device->handle, &info, NULL, &fence->handle) &&
        VULKAN_CALL(device, vkQueueSubmit, device->queue, 0, NULL, fence->handle))
        return fence;
    gpu_vulkan_fence_destroy(fence);
    return NULL;
}

bool gpu_vulkan_fence_wait(struct gpu_fence *fence)
{
    VkResult result = fence->vk->vkWaitForFences(fence->device, 1, &fence->handle, VK_TRUE, fence->limit);
    fence->is_abandoned = result == VK_TIMEOUT;
    return result == VK_SUCCESS;
}

void gpu_vulkan_fence_destroy(struct gpu_fence *fence)
{
    if (fence && !fence->is_abandoned) fence->vk->vkDestroyFence(fence->device, fence->handle, NULL);
    free(fence);
}
#endif
