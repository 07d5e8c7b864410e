// SPDX-License-Identifier: Apache-2.0
// The Vulkan backend's errors and its queue. In: results of calls, and command buffers. Out: messages, numbered
// submissions to wait for, and the barriers inside and between them.
#if defined(HALITE_GPU_VULKAN)
#include <stdio.h>

#include "base/clock.h"
#include "gpu/backend/vulkan_device.h"

enum { MAX_SPIN_NANOSECONDS = 500000 };

// ---- errors ---------------------------------------------------------------------------------------------------------

// clang-format off
#define RESULTS(X) \
    X(VK_NOT_READY) X(VK_TIMEOUT) X(VK_INCOMPLETE) X(VK_ERROR_OUT_OF_HOST_MEMORY) X(VK_ERROR_OUT_OF_DEVICE_MEMORY) \
    X(VK_ERROR_INITIALIZATION_FAILED) X(VK_ERROR_DEVICE_LOST) X(VK_ERROR_MEMORY_MAP_FAILED) \
    X(VK_ERROR_LAYER_NOT_PRESENT) X(VK_ERROR_EXTENSION_NOT_PRESENT) X(VK_ERROR_FEATURE_NOT_PRESENT) \
    X(VK_ERROR_TOO_MANY_OBJECTS) X(VK_ERROR_FRAGMENTED_POOL) X(VK_ERROR_OUT_OF_POOL_MEMORY) X(VK_ERROR_FRAGMENTATION) \
    X(VK_ERROR_INVALID_SHADER_NV) X(VK_ERROR_UNKNOWN)
// clang-format on

static const char *result_name(VkResult result)
{
#define X(name) \
    if (result == name) return #name;
    RESULTS(X)
#undef X
    return "a result that it should not give";
}

static const char *advice(VkResult result)
{
    switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY: return "the process is out of memory";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
        return "the GPU's memory is full: use a smaller batch or model, or free some of it";
    case VK_ERROR_TOO_MANY_OBJECTS: return "delete delegates that are not in use";
    case VK_ERROR_DEVICE_LOST: return "the driver gave the GPU up: delete the delegate and make a new one";
    default: return "check the driver: vulkaninfo, and HALITE_VULKAN_VALIDATION=1 for the reason";
    }
}

bool gpu_vulkan_check(struct gpu_device *device, VkResult result, const char *call)
{
    if (result == VK_SUCCESS) return true;
    if (result == VK_ERROR_DEVICE_LOST) device->base.lost = true;
    return gpu_device_fail(&device->base, "%s failed: %s (%d): %s", call, result_name(result), (int)result,
                           advice(result));
}

// ---- the queue ------------------------------------------------------------------------------------------------------

// Polls the fence for a while before it sleeps. On an H200 a list of 30 small dispatches takes 83 us this way, and
// 101 us if polling ends after 50 us.
bool gpu_vulkan_wait(struct gpu_device *device, uint64_t number)
{
    if (number <= device->completed) return true;
    VkFence fence = device->fences[number % VULKAN_FENCES];
    VkResult result = VK_NOT_READY;
    if (!device->base.caps.software) {
        uint64_t end = hl_nanoseconds() + MAX_SPIN_NANOSECONDS;
        do result = device->vk.vkGetFenceStatus(device->handle, fence);
        while (result == VK_NOT_READY && hl_nanoseconds() < end);
    }
    if (result == VK_NOT_READY)
        result = device->vk.vkWaitForFences(device->handle, 1, &fence, VK_TRUE, gpu_device_wait_limit(&device->base));
    if (result == VK_TIMEOUT) return gpu_device_abandon(&device->base);
    if (!gpu_vulkan_check(device, result, "vkWaitForFences")) return false;
    device->completed = number;
    return true;
}

uint64_t gpu_vulkan_submit(struct gpu_device *device, const VkCommandBuffer *commands, int count)
{
    uint64_t number = device->submitted + 1;
    if (number > VULKAN_FENCES && !gpu_vulkan_wait(device, number - VULKAN_FENCES)) return 0;
    VkFence fence = device->fences[number % VULKAN_FENCES];
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = (uint32_t)count,
        .pCommandBuffers = commands,
    };
    if (!VULKAN_CALL(device, vkResetFences, device->handle, 1, &fence)) return 0;
    if (!VULKAN_CALL(device, vkQueueSubmit, device->queue, 1, &info, fence)) return 0;
    return device->submitted = number;
}

static void barrier(const struct gpu_device *device, VkCommandBuffer commands, VkPipelineStageFlags from,
                    VkAccessFlags writes, VkPipelineStageFlags to, VkAccessFlags uses)
{
    VkMemoryBarrier memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = writes,
        .dstAccessMask = uses,
    };
    device->vk.vkCmdPipelineBarrier(commands, from, to, 0, 1, &memory, 0, NULL, 0, NULL);
}

enum {
    SHADER_USE = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT,
    COPY_USE = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
};

void gpu_vulkan_barrier(const struct gpu_device *device, VkCommandBuffer commands)
{
    barrier(device, commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
            VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, SHADER_USE);
}

void gpu_vulkan_barrier_to_all(const struct gpu_device *device, VkCommandBuffer commands, VkPipelineStageFlags stage)
{
    VkAccessFlags writes =
        stage == VK_PIPELINE_STAGE_TRANSFER_BIT ? VK_ACCESS_TRANSFER_WRITE_BIT : VK_ACCESS_SHADER_WRITE_BIT;
    barrier(device, commands, stage, writes,
            VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_HOST_BIT,
            SHADER_USE | COPY_USE | VK_ACCESS_HOST_READ_BIT);
}

void gpu_vulkan_barrier_to_application(const struct gpu_device *device, VkCommandBuffer commands)
{
    barrier(device, commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT,
            VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
}

bool gpu_vulkan_allocate_commands(struct gpu_device *device, VkCommandBuffer *commands)
{
    VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = device->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    return VULKAN_CALL(device, vkAllocateCommandBuffers, device->handle, &info, commands);
}

void gpu_vulkan_free_commands(struct gpu_device *device, VkCommandBuffer commands)
{
    if (commands && !device->base.is_abandoned)
        device->vk.vkFreeCommandBuffers(device->handle, device->pool, 1, &commands);
}

bool gpu_vulkan_begin_commands(struct gpu_device *device, VkCommandBuffer commands, VkCommandBufferUsageFlags usage)
{
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, .flags = usage};
    return VULKAN_CALL(device, vkBeginCommandBuffer, commands, &info);
}

bool gpu_vulkan_queue_create(struct gpu_device *device)
{
    VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = device->physical->family,
    };
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    if (!device->shared) device->vk.vkGetDeviceQueue(device->handle, device->physical->family, 0, &device->queue);
    if (!VULKAN_CALL(device, vkCreateCommandPool, device->handle, &pool, NULL, &device->pool)) return false;
    for (int i = 0; i < VULKAN_FENCES; i++)
        if (!VULKAN_CALL(device, vkCreateFence, device->handle, &fence, NULL, &device->fences[i])) return false;
    for (int i = 0; i < VULKAN_BATCHES; i++)
        if (!gpu_vulkan_allocate_commands(device, &device->batches[i].commands)) return false;
    return true;
}

void gpu_vulkan_queue_destroy(struct gpu_device *device)
{
    for (int i = 0; i < VULKAN_FENCES; i++) device->vk.vkDestroyFence(device->handle, device->fences[i], NULL);
    device->vk.vkDestroyCommandPool(device->handle, device->pool, NULL);
}
#endif
