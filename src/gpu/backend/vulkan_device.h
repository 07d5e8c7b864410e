// SPDX-License-Identifier: Apache-2.0
// What the files of the Vulkan backend share: the instance of the process (vulkan_instance.c), and a device with its
// errors and queue (vulkan_queue.c), its memory (vulkan_memory.c), images and memory of the application
// (vulkan_images.c, vulkan_external.c) and fences (vulkan_fence.c, vulkan_sync_file.c). vulkan.c adds programs, lists
// and the table of functions.
#ifndef HALITE_GPU_BACKEND_VULKAN_DEVICE_H
#define HALITE_GPU_BACKEND_VULKAN_DEVICE_H

#include "gpu/backend/device_base.h"
#include "gpu/backend/image_uses.h"
#include "gpu/backend/vulkan_api.h"

enum {
    VULKAN_MAX_DEVICES = 16,
    VULKAN_OFFSET_ALIGNMENT = 256, // as in gpu_dispatch; devices that need more are left out
    VULKAN_FENCES = 16,            // submissions in flight; the next one waits for the first
    VULKAN_BATCHES = 2,            // of copies: one is filled while the other is in flight
};
#define VULKAN_API "Vulkan"
#define VULKAN_VALIDATION_LAYER "VK_LAYER_KHRONOS_validation"

// ---- the instance: one per process, created at first use, never destroyed -------------------------------------------

struct vulkan_instance {
    struct vulkan_instance_api vk;
    VkInstance handle;
    bool validation, validation_missing;
    int count;
    struct vulkan_physical {
        VkPhysicalDevice handle;
        uint32_t family; // index of the queue family for compute
        uint32_t timestamp_bits;
    } devices[VULKAN_MAX_DEVICES];
    const char *why; // why there is no device, static text
};

const struct vulkan_instance *gpu_vulkan_instance(void);
// Describes the application's instance and device as one of our own. False after a message.
bool gpu_vulkan_take_instance(const HaliteGpuContext *context, const struct hl_reporter *reporter,
                              struct vulkan_instance *instance);
void gpu_vulkan_fill_caps(const struct vulkan_instance *instance, VkPhysicalDevice physical, struct gpu_caps *caps);
// The device's extensions, which the caller frees. NULL and 0 of them where the driver does not say.
VkExtensionProperties *gpu_vulkan_list_extensions(const struct vulkan_instance *instance, VkPhysicalDevice physical,
                                                  uint32_t *count);
// Whether it is one of the extensions that the device has.
bool gpu_vulkan_has_extension(const struct vulkan_instance *instance, VkPhysicalDevice physical, const char *name);
// Whether an environment variable is set, and neither empty nor 0.
bool gpu_vulkan_is_set(const char *variable);

// ---- objects --------------------------------------------------------------------------------------------------------

struct gpu_buffer {
    VkBuffer handle;
    VkDeviceMemory memory;
    size_t bytes;
    bool is_borrowed;      // of the application, which destroys it
    unsigned char *mapped; // NULL if only the device can access the memory
    // The range that was read last. A second read of the same range gives it a mirror in host memory. Lists that write
    // the buffer then end with a copy to the mirror; `mirrored` is the last submission with such a copy, or 0 if the
    // host has written the buffer since.
    size_t read_offset, read_bytes;
    struct gpu_buffer *mirror;
    bool mirror_is_lent; // it is the memory of the tensor that the buffer is read to, and whoever lent it frees it
    VkCommandBuffer mirror_commands;
    uint64_t mirrored;
    struct vulkan_image { // of the application, whose texels the buffer has; no handle: none
        VkImage handle;
        uint32_t width, height;
        bool is_input;
        VkImageLayout before, after;
    } image;
};

// Copies between staging memory and buffers that are submitted together.
struct vulkan_batch {
    VkCommandBuffer commands;
    struct gpu_buffer *staging; // NULL until the first copy
    size_t used;
    bool recording;
    uint64_t number; // the number of its submission
};

