// SPDX-License-Identifier: Apache-2.0
// Sync files in the Vulkan backend: descriptors of fences that all drivers of a system share. In: the application's.
// Out: submissions that wait for those, and descriptors of what was submitted. Each goes by way of a binary semaphore,
// which is used again once the submission after it is done: that one's fence covers the wait or the signal.
#if defined(HALITE_GPU_VULKAN)
#include <stdlib.h>

#include "base/descriptor.h"
#include "base/grow.h"
#include "gpu/backend/vulkan_device.h"

#define SYNC_FILE VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT

// A driver finds functions of enabled extensions only.
void gpu_vulkan_sync_files_begin(struct gpu_device *device)
{
    const struct vulkan_instance_api *vk = &device->instance->vk;
    struct vulkan_sync_files *files = &device->sync_files;
    PFN_vkGetPhysicalDeviceExternalSemaphoreProperties ask =
        (PFN_vkGetPhysicalDeviceExternalSemaphoreProperties)
            vk->vkGetInstanceProcAddr(device->instance->handle, "vkGetPhysicalDeviceExternalSemaphoreProperties");
    PFN_vkImportSemaphoreFdKHR import =
        (PFN_vkImportSemaphoreFdKHR)vk->vkGetDeviceProcAddr(device->handle, "vkImportSemaphoreFdKHR");
    files->get = (PFN_vkGetSemaphoreFdKHR)vk->vkGetDeviceProcAddr(device->handle, "vkGetSemaphoreFdKHR");
    VkPhysicalDeviceExternalSemaphoreInfo info = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
                                                  .handleType = SYNC_FILE};
    VkExternalSemaphoreProperties found = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
    const VkExternalSemaphoreFeatureFlags both =
        VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT;
    if (ask && import && files->get) ask(device->physical->handle, &info, &found);
    if ((found.externalSemaphoreFeatures & both) == both) files->import = import;
}

void gpu_vulkan_sync_files_end(struct gpu_device *device)
{
    struct vulkan_sync_files *files = &device->sync_files;
    // The last signal comes after everything that was waited for.
    struct gpu_fence *last = files->count > 0 && !device->base.lost ? gpu_vulkan_fence_create(device) : NULL;
    if (last && !gpu_vulkan_fence_wait(last)) gpu_device_abandon(&device->base);
    gpu_vulkan_fence_destroy(last);
    for (int i = 0; i < files->count && !device->base.is_abandoned; i++)
        device->vk.vkDestroySemaphore(device->handle, files->list[i].handle, NULL);
    free(files->list);
}

bool gpu_vulkan_takes_sync_files(const struct gpu_device *device)
{
    return device->sync_files.import != NULL;
}

// A semaphore that no submission uses. NULL after a message.
static struct vulkan_semaphore *take_semaphore(struct gpu_device *device)
{
    struct vulkan_sync_files *files = &device->sync_files;
    struct vulkan_semaphore *semaphore = files->list, *list;
    int i = 0;
    while (i < files->count && files->list[i].number > device->completed) i++;
    if (i < files->count) {
        semaphore = &files->list[i];
    } else {
        VkExportSemaphoreCreateInfo exported = {.sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
                                                .handleTypes = SYNC_FILE};
        VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &exported};
        list = hl_grow(files->list, files->count, &files->capacity, sizeof *list);
        if (!list) return gpu_device_no_memory(&device->base, "a semaphore");
        files->list = list;
        semaphore = &list[files->count];
        if (!VULKAN_CALL(device, vkCreateSemaphore, device->handle, &info, NULL, &semaphore->handle)) return NULL;
        files->count++;
    }
    semaphore->number = device->submitted + 1;
    return semaphore;
}

bool gpu_vulkan_sync_file_await(struct gpu_device *device, int descriptor)
{
    if (!gpu_device_is_alive(&device->base, "wait for a sync file")) return false;
    const struct vulkan_semaphore *semaphore = take_semaphore(device);
    if (!semaphore) return false;
    int copy = hl_descriptor_copy(descriptor); // the driver takes it over where it succeeds
    if (copy < 0) return gpu_device_fail(&device->base, "%d is no open descriptor of a sync file", descriptor);
    VkImportSemaphoreFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR,
                                       .semaphore = semaphore->handle,
                                       .flags = VK_SEMAPHORE_IMPORT_TEMPORARY_BIT,
                                       .handleType = SYNC_FILE,
                                       .fd = copy};
    VkResult result = device->sync_files.import(device->handle, &info);
    if (result != VK_SUCCESS) hl_descriptor_close(copy);
    return gpu_vulkan_check(device, result, "vkImportSemaphoreFdKHR of an input's sync file") &&
           gpu_vulkan_submit_semaphore(device, semaphore->handle, 0, false);
}

bool gpu_vulkan_sync_file_create(struct gpu_device *device, int *descriptor)
{
    if (!gpu_device_is_alive(&device->base, "make a sync file")) return false;
    const struct vulkan_semaphore *semaphore = take_semaphore(device);
    if (!semaphore || !gpu_vulkan_submit_semaphore(device, semaphore->handle, 0, true)) return false;
    VkSemaphoreGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                                    .semaphore = semaphore->handle,
                                    .handleType = SYNC_FILE};
    return gpu_vulkan_check(device, device->sync_files.get(device->handle, &info, descriptor), "vkGetSemaphoreFdKHR");
}
#endif
