// SPDX-License-Identifier: Apache-2.0
// A driver of Vulkan that takes AHardwareBuffers and dma-bufs. In: this machine's libvulkan.so.1, whose first device
// has VK_EXT_external_memory_host. Out: the same functions, but for those that are told of such memory: they show the
// driver its pages as memory of the host. Any file that can be mapped passes for a dma-buf. A request that breaks a
// rule of the extensions ends the program.
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vulkan.h"

enum { MAX_MEMORIES = 64, MAX_EXTENSIONS = 512, DATA_BUFFER = 1 << 24 };
static const char *const added[] = {VK_EXT_QUEUE_FAMILY_FOREIGN_EXTENSION_NAME,
                                    VK_ANDROID_EXTERNAL_MEMORY_ANDROID_HARDWARE_BUFFER_EXTENSION_NAME,
                                    VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME};
enum { ADDED = sizeof added / sizeof *added };

static struct {
    PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr;
    PFN_vkGetDeviceProcAddr vkGetDeviceProcAddr;
    PFN_vkEnumerateDeviceExtensionProperties vkEnumerateDeviceExtensionProperties;
    PFN_vkCreateDevice vkCreateDevice;
    PFN_vkCreateBuffer vkCreateBuffer;
    PFN_vkAllocateMemory vkAllocateMemory;
    PFN_vkFreeMemory vkFreeMemory;
    PFN_vkGetMemoryHostPointerPropertiesEXT vkGetMemoryHostPointerPropertiesEXT;
    PFN_vkGetMemoryFdPropertiesKHR vkGetMemoryFdPropertiesKHR;
} real;

static struct {
    VkDeviceMemory memory;
    AHardwareBuffer *buffer;
    void *mapped; // of a dma-buf
    size_t bytes;
} memories[MAX_MEMORIES];

// ---- extensions ---------------------------------------------------------------------------------

static VKAPI_ATTR VkResult VKAPI_CALL enumerate(VkPhysicalDevice device, const char *layer, uint32_t *count,
                                                VkExtensionProperties *all)
{
    uint32_t more = fake.lacks_extension || layer ? 0 : ADDED, room = *count;
    if (all) *count = room < more ? 0 : room - more;
    VkResult result = real.vkEnumerateDeviceExtensionProperties(device, layer, count, all);
    for (uint32_t i = 0; all && result == VK_SUCCESS && i < more; i++) {
        all[*count + i] = (VkExtensionProperties){.specVersion = 1};
        strcpy(all[*count + i].extensionName, added[i]);
    }
    *count += more;
    return result;
}

static bool is_added(const char *name)
{
    for (int i = 0; i < ADDED; i++)
        if (strcmp(name, added[i]) == 0) return true;
    return false;
}

static bool asks_for_timelines(const VkDeviceCreateInfo *info)
{
    const VkBaseInStructure *next = info->pNext;
    while (next && next->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES) next = next->pNext;
    return next != NULL;
}

// Sync files are timelines here (fences.c), so every device has those.
static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *callbacks, VkDevice *device)
{
    const char *names[MAX_EXTENSIONS];
    VkDeviceCreateInfo copy = *info;
    VkPhysicalDeviceTimelineSemaphoreFeatures timelines = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        .pNext = (void *)(uintptr_t)info->pNext, // which nobody changes
        .timelineSemaphore = VK_TRUE};
    copy.enabledExtensionCount = 0;
    copy.ppEnabledExtensionNames = names;
    if (!asks_for_timelines(info)) {
        copy.pNext = &timelines;
        names[copy.enabledExtensionCount++] = VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME;
    }
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++)
        if (!is_added(info->ppEnabledExtensionNames[i]))
            names[copy.enabledExtensionCount++] = info->ppEnabledExtensionNames[i];
    return real.vkCreateDevice(physical, &copy, callbacks, device);
}

// ---- memory -------------------------------------------------------------------------------------