struct gpu_device {
    struct gpu_device_base base;
    struct vulkan_device_api vk;
    const struct vulkan_instance *instance;
    const struct vulkan_physical *physical;
    struct vulkan_instance *shared; // of the application, with its one device; NULL: handle and queue are our own
    VkDevice handle;
    VkQueue queue;
    VkDebugUtilsMessengerEXT messenger;
    VkPhysicalDeviceMemoryProperties memory;
    struct vulkan_external { // memory that the device can import, from vulkan_external.c
        bool has_fd, has_dma_buf, has_host, has_hardware;
        size_t host_alignment;
        PFN_vkGetMemoryFdPropertiesKHR fd_properties;
        PFN_vkGetMemoryHostPointerPropertiesEXT host_properties;
        PFN_vkGetAndroidHardwareBufferPropertiesANDROID hardware_properties;
    } external;
    struct vulkan_sync_files { // from vulkan_sync_file.c; no functions: the device takes none
        PFN_vkImportSemaphoreFdKHR import;
        PFN_vkGetSemaphoreFdKHR get;
        struct vulkan_semaphore {
            VkSemaphore handle;
            uint64_t number; // of the submission after which it can be used again
        } * list;
        int count, capacity;
    } sync_files;
    VkCommandPool pool;
    VkPipelineCache cache;
    size_t cache_loaded;                             // bytes that the cache started with
    VkDescriptorSetLayout sets[GPU_MAX_BUFFERS + 1]; // by number of buffers
    float timestamp_period;                          // nanoseconds
    bool maps_buffers, reads_mapped;

    // Submissions are numbered from 1. Submission n uses fence n % VULKAN_FENCES. It is done once this fence or that of
    // a later submission is signalled.
    VkFence fences[VULKAN_FENCES];
    uint64_t submitted, completed;
    struct vulkan_batch batches[VULKAN_BATCHES];
    int batch; // the one that is being filled
    struct gpu_buffer *download;
    bool is_sending; // the next list_run is to wait for its end, because the device reads lent memory
};

// ---- errors ---------------------------------------------------------------------------------------------------------

// Whether a call succeeded. False after a message with the call, its result and some advice.
bool gpu_vulkan_check(struct gpu_device *device, VkResult result, const char *call);
#define VULKAN_CALL(device, name, ...) gpu_vulkan_check((device), (device)->vk.name(__VA_ARGS__), #name)

// ---- the queue ------------------------------------------------------------------------------------------------------

// Creates the command pool, the fences and the command buffers of the batches. If create fails, destroy frees what it
// has created.
bool gpu_vulkan_queue_create(struct gpu_device *device);
void gpu_vulkan_queue_destroy(struct gpu_device *device);
// Returns the number of the submission, or 0 after a message.
uint64_t gpu_vulkan_submit(struct gpu_device *device, const VkCommandBuffer *commands, int count);
// Waits until a submission is done.
bool gpu_vulkan_wait(struct gpu_device *device, uint64_t number);
bool gpu_vulkan_allocate_commands(struct gpu_device *device, VkCommandBuffer *commands);
void gpu_vulkan_free_commands(struct gpu_device *device, VkCommandBuffer commands);
bool gpu_vulkan_begin_commands(struct gpu_device *device, VkCommandBuffer commands, VkCommandBufferUsageFlags usage);
// Makes what dispatches wrote visible to later dispatches.
void gpu_vulkan_barrier(const struct gpu_device *device, VkCommandBuffer commands);
// Ends every command buffer, so that none needs a barrier at its beginning: what `stage` (dispatches or copies) wrote
// becomes visible to all later commands and to the host, and what it read may be overwritten.
void gpu_vulkan_barrier_to_all(const struct gpu_device *device, VkCommandBuffer commands, VkPipelineStageFlags stage);
// Makes what the application's earlier commands wrote visible, and the other way round: what ours wrote to its later
// commands. Only a queue that is shared needs it.
void gpu_vulkan_barrier_to_application(const struct gpu_device *device, VkCommandBuffer commands);

// ---- memory: functions of gpu_backend, and what lists need ----------------------------------------------------------

