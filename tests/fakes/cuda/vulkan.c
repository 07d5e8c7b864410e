// SPDX-License-Identifier: Apache-2.0
// The same card as Vulkan sees it: a libvulkan.so.1 that only allocates, for HALITE_VULKAN_LIBRARY. In: the calls of
// src/gpu/backend/vulkan_card.c and of what opens Vulkan. Out: memory behind a file, which the fake of the driver maps
// once more at another address. Knobs say whether it has the card, and whether the host sees all of its memory.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cuda/fake.h"

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

enum { CARD_ABSENT, CARD_WHOLE, CARD_WINDOW };

struct VkInstance_T {
    int unused;
};
struct VkPhysicalDevice_T {
    int unused;
};
struct VkDevice_T {
    struct fake_object object;
    int memories;
};
struct VkDeviceMemory_T {
    struct fake_object object;
    FILE *file;
    void *mapped;
    size_t bytes;
    int imports;
    struct VkDeviceMemory_T *next;
};

static struct VkInstance_T the_instance;
static struct VkPhysicalDevice_T the_card;
static struct VkDeviceMemory_T *memories;

// ---- the instance ---------------------------------------------------------------------------------------------------

static VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *callbacks,
                                           VkInstance *instance)
{
    (void)info;
    (void)callbacks;
    *instance = &the_instance;
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL list_layers(uint32_t *count, VkLayerProperties *layers)
{
    (void)layers;
    *count = 0;
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL get_version(uint32_t *version)
{
    *version = VK_API_VERSION_1_1;
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL list_cards(VkInstance instance, uint32_t *count, VkPhysicalDevice *cards)
{
    (void)instance;
    *count = 1;
    *cards = &the_card;
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL list_extensions(VkPhysicalDevice card, const char *layer, uint32_t *count,
                                           VkExtensionProperties *all)
{
    (void)card;
    (void)layer;
    *count = 1;
    if (all) strcpy(all->extensionName, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
    return fake_begin() == CUDA_OK ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static void VKAPI_CALL get_features(VkPhysicalDevice card, VkPhysicalDeviceFeatures2 *features)
{
    (void)card;
    (void)features;
}

static void VKAPI_CALL get_memory(VkPhysicalDevice card, VkPhysicalDeviceMemoryProperties *memory)
{
    const VkMemoryPropertyFlags visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    (void)card;
    *memory = (VkPhysicalDeviceMemoryProperties){
        .memoryTypeCount = 3,
        .memoryTypes = {{VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0},
                        {visible, 1},
                        {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | visible, fake.card == CARD_WINDOW ? 2 : 0}},
        .memoryHeapCount = 3,
        .memoryHeaps = {{(VkDeviceSize)1 << 30, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT},
                        {(VkDeviceSize)1 << 32, 0},
                        {(VkDeviceSize)256 << 20, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}},
    };
}

static void VKAPI_CALL get_properties(VkPhysicalDevice card, VkPhysicalDeviceProperties *properties)
{
    (void)card;
    *properties = (VkPhysicalDeviceProperties){
        .apiVersion = VK_API_VERSION_1_1,
        .deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU,
        .limits.minStorageBufferOffsetAlignment = 16,
    };
}

static void VKAPI_CALL get_all_properties(VkPhysicalDevice card, VkPhysicalDeviceProperties2 *all)
{
    get_properties(card, &all->properties);
    for (VkBaseOutStructure *next = all->pNext; next; next = next->pNext)
        if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES)
            memcpy(((VkPhysicalDeviceIDProperties *)next)->deviceUUID,
                   fake.card == CARD_ABSENT ? "another card 123" : FAKE_UUID, VK_UUID_SIZE);
}

static void VKAPI_CALL get_families(VkPhysicalDevice card, uint32_t *count, VkQueueFamilyProperties *families)
{
    (void)card;
    *count = 1;
    if (families) *families = (VkQueueFamilyProperties){.queueFlags = VK_QUEUE_COMPUTE_BIT, .queueCount = 1};
}

// ---- the device -----------------------------------------------------------------------------------------------------

static VkResult VKAPI_CALL create_device(VkPhysicalDevice card, const VkDeviceCreateInfo *info,
                                         const VkAllocationCallbacks *callbacks, VkDevice *device)
{
    (void)card;
    (void)callbacks;
    if (fake_begin() != CUDA_OK) return VK_ERROR_INITIALIZATION_FAILED;
    if (info->queueCreateInfoCount != 1 || info->enabledExtensionCount != 1)
        fake_complain("vkCreateDevice", 0, "no queue, or not the one extension");
    *device = fake_create(sizeof **device, FAKE_CARD);
    return VK_SUCCESS;
}

static void VKAPI_CALL destroy_device(VkDevice device, const VkAllocationCallbacks *callbacks)
{
    (void)callbacks;
    if (fake_end(device, FAKE_CARD, "vkDestroyDevice") && device->memories > 0)
        fake_complain("vkDestroyDevice", 0, "the device has %d memories", device->memories);
}

static VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo *info,
                                    const VkAllocationCallbacks *callbacks, VkDeviceMemory *memory)
{
    const VkExportMemoryAllocateInfo *exported = info->pNext;
    (void)callbacks;
    if (fake_begin() != CUDA_OK) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    if (!exported || exported->handleTypes != VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT ||
        info->memoryTypeIndex != 2 || !fake_is(device, FAKE_CARD, "vkAllocateMemory"))
        fake_complain("vkAllocateMemory", 0, "memory that cannot be exported, or not both the card's and visible");
    struct VkDeviceMemory_T *made = fake_create(sizeof *made, FAKE_CARD_MEMORY);
    made->bytes = (size_t)info->allocationSize;
    made->file = tmpfile();
    if (!made->file || ftruncate(fileno(made->file), (off_t)made->bytes) != 0) abort();
    made->next = memories;
    memories = made;
    device->memories++;
    *memory = made;
    return VK_SUCCESS;
}

static void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory, const VkAllocationCallbacks *callbacks)
{
    (void)callbacks;
    if (!memory || !fake_end(memory, FAKE_CARD_MEMORY, "vkFreeMemory")) return;
    if (memory->imports) fake_complain("vkFreeMemory", 0, "CUDA still has the memory");
    if (memory->mapped) munmap(memory->mapped, memory->bytes);
    fclose(memory->file);
    memory->file = NULL;
    device->memories--;
}

static VkResult VKAPI_CALL map(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size,
                               VkMemoryMapFlags flags, void **mapped)
{
    (void)device;
    (void)size;
    (void)flags;
    if (fake_begin() != CUDA_OK || offset != 0) return VK_ERROR_MEMORY_MAP_FAILED;
    memory->mapped = mmap(NULL, memory->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(memory->file), 0);
    if (memory->mapped == MAP_FAILED) abort();
    *mapped = memory->mapped;
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL get_descriptor(VkDevice device, const VkMemoryGetFdInfoKHR *info, int *descriptor)
{
    (void)device;
    if (fake_begin() != CUDA_OK) return VK_ERROR_TOO_MANY_OBJECTS;
    *descriptor = dup(fileno(info->memory->file));
    if (*descriptor < 0) abort();
    return VK_SUCCESS;
}

int *fake_card_imports(int descriptor, size_t *bytes)
{
    struct stat wanted, found;
    if (fstat(descriptor, &wanted) != 0) return NULL;
    for (struct VkDeviceMemory_T *memory = memories; memory; memory = memory->next) {
        if (!memory->file || fstat(fileno(memory->file), &found) != 0) continue;
        if (found.st_ino != wanted.st_ino || found.st_dev != wanted.st_dev) continue;
        *bytes = memory->bytes;
        return &memory->imports;
    }
    return NULL;
}

// ---- how functions are found ----------------------------------------------------------------------------------------

static const struct {
    const char *name;
    PFN_vkVoidFunction function;
} functions[] = {
    {"vkCreateInstance", (PFN_vkVoidFunction)create_instance},
    {"vkEnumerateInstanceLayerProperties", (PFN_vkVoidFunction)list_layers},
    {"vkEnumerateInstanceVersion", (PFN_vkVoidFunction)get_version},
    {"vkEnumeratePhysicalDevices", (PFN_vkVoidFunction)list_cards},
    {"vkEnumerateDeviceExtensionProperties", (PFN_vkVoidFunction)list_extensions},
    {"vkGetPhysicalDeviceFeatures2", (PFN_vkVoidFunction)get_features},
    {"vkGetPhysicalDeviceMemoryProperties", (PFN_vkVoidFunction)get_memory},
    {"vkGetPhysicalDeviceProperties", (PFN_vkVoidFunction)get_properties},
    {"vkGetPhysicalDeviceProperties2", (PFN_vkVoidFunction)get_all_properties},
    {"vkGetPhysicalDeviceQueueFamilyProperties", (PFN_vkVoidFunction)get_families},
    {"vkCreateDevice", (PFN_vkVoidFunction)create_device},
    {"vkDestroyDevice", (PFN_vkVoidFunction)destroy_device},
    {"vkAllocateMemory", (PFN_vkVoidFunction)allocate},
    {"vkFreeMemory", (PFN_vkVoidFunction)free_memory},
    {"vkMapMemory", (PFN_vkVoidFunction)map},
    {"vkGetMemoryFdKHR", (PFN_vkVoidFunction)get_descriptor},
};

static PFN_vkVoidFunction find(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(name, functions[i].name) == 0) return functions[i].function;
    return NULL;
}

static PFN_vkVoidFunction VKAPI_CALL get_device_function(VkDevice device, const char *name)
{
    (void)device;
    return find(name);
}

FAKE_EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance, const char *name);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance, const char *name)
{
    (void)instance;
    return strcmp(name, "vkGetDeviceProcAddr") == 0 ? (PFN_vkVoidFunction)get_device_function : find(name);
}