static VKAPI_ATTR VkResult VKAPI_CALL get_properties(VkDevice device, const struct AHardwareBuffer *buffer,
                                                     VkAndroidHardwareBufferPropertiesANDROID *properties)
{
    VkMemoryHostPointerPropertiesEXT found = {.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    VkResult result =
        real.vkGetMemoryHostPointerPropertiesEXT(device, VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
                                                 buffer->pages, &found);
    fake_must(properties->sType == VK_STRUCTURE_TYPE_ANDROID_HARDWARE_BUFFER_PROPERTIES_ANDROID);
    properties->allocationSize = buffer->bytes;
    properties->memoryTypeBits = found.memoryTypeBits;
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo *info,
                                                    const VkAllocationCallbacks *callbacks, VkBuffer *buffer)
{
    const VkExternalMemoryBufferCreateInfo *next = info->pNext;
    VkBufferCreateInfo copy = *info;
    VkExternalMemoryBufferCreateInfo host = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
                                             .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT};
    if (next && next->sType == host.sType &&
        (next->handleTypes == VK_EXTERNAL_MEMORY_HANDLE_TYPE_ANDROID_HARDWARE_BUFFER_BIT_ANDROID ||
         next->handleTypes == VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT))
        copy.pNext = &host;
    return real.vkCreateBuffer(device, &copy, callbacks, buffer);
}

