// SPDX-License-Identifier: Apache-2.0
// Memory of the application in the Vulkan backend. In: a file descriptor of memory that a driver has exported, a
// dma-buf, an AHardwareBuffer, or a pointer to memory of the host. Out: a buffer in that memory. Our own devices have
// the extensions for it that the driver has; an application's device those that the application has enabled.
#if defined(HALITE_GPU_VULKAN)
#include <stdlib.h>
#include <string.h>

#include "base/descriptor.h"
#include "gpu/backend/vulkan_device.h"

// The last one needs the one before it.
static const char *const extensions[VULKAN_MAX_EXTERNAL] = {
    VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME,   VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME,
    VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME,
    VK_EXT_QUEUE_FAMILY_FOREIGN_EXTENSION_NAME, VK_ANDROID_EXTERNAL_MEMORY_ANDROID_HARDWARE_BUFFER_EXTENSION_NAME};

// ---- what the device has --------------------------------------------------------------------------------------------

uint32_t gpu_vulkan_external_extensions(const struct gpu_device *device, const char *names[VULKAN_MAX_EXTERNAL])
{
    uint32_t count, found = 0;
    VkExtensionProperties *all = gpu_vulkan_list_extensions(device->instance, device->physical->handle, &count);
    for (int e = 0; e < VULKAN_MAX_EXTERNAL; e++) {
        bool exists = false;
        for (uint32_t i = 0; i < count; i++) exists = exists || strcmp(all[i].extensionName, extensions[e]) == 0;
        if (exists) names[found++] = extensions[e];
    }
    free(all);
    return found;
}

// A driver finds functions of enabled extensions only, which tells what an application's device has. The one for
// dma-bufs has no function: an application's device passes for having it where the driver does.
void gpu_vulkan_external_begin(struct gpu_device *device)
{
    struct vulkan_external *external = &device->external;
    const struct vulkan_instance_api *vk = &device->instance->vk;
    const char *names[VULKAN_MAX_EXTERNAL];
    uint32_t count = gpu_vulkan_external_extensions(device, names);
    for (uint32_t i = 0; i < count; i++) {
        if (names[i] == extensions[0])
            external->fd_properties =
                (PFN_vkGetMemoryFdPropertiesKHR)vk->vkGetDeviceProcAddr(device->handle, "vkGetMemoryFdPropertiesKHR");
        external->has_dma_buf = external->has_dma_buf || (names[i] == extensions[1] && external->fd_properties);
        if (names[i] == extensions[2])
            external->host_properties =
                (PFN_vkGetMemoryHostPointerPropertiesEXT)vk->vkGetDeviceProcAddr(device->handle,
                                                                                 "vkGetMemoryHostPointerPropertiesEXT");
    }
    external->hardware_properties = (PFN_vkGetAndroidHardwareBufferPropertiesANDROID)vk->vkGetDeviceProcAddr(
        device->handle, "vkGetAndroidHardwareBufferPropertiesANDROID");
    external->has_hardware = external->hardware_properties != NULL;
    external->has_fd = external->fd_properties != NULL;
    external->has_host = external->host_properties != NULL;
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT host = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &host};
    if (external->has_host) vk->vkGetPhysicalDeviceProperties2(device->physical->handle, &all);
    external->host_alignment = (size_t)host.minImportedHostPointerAlignment;
}

bool gpu_vulkan_takes_hardware_buffers(const struct gpu_device *device)
{
    return device->external.has_hardware;
}

// ---- imports --------------------------------------------------------------------------------------------------------

static VkExternalMemoryHandleTypeFlagBits type_of(HaliteGpuKind kind)
{
    switch (kind) {
    case kHaliteGpuKindOpaqueFd: return VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    case kHaliteGpuKindDmaBuf: return VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
    case kHaliteGpuKindHardwareBuffer: return VK_EXTERNAL_MEMORY_HANDLE_TYPE_ANDROID_HARDWARE_BUFFER_BIT_ANDROID;
    default: return VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    }
}

static bool refuse_without(struct gpu_device *device, const char *extension)
{
    return gpu_device_fail(&device->base, "it has no %s, or the application has not enabled it: bind a VkBuffer",
                           extension);
}