// The type of memory of the device that the host can access as well, if that is all of it; else -1.
int gpu_vulkan_mapped_type(const VkPhysicalDeviceMemoryProperties *memory);
void gpu_vulkan_choose_memory(struct gpu_device *device);
void gpu_vulkan_memory_destroy(struct gpu_device *device); // frees the staging memory
struct gpu_buffer *gpu_vulkan_buffer_create(struct gpu_device *device, size_t bytes);
struct gpu_buffer *gpu_vulkan_buffer_import(struct gpu_device *device, uint64_t handle, size_t *bytes);
void gpu_vulkan_buffer_destroy(struct gpu_device *device, struct gpu_buffer *buffer);
bool gpu_vulkan_buffer_write(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, const void *from,
                             size_t bytes);
bool gpu_vulkan_buffer_read(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, void *to,
                            size_t bytes);
struct gpu_lent *gpu_vulkan_lend(struct gpu_device *device, struct gpu_buffer *buffer, size_t bytes, bool from_host);
void gpu_vulkan_take_back(struct gpu_device *device, struct gpu_lent *lent);
bool gpu_vulkan_buffer_send(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, const void *from,
                            size_t bytes);
bool gpu_vulkan_buffer_write_halves(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset,
                                    const float *from, size_t count);
// Ends the batch of pending copies; *closed is NULL if there are none. The caller submits the batch and stores the
// number of the submission in it.
bool gpu_vulkan_close_batch(struct gpu_device *device, struct vulkan_batch **closed);

// ---- memory of the application --------------------------------------------------------------------------------------

enum { VULKAN_MAX_EXTERNAL = 6 };
// The extensions for imports of memory and of fences that the driver has, for a device of our own. Returns how many
// there are.
uint32_t gpu_vulkan_external_extensions(const struct gpu_device *device, const char *names[VULKAN_MAX_EXTERNAL]);
// Once the device is there: finds out what it can import.
void gpu_vulkan_external_begin(struct gpu_device *device);
struct gpu_buffer *gpu_vulkan_memory_import(struct gpu_device *device, const struct gpu_memory_desc *desc);
bool gpu_vulkan_takes_hardware_buffers(const struct gpu_device *device);
// A buffer of this size to which memory is yet to be bound. next: VkBufferCreateInfo.pNext. NULL after a message.
struct gpu_buffer *gpu_vulkan_buffer_without_memory(struct gpu_device *device, size_t bytes, const void *next);
// Frees a buffer that no command has used, with the memory that it has.
void gpu_vulkan_buffer_free(struct gpu_device *device, struct gpu_buffer *buffer);

// ---- images of the application --------------------------------------------------------------------------------------

struct gpu_buffer *gpu_vulkan_image_import(struct gpu_device *device, const struct gpu_image_desc *desc);
// Records the copy of the buffer's image to the buffer, which later dispatches see, or the other way for an output,
// after all earlier dispatches.
void gpu_vulkan_image_copy(const struct gpu_device *device, VkCommandBuffer commands, const struct gpu_buffer *buffer);

// ---- fences: functions of gpu_backend (vulkan_fence.c) --------------------------------------------------------------

const char *gpu_vulkan_fence_type(const struct gpu_device *device);
bool gpu_vulkan_fence_await(struct gpu_device *device, const HaliteGpuFence *fence);
bool gpu_vulkan_fence_signal(struct gpu_device *device, HaliteGpuFence *fence);
struct gpu_fence *gpu_vulkan_fence_create(struct gpu_device *device);
bool gpu_vulkan_fence_wait(struct gpu_fence *fence);
void gpu_vulkan_fence_destroy(struct gpu_fence *fence);
// Submits a wait for a semaphore, or a signal of it. value: of a timeline, 0: it is a binary one.
bool gpu_vulkan_submit_semaphore(struct gpu_device *device, VkSemaphore semaphore, uint64_t value, bool signals);

// The same of sync files (vulkan_sync_file.c). begin finds out whether the device takes them.
void gpu_vulkan_sync_files_begin(struct gpu_device *device);
void gpu_vulkan_sync_files_end(struct gpu_device *device);
bool gpu_vulkan_takes_sync_files(const struct gpu_device *device);
bool gpu_vulkan_sync_file_await(struct gpu_device *device, int descriptor);
bool gpu_vulkan_sync_file_create(struct gpu_device *device, int *descriptor);

#endif