// The pages of a dma-buf, whole ones; NULL: the descriptor is none, or has fewer bytes. bytes 0: all that it has.
static void *map(int descriptor, size_t *bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct stat about;
    if (fstat(descriptor, &about) != 0 || about.st_size <= 0 || (size_t)about.st_size < *bytes) return NULL;
    if (*bytes == 0) *bytes = (size_t)about.st_size;
    *bytes = (*bytes + page - 1) / page * page;
    void *mapped = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return mapped == MAP_FAILED ? NULL : mapped;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_fd_properties(VkDevice device, VkExternalMemoryHandleTypeFlagBits type,
                                                        int descriptor, VkMemoryFdPropertiesKHR *properties)
{
    VkMemoryHostPointerPropertiesEXT found = {.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    size_t bytes = 0;
    fake_must(type == VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT); // opaque ones cannot be asked
    void *mapped = map(descriptor, &bytes);
    if (!mapped) return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    VkResult result =
        real.vkGetMemoryHostPointerPropertiesEXT(device, VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT, mapped,
                                                 &found);
    munmap(mapped, bytes);
    properties->memoryTypeBits = found.memoryTypeBits;
    return result;
}

// Allocates memory of the driver that is these pages.
static VkResult show(VkDevice device, const VkMemoryAllocateInfo *info, const VkAllocationCallbacks *callbacks,
                     void *pages, size_t bytes, VkDeviceMemory *memory)
{
    VkImportMemoryHostPointerInfoEXT pointer = {.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
                                                .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
                                                .pHostPointer = pages};
    VkMemoryAllocateInfo copy = *info;
    copy.pNext = &pointer;
    copy.allocationSize = bytes;
    VkResult result = real.vkAllocateMemory(device, &copy, callbacks, memory);
    if (result != VK_SUCCESS) return result;
    fake.imports++;
    fake.live_imports++;
    return result;
}

static int free_entry(void)
{
    int i = 0;
    while (i < MAX_MEMORIES && (memories[i].buffer || memories[i].mapped)) i++;
    fake_must(i < MAX_MEMORIES);
    return i;
}

static VkResult import_hardware(VkDevice device, const VkMemoryAllocateInfo *info,
                                const VkAllocationCallbacks *callbacks, VkDeviceMemory *memory)
{
    AHardwareBuffer *buffer = ((const VkImportAndroidHardwareBufferInfoANDROID *)info->pNext)->buffer;
    fake_must(info->allocationSize == buffer->bytes && (buffer->desc.usage & DATA_BUFFER)); // the extension's rules
    VkResult result = show(device, info, callbacks, buffer->pages, buffer->bytes, memory);
    if (result != VK_SUCCESS) return result;
    int i = free_entry();
    memories[i].memory = *memory;
    memories[i].buffer = buffer;
    AHardwareBuffer_acquire(buffer); // until the memory is freed
    return result;
}

// The driver takes the descriptor over where it succeeds.
static VkResult import_dma_buf(VkDevice device, const VkMemoryAllocateInfo *info,
                               const VkAllocationCallbacks *callbacks, VkDeviceMemory *memory)
{
    int descriptor = ((const VkImportMemoryFdInfoKHR *)info->pNext)->fd;
    size_t bytes = (size_t)info->allocationSize;
    void *mapped = map(descriptor, &bytes);
    if (!mapped) return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    VkResult result = show(device, info, callbacks, mapped, bytes, memory);
    if (result != VK_SUCCESS) {
        munmap(mapped, bytes);
        return result;
    }
    int i = free_entry();
    memories[i].memory = *memory;
    memories[i].mapped = mapped;
    memories[i].bytes = bytes;
    close(descriptor);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo *info,
                                               const VkAllocationCallbacks *callbacks, VkDeviceMemory *memory)
{
    const VkBaseInStructure *next = info->pNext;
    bool is_hardware = next && next->sType == VK_STRUCTURE_TYPE_IMPORT_ANDROID_HARDWARE_BUFFER_INFO_ANDROID;
    bool is_dma_buf =
        next && next->sType == VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR &&
        ((const VkImportMemoryFdInfoKHR *)info->pNext)->handleType == VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
    if (!is_hardware && !is_dma_buf) return real.vkAllocateMemory(device, info, callbacks, memory);
    if (fake.fails_import) return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    return is_hardware ? import_hardware(device, info, callbacks, memory)
                       : import_dma_buf(device, info, callbacks, memory);
}

static VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory,
                                              const VkAllocationCallbacks *callbacks)
{
    real.vkFreeMemory(device, memory, callbacks);
    for (int i = 0; memory && i < MAX_MEMORIES; i++) {
        if (!(memories[i].buffer || memories[i].mapped) || memories[i].memory != memory) continue;
        if (memories[i].buffer) AHardwareBuffer_release(memories[i].buffer);
        if (memories[i].mapped) munmap(memories[i].mapped, memories[i].bytes);
        memories[i].buffer = NULL;
        memories[i].mapped = NULL;
        fake.live_imports--;
    }
}

// ---- how functions are found --------------------------------------------------------------------

#define OWN(own_name, function) \
    if (strcmp(name, #own_name) == 0) return (PFN_vkVoidFunction)(function)

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_function(VkDevice device, const char *name)
{
#define FIND(own_name) real.own_name = (PFN_##own_name)real.vkGetDeviceProcAddr(device, #own_name)
    FIND(vkCreateBuffer);
    FIND(vkAllocateMemory);
    FIND(vkFreeMemory);
    FIND(vkGetMemoryHostPointerPropertiesEXT);
    FIND(vkGetMemoryFdPropertiesKHR);
#undef FIND
    OWN(vkCreateBuffer, create_buffer);
    if (real.vkGetMemoryFdPropertiesKHR) OWN(vkGetMemoryFdPropertiesKHR, get_fd_properties);
    OWN(vkAllocateMemory, allocate);
    OWN(vkFreeMemory, free_memory);
    if (!fake.lacks_extension) OWN(vkGetAndroidHardwareBufferPropertiesANDROID, get_properties);
    PFN_vkVoidFunction fence = fake_fence_function(real.vkGetDeviceProcAddr, device, name);
    return fence ? fence : real.vkGetDeviceProcAddr(device, name);
}

FAKE_EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance, const char *name);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance, const char *name)
{
    if (!real.vkGetInstanceProcAddr) {
        void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
        void *found = library ? dlsym(library, "vkGetInstanceProcAddr") : NULL;
        if (!found) return NULL;
        memcpy(&real.vkGetInstanceProcAddr, &found, sizeof found);
    }
    if (instance) {
#define FIND(own_name) real.own_name = (PFN_##own_name)real.vkGetInstanceProcAddr(instance, #own_name)
        FIND(vkGetDeviceProcAddr);
        FIND(vkEnumerateDeviceExtensionProperties);
        FIND(vkCreateDevice);
#undef FIND
        OWN(vkGetDeviceProcAddr, get_device_function);
        OWN(vkEnumerateDeviceExtensionProperties, enumerate);
        OWN(vkCreateDevice, create_device);
        OWN(vkGetPhysicalDeviceExternalSemaphoreProperties, fake_semaphore_properties);
    }
    return real.vkGetInstanceProcAddr(instance, name);
}
