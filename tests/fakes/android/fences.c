// SPDX-License-Identifier: Apache-2.0
// Sync files for a driver without them. A binary semaphore that may become one is a timeline of the real driver. When
// it is imported, a thread signals the timeline's next value once the descriptor is readable; when it is exported, the
// descriptor is an eventfd, which a thread sets once the value is reached. So the device waits, and no caller.
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "vulkan.h"

enum { MAX_SEMAPHORES = 64, MAX_SUBMITS = 8 };

static struct {
    PFN_vkCreateSemaphore vkCreateSemaphore;
    PFN_vkDestroySemaphore vkDestroySemaphore;
    PFN_vkQueueSubmit vkQueueSubmit;
    PFN_vkSignalSemaphore vkSignalSemaphore;
    PFN_vkWaitSemaphores vkWaitSemaphores;
} real;

static struct semaphore {
    VkDevice device;
    VkSemaphore handle;
    uint64_t value; // that the last wait or signal is for
    bool pending;   // a signal was submitted, and no descriptor made of it
    bool has_thread, makes;
    pthread_t thread;
    int descriptor;
} semaphores[MAX_SEMAPHORES];

static struct semaphore *find(VkSemaphore handle)
{
    for (int i = 0; i < MAX_SEMAPHORES; i++)
        if (semaphores[i].handle == handle) return &semaphores[i];
    return NULL;
}

static void join(struct semaphore *semaphore)
{
    if (semaphore->has_thread) pthread_join(semaphore->thread, NULL);
    semaphore->has_thread = false;
}

static VKAPI_ATTR VkResult VKAPI_CALL create(VkDevice device, const VkSemaphoreCreateInfo *info,
                                             const VkAllocationCallbacks *callbacks, VkSemaphore *handle)
{
    const VkExportSemaphoreCreateInfo *next = info->pNext;
    if (!next || next->sType != VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO)
        return real.vkCreateSemaphore(device, info, callbacks, handle);
    fake_must(next->handleTypes == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT);
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphoreCreateInfo timeline = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    VkResult result = real.vkCreateSemaphore(device, &timeline, callbacks, handle);
    struct semaphore *semaphore = find(VK_NULL_HANDLE);
    fake_must(semaphore != NULL);
    if (result == VK_SUCCESS) *semaphore = (struct semaphore){.device = device, .handle = *handle};
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy(VkDevice device, VkSemaphore handle, const VkAllocationCallbacks *callbacks)
{
    struct semaphore *semaphore = handle ? find(handle) : NULL;
    if (semaphore) {
        join(semaphore);
        *semaphore = (struct semaphore){.value = 0};
    }
    real.vkDestroySemaphore(device, handle, callbacks);
}

// Only submissions with one such semaphore and nothing else are changed: the delegate makes no others.
static VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, uint32_t count, const VkSubmitInfo *infos, VkFence fence)
{
    struct semaphore *semaphore = NULL;
    bool waits = count == 1 && infos->waitSemaphoreCount == 1;
    if (waits) semaphore = find(infos->pWaitSemaphores[0]);
    if (count == 1 && infos->signalSemaphoreCount == 1) semaphore = find(infos->pSignalSemaphores[0]);
    if (!semaphore) return real.vkQueueSubmit(queue, count, infos, fence);
    if (!waits) { // what was a signal before was made a descriptor, or waited for
        fake_must(!semaphore->pending);
        join(semaphore);
        semaphore->value++;
        semaphore->pending = true;
    }
    VkTimelineSemaphoreSubmitInfo values = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                            .waitSemaphoreValueCount = infos->waitSemaphoreCount,
                                            .pWaitSemaphoreValues = &semaphore->value,
                                            .signalSemaphoreValueCount = infos->signalSemaphoreCount,
                                            .pSignalSemaphoreValues = &semaphore->value};
    VkSubmitInfo copy = *infos;
    copy.pNext = &values;
    return real.vkQueueSubmit(queue, 1, &copy, fence);
}

