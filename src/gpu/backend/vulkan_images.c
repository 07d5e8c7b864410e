// SPDX-License-Identifier: Apache-2.0
// Images of the application in the Vulkan backend. In: a VkImage of the application's device, and the layouts that it
// has before and after a run. Out: a buffer for its texels, and the copy between the two that a list records, with the
// changes of layout that it needs. Vulkan cannot be asked what an image is, so that only the layouts are checked.
#if defined(HALITE_GPU_VULKAN)
#include <string.h>

#include "gpu/backend/vulkan_device.h"

// What is wrong with the layouts; NULL: nothing.
static const char *find_problem(const struct gpu_image_desc *desc)
{
    if (desc->layout_before < 0 || desc->layout_after < 0) return "there is no layout below 0";
    if (desc->is_input && desc->layout_before == VK_IMAGE_LAYOUT_UNDEFINED)
        return "it is an input, so that vk_layout_before must say in which layout it has its pixels";
    if (desc->layout_after == VK_IMAGE_LAYOUT_UNDEFINED || desc->layout_after == VK_IMAGE_LAYOUT_PREINITIALIZED)
        return "vk_layout_after must be a layout that images can be brought to";
    return NULL;
}

struct gpu_buffer *gpu_vulkan_image_import(struct gpu_device *device, const struct gpu_image_desc *desc)
{
    if (!gpu_device_is_alive(&device->base, "take an image")) return NULL;
    const char *problem = find_problem(desc);
    if (problem) gpu_device_fail(&device->base, "a VkImage of the application: %s", problem);
    size_t bytes = (size_t)desc->width * (size_t)desc->height * gpu_texel_bytes(desc->texel);
    struct gpu_buffer *buffer =
        problem ? NULL : gpu_vulkan_buffer_create(device, (bytes + 15) / 16 * 16); // whole vectors of floats
    if (!buffer) return NULL;
    buffer->image = (struct vulkan_image){.width = (uint32_t)desc->width,
                                          .height = (uint32_t)desc->height,
                                          .is_input = desc->is_input,
                                          .before = (VkImageLayout)desc->layout_before,
                                          .after = (VkImageLayout)desc->layout_after};
    memcpy(&buffer->image.handle, &desc->handle, sizeof buffer->image.handle); // a pointer or an integer
    return buffer;
}

// A barrier for the image, and for what came before it at all.
static void change_layout(const struct gpu_device *device, VkCommandBuffer commands, const struct vulkan_image *image,
                          bool begins)
{
    const VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, copy = VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkAccessFlags any = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    VkAccessFlags use = image->is_input ? VK_ACCESS_TRANSFER_READ_BIT : VK_ACCESS_TRANSFER_WRITE_BIT;
    VkImageLayout layout =
        image->is_input ? VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL : VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
    VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = begins ? VK_ACCESS_MEMORY_WRITE_BIT : use,
        .dstAccessMask = begins ? use : any,
        .oldLayout = begins ? image->before : layout,
        .newLayout = begins ? layout : image->after,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image->handle,
        .subresourceRange = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .levelCount = 1, .layerCount = 1},
    };
    device->vk.vkCmdPipelineBarrier(commands, begins ? all : copy, begins ? copy : all, 0, 0, NULL, 0, NULL, 1,
                                    &barrier);
}

void gpu_vulkan_image_copy(const struct gpu_device *device, VkCommandBuffer commands, const struct gpu_buffer *buffer)
{
    const struct vulkan_image *image = &buffer->image;
    VkBufferImageCopy region = {
        .imageSubresource = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .layerCount = 1},
        .imageExtent = {image->width, image->height, 1},
    };
    change_layout(device, commands, image, true);
    if (image->is_input)
        device->vk.vkCmdCopyImageToBuffer(commands, image->handle, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, buffer->handle,
                                          1, &region);
    else
        device->vk.vkCmdCopyBufferToImage(commands, buffer->handle, image->handle, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                                          1, &region);
    change_layout(device, commands, image, false);
    gpu_vulkan_barrier_to_all(device, commands, VK_PIPELINE_STAGE_TRANSFER_BIT);
}
#endif
