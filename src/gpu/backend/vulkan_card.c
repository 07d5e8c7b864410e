// SPDX-License-Identifier: Apache-2.0
// See vulkan_card.h: a small VkDevice beside that of another API. It has a queue because every device must, and submits
// nothing.
#if defined(HALITE_GPU_VULKAN)
#include "gpu/backend/vulkan_card.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/backend/vulkan_device.h"

enum { GRANULE = 64 << 10 }; // in which both APIs hand out memory of a card

#define CARD_FUNCTIONS(X) X(vkAllocateMemory) X(vkFreeMemory) X(vkMapMemory) X(vkDestroyDevice) X(vkGetMemoryFdKHR)

struct vulkan_card {
    VkDevice device;
    uint32_t type; // of memory
#define X(name) PFN_##name name;
    CARD_FUNCTIONS(X)
#undef X
};

struct vulkan_card_memory {
    VkDeviceMemory handle;
    unsigned char *mapped;
    size_t bytes;
};

static bool is_card(const struct vulkan_instance *instance, VkPhysicalDevice physical,
                    const unsigned char uuid[VULKAN_UUID_BYTES])
{
    VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &id};
    instance->vk.vkGetPhysicalDeviceProperties2(physical, &all);
    return memcmp(id.deviceUUID, uuid, VULKAN_UUID_BYTES) == 0;
}

static bool open_device(struct vulkan_card *card, const struct vulkan_instance *instance,
                        const struct vulkan_physical *physical)
{
    static const float priority = 1.0f;
    static const char *const extensions[] = {VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME};
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = physical->family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = 1,
        .ppEnabledExtensionNames = extensions,
    };
    if (instance->vk.vkCreateDevice(physical->handle, &info, NULL, &card->device) != VK_SUCCESS) {
        card->device = VK_NULL_HANDLE;
        return false;
    }
    bool complete = true;
#define X(name)                                                                     \
    card->name = (PFN_##name)instance->vk.vkGetDeviceProcAddr(card->device, #name); \
    complete = complete && card->name;
    CARD_FUNCTIONS(X)
#undef X
    return complete;
}

struct vulkan_card *gpu_vulkan_card_open(const unsigned char uuid[VULKAN_UUID_BYTES])
{
    const struct vulkan_instance *instance = gpu_vulkan_instance();
    const struct vulkan_physical *physical = NULL;
    for (int i = 0; i < instance->count && !physical; i++)
        if (is_card(instance, instance->devices[i].handle, uuid)) physical = &instance->devices[i];
    if (!physical || !gpu_vulkan_has_extension(instance, physical->handle, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME))
        return NULL;
    VkPhysicalDeviceMemoryProperties memory;
    instance->vk.vkGetPhysicalDeviceMemoryProperties(physical->handle, &memory);
    int type = gpu_vulkan_mapped_type(&memory);
    struct vulkan_card *card = type >= 0 ? calloc(1, sizeof *card) : NULL;
    if (!card) return NULL;
    card->type = (uint32_t)type;
    if (open_device(card, instance, physical)) return card;
    gpu_vulkan_card_close(card, true);
    return NULL;
}

void gpu_vulkan_card_close(struct vulkan_card *card, bool ended)
{
    if (!card) return;
    if (ended && card->device && card->vkDestroyDevice) card->vkDestroyDevice(card->device, NULL);
    free(card);
}

struct vulkan_card_memory *gpu_vulkan_card_allocate(struct vulkan_card *card, size_t bytes)
{
    struct vulkan_card_memory *memory = calloc(1, sizeof *memory);
    if (!memory) return NULL;
    VkExportMemoryAllocateInfo exported = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &exported,
        .allocationSize = memory->bytes = (bytes + GRANULE - 1) / GRANULE * GRANULE,
        .memoryTypeIndex = card->type,
    };
    void *mapped = NULL;
    if (card->vkAllocateMemory(card->device, &info, NULL, &memory->handle) != VK_SUCCESS) {
        memory->handle = VK_NULL_HANDLE;
    } else if (card->vkMapMemory(card->device, memory->handle, 0, VK_WHOLE_SIZE, 0, &mapped) == VK_SUCCESS) {
        memory->mapped = mapped;
        return memory;
    }
    gpu_vulkan_card_free(card, memory, true);
    return NULL;
}

void gpu_vulkan_card_free(struct vulkan_card *card, struct vulkan_card_memory *memory, bool ended)
{
    if (!memory) return;
    if (ended && memory->handle) card->vkFreeMemory(card->device, memory->handle, NULL); // also unmaps it
    free(memory);
}

unsigned char *gpu_vulkan_card_mapped(const struct vulkan_card_memory *memory)
{
    return memory->mapped;
}

size_t gpu_vulkan_card_allocated(const struct vulkan_card_memory *memory)
{
    return memory->bytes;
}

int gpu_vulkan_card_export(const struct vulkan_card *card, const struct vulkan_card_memory *memory)
{
    int descriptor = -1;
    VkMemoryGetFdInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
        .memory = memory->handle,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    return card->vkGetMemoryFdKHR(card->device, &info, &descriptor) == VK_SUCCESS ? descriptor : -1;
}
#endif