static void *follow(void *arg)
{
    struct semaphore *semaphore = arg;
    const uint64_t one = 1;
    if (semaphore->makes) {
        VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                    .semaphoreCount = 1,
                                    .pSemaphores = &semaphore->handle,
                                    .pValues = &semaphore->value};
        fake_must(real.vkWaitSemaphores(semaphore->device, &wait, UINT64_MAX) == VK_SUCCESS);
        fake_must(write(semaphore->descriptor, &one, sizeof one) == (ssize_t)sizeof one);
    } else {
        struct pollfd wanted = {.fd = semaphore->descriptor, .events = POLLIN};
        VkSemaphoreSignalInfo signal = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                        .semaphore = semaphore->handle,
                                        .value = semaphore->value};
        fake_must(poll(&wanted, 1, -1) == 1);
        fake_must(real.vkSignalSemaphore(semaphore->device, &signal) == VK_SUCCESS);
    }
    close(semaphore->descriptor);
    return NULL;
}

static void start(struct semaphore *semaphore, bool makes, int descriptor)
{
    semaphore->makes = makes;
    semaphore->descriptor = descriptor;
    semaphore->has_thread = pthread_create(&semaphore->thread, NULL, follow, semaphore) == 0;
    fake_must(semaphore->has_thread);
}

static VKAPI_ATTR VkResult VKAPI_CALL import(VkDevice device, const VkImportSemaphoreFdInfoKHR *info)
{
    struct semaphore *semaphore = find(info->semaphore);
    (void)device;
    fake_must(semaphore && !semaphore->pending && info->flags == VK_SEMAPHORE_IMPORT_TEMPORARY_BIT);
    fake_must(info->handleType == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT);
    join(semaphore);
    semaphore->value++;
    start(semaphore, false, info->fd);
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL get(VkDevice device, const VkSemaphoreGetFdInfoKHR *info, int *descriptor)
{
    struct semaphore *semaphore = find(info->semaphore);
    (void)device;
    fake_must(semaphore && semaphore->pending);
    semaphore->pending = false;
    join(semaphore);
    *descriptor = eventfd(0, EFD_CLOEXEC);
    start(semaphore, true, dup(*descriptor));
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL fake_semaphore_properties(VkPhysicalDevice device,
                                                     const VkPhysicalDeviceExternalSemaphoreInfo *info,
                                                     VkExternalSemaphoreProperties *properties)
{
    (void)device;
    fake_must(info->handleType == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT);
    properties->externalSemaphoreFeatures =
        VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT;
}

PFN_vkVoidFunction fake_fence_function(PFN_vkGetDeviceProcAddr find_real, VkDevice device, const char *name)
{
#define FIND(own_name, real_name) real.own_name = (PFN_##own_name)find_real(device, real_name)
    FIND(vkCreateSemaphore, "vkCreateSemaphore");
    FIND(vkDestroySemaphore, "vkDestroySemaphore");
    FIND(vkQueueSubmit, "vkQueueSubmit");
    FIND(vkSignalSemaphore, "vkSignalSemaphore");
    FIND(vkWaitSemaphores, "vkWaitSemaphores");
    if (!real.vkSignalSemaphore) { // an instance of version 1.1
        FIND(vkSignalSemaphore, "vkSignalSemaphoreKHR");
        FIND(vkWaitSemaphores, "vkWaitSemaphoresKHR");
    }
#undef FIND
    if (strcmp(name, "vkCreateSemaphore") == 0) return (PFN_vkVoidFunction)create;
    if (strcmp(name, "vkDestroySemaphore") == 0) return (PFN_vkVoidFunction)destroy;
    if (strcmp(name, "vkQueueSubmit") == 0) return (PFN_vkVoidFunction)submit;
    if (strcmp(name, "vkImportSemaphoreFdKHR") == 0) return (PFN_vkVoidFunction)import;
    return strcmp(name, "vkGetSemaphoreFdKHR") == 0 ? (PFN_vkVoidFunction)get : NULL;
}