// Whether the device takes memory of this kind. False after a message for descriptors.
static bool can_import(struct gpu_device *device, const struct gpu_memory_desc *desc)
{
    const struct vulkan_external *external = &device->external;
    switch (desc->kind) {
    case kHaliteGpuKindOpaqueFd:
        return external->has_fd || refuse_without(device, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
    case kHaliteGpuKindDmaBuf:
        return external->has_dma_buf || refuse_without(device, VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME);
    case kHaliteGpuKindHardwareBuffer:
        return external->has_hardware ||
               refuse_without(device, VK_ANDROID_EXTERNAL_MEMORY_ANDROID_HARDWARE_BUFFER_EXTENSION_NAME);
    default:
        return external->has_host && desc->handle % external->host_alignment == 0 &&
               desc->bytes % external->host_alignment == 0;
    }
}

// The types of memory that the handle's may be. 0: none, after a message for descriptors.
static uint32_t allowed_types(struct gpu_device *device, const struct gpu_memory_desc *desc, uint32_t buffer_types)
{
    const struct vulkan_external *external = &device->external;
    VkExternalMemoryHandleTypeFlagBits type = type_of(desc->kind);
    if (desc->kind == kHaliteGpuKindOpaqueFd) { // cannot be asked
        uint32_t allowed = desc->type < 32 ? buffer_types & (1u << desc->type) : 0;
        if (!allowed)
            gpu_device_fail(&device->base, "no buffer can lie in memory of the type %u: set vk_memory_type",
                            (unsigned)desc->type);
        return allowed;
    }
    if (desc->kind == kHaliteGpuKindDmaBuf) {
        VkMemoryFdPropertiesKHR found = {.sType = VK_STRUCTURE_TYPE_MEMORY_FD_PROPERTIES_KHR};
        VkResult result = external->fd_properties(device->handle, type, (int)desc->handle, &found);
        if (!gpu_vulkan_check(device, result, "vkGetMemoryFdPropertiesKHR")) return 0;
        if (!(found.memoryTypeBits & buffer_types))
            gpu_device_fail(&device->base, "no buffer can lie in memory of this dma-buf: bind a VkBuffer");
        return found.memoryTypeBits & buffer_types;
    }
    VkMemoryHostPointerPropertiesEXT found = {.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    VkResult result = external->host_properties(device->handle, type, (void *)(uintptr_t)desc->handle, &found);
    uint32_t coherent = 0;
    for (uint32_t i = 0; i < device->memory.memoryTypeCount; i++)
        if (device->memory.memoryTypes[i].propertyFlags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) coherent |= 1u << i;
    return result == VK_SUCCESS ? found.memoryTypeBits & buffer_types & coherent : 0;
}

// The types of memory that a buffer in an AHardwareBuffer may have, and how many bytes are imported. 0 after a message.
static uint32_t ask_hardware(struct gpu_device *device, const struct gpu_memory_desc *desc, uint32_t buffer_types,
                             VkDeviceSize *bytes)
{
    VkAndroidHardwareBufferPropertiesANDROID found = {.sType =
                                                          VK_STRUCTURE_TYPE_ANDROID_HARDWARE_BUFFER_PROPERTIES_ANDROID};
    VkResult result =
        device->external.hardware_properties(device->handle, (const struct AHardwareBuffer *)(uintptr_t)desc->handle,
                                             &found);
    if (!gpu_vulkan_check(device, result, "vkGetAndroidHardwareBufferPropertiesANDROID")) return 0;
    *bytes = found.allocationSize;
    if (!(found.memoryTypeBits & buffer_types))
        gpu_device_fail(&device->base, "no buffer can lie in memory of this AHardwareBuffer: bind a VkBuffer");
    return found.memoryTypeBits & buffer_types;
}

// A descriptor of ours, which the driver takes over where it succeeds; -1 after a message.
static int duplicate(struct gpu_device *device, uint64_t descriptor)
{
    int copy = descriptor <= INT32_MAX ? hl_descriptor_copy((int)descriptor) : -1;
    if (copy < 0)
        gpu_device_fail(&device->base, "%llu is no open file descriptor of memory", (unsigned long long)descriptor);
    return copy;
}

// Imports the memory for the buffer. False after a message for descriptors.
static bool allocate(struct gpu_device *device, const struct gpu_memory_desc *desc, struct gpu_buffer *buffer)
{
    bool is_host = desc->kind == kHaliteGpuKindHostMemory, is_hardware = desc->kind == kHaliteGpuKindHardwareBuffer;
    VkDeviceSize bytes = desc->bytes;
    VkMemoryRequirements needs;
    device->vk.vkGetBufferMemoryRequirements(device->handle, buffer->handle, &needs);
    uint32_t allowed = is_hardware ? ask_hardware(device, desc, needs.memoryTypeBits, &bytes)
                                   : allowed_types(device, desc, needs.memoryTypeBits),
             index = 0;
    if (!allowed) return false;
    if (needs.size > bytes)
        return !is_host && gpu_device_fail(&device->base, "a buffer of %zu bytes needs memory of %zu: add to its size",
                                           desc->bytes, (size_t)needs.size);
    while (!(allowed >> index & 1)) index++;
    VkImportMemoryFdInfoKHR descriptor = {.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
                                          .handleType = type_of(desc->kind),
                                          .fd = is_host || is_hardware ? -1 : duplicate(device, desc->handle)};
    VkImportMemoryHostPointerInfoEXT pointer = {.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
                                                .handleType = type_of(desc->kind),
                                                .pHostPointer = (void *)(uintptr_t)desc->handle};
    VkImportAndroidHardwareBufferInfoANDROID hardware = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_ANDROID_HARDWARE_BUFFER_INFO_ANDROID,
        .buffer = (struct AHardwareBuffer *)(uintptr_t)desc->handle};
    if (!is_host && !is_hardware && descriptor.fd < 0) return false;
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = is_host       ? (const void *)&pointer
                 : is_hardware ? (const void *)&hardware
                               : &descriptor,
        .allocationSize = bytes,
        .memoryTypeIndex = index,
    };
    VkResult result = device->vk.vkAllocateMemory(device->handle, &info, NULL, &buffer->memory);
    if (result != VK_SUCCESS) hl_descriptor_close(descriptor.fd);
    if (result != VK_SUCCESS && is_host) return false;
    return gpu_vulkan_check(device, result, "vkAllocateMemory of the application's memory") &&
           VULKAN_CALL(device, vkBindBufferMemory, device->handle, buffer->handle, buffer->memory, 0);
}

struct gpu_buffer *gpu_vulkan_memory_import(struct gpu_device *device, const struct gpu_memory_desc *desc)
{
    if (!gpu_device_is_alive(&device->base, "take memory") || !can_import(device, desc)) return NULL;
    VkExternalMemoryBufferCreateInfo external = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
                                                 .handleTypes = type_of(desc->kind)};
    struct gpu_buffer *buffer = gpu_vulkan_buffer_without_memory(device, desc->bytes, &external);
    if (!buffer || allocate(device, desc, buffer)) return buffer;
    gpu_vulkan_buffer_free(device, buffer);
    return NULL;
}
#endif
