// SPDX-License-Identifier: Apache-2.0
// What the files of the Vulkan backend share: the process's instance (vulkan_instance.c), a device with its errors and
// its queue (vulkan_queue.c), and its memory (vulkan_memory.c). vulkan.c makes programs and lists of it, and the table
// of functions.
#ifndef HALITE_GPU_BACKEND_VULKAN_DEVICE_H
#define HALITE_GPU_BACKEND_VULKAN_DEVICE_H

#include "gpu/backend/device_base.h"
#include "gpu/backend/vulkan_api.h"

enum {
    VULKAN_MAX_DEVICES = 16,
    VULKAN_OFFSET_ALIGNMENT = 256, // of gpu_dispatch: a device that asks for more is passed over
    VULKAN_FENCES = 4,             // submissions in flight
    VULKAN_BATCHES = 2,            // of copies: one is filled while the other is on its way
};
#define VULKAN_API "Vulkan"
#define VULKAN_VALIDATION_LAYER "VK_LAYER_KHRONOS_validation"

// ---- the instance: one per process, made at first use, never undone -------------------------------------------------

struct vulkan_instance {
    struct vulkan_instance_api vk;
    VkInstance handle;
    bool validation, validation_missing;
    int count;
    struct vulkan_physical {
        VkPhysicalDevice handle;
        uint32_t family; // of queues that compute
        uint32_t timestamp_bits;
    } devices[VULKAN_MAX_DEVICES];
    const char *why; // there is no device, static text
};

const struct vulkan_instance *gpu_vulkan_instance(void);
void gpu_vulkan_fill_caps(const struct vulkan_instance *instance, VkPhysicalDevice physical, struct gpu_caps *caps);
// Whether an environment variable is there and neither empty nor 0.
bool gpu_vulkan_is_set(const char *variable);

// ---- objects --------------------------------------------------------------------------------------------------------

struct gpu_buffer {
    VkBuffer handle;
    VkDeviceMemory memory;
    size_t bytes;
    unsigned char *mapped; // NULL: only the device sees it
    // The place that was read last. When it is read a second time in a row it gets a mirror in host memory: lists that
    // write the buffer copy it there as they end, and `mirrored` is the last submission that did (0: none since the
    // host wrote it).
    size_t read_offset, read_bytes;
    struct gpu_buffer *mirror;
    VkCommandBuffer mirror_commands;
    uint64_t mirrored;
};

// Copies between staging memory and buffers that go to the queue together.
struct vulkan_batch {
    VkCommandBuffer commands;
    struct gpu_buffer *staging; // NULL until it is needed
    size_t used;
    bool recording;
    uint64_t number; // of its submission
};

struct gpu_device {
    struct gpu_device_base base;
    struct vulkan_device_api vk;
    const struct vulkan_instance *instance;
    const struct vulkan_physical *physical;
    VkDevice handle;
    VkQueue queue;
    VkDebugUtilsMessengerEXT messenger;
    VkPhysicalDeviceMemoryProperties memory;
    VkCommandPool pool;
    VkPipelineCache cache;
    size_t cache_loaded;                             // bytes that it began with
    VkDescriptorSetLayout sets[GPU_MAX_BUFFERS + 1]; // by how many buffers
    float timestamp_period;                          // nanoseconds
    uint32_t max_range;                              // bytes that a kernel may see of a buffer
    bool maps_buffers, reads_mapped;

    // Submissions are numbered from 1; number n has fence n % VULKAN_FENCES, and is done when that is signalled or a
    // later one is.
    VkFence fences[VULKAN_FENCES];
    uint64_t submitted, completed;
    struct vulkan_batch batches[VULKAN_BATCHES];
    int batch; // that is filled now
    struct gpu_buffer *download;
};

// ---- errors ---------------------------------------------------------------------------------------------------------

// Whether a call went well; if not, says which, and why.
bool gpu_vulkan_check(struct gpu_device *device, VkResult result, const char *call);
#define VULKAN_CALL(device, name, ...) gpu_vulkan_check((device), (device)->vk.name(__VA_ARGS__), #name)

// ---- the queue ------------------------------------------------------------------------------------------------------

// The command pool, the fences, the batches' command buffers. What was made is undone by destroy, in part as well.
bool gpu_vulkan_queue_create(struct gpu_device *device);
void gpu_vulkan_queue_destroy(struct gpu_device *device);
// The submission's number; 0 after a message.
uint64_t gpu_vulkan_submit(struct gpu_device *device, const VkCommandBuffer *commands, int count);
// Until a submission is done.
bool gpu_vulkan_wait(struct gpu_device *device, uint64_t number);
bool gpu_vulkan_allocate_commands(struct gpu_device *device, VkCommandBuffer *commands);
void gpu_vulkan_free_commands(struct gpu_device *device, VkCommandBuffer commands);
bool gpu_vulkan_begin_commands(struct gpu_device *device, VkCommandBuffer commands, VkCommandBufferUsageFlags usage);
// What dispatches wrote is seen by later ones.
void gpu_vulkan_barrier(const struct gpu_device *device, VkCommandBuffer commands);
// At the end of every command buffer, so that none needs one at its beginning: what was written in `stage`
// (dispatches or copies) is seen by whatever follows, on the host as well, and what was read may be overwritten.
void gpu_vulkan_barrier_to_all(const struct gpu_device *device, VkCommandBuffer commands, VkPipelineStageFlags stage);

// ---- memory: the functions of the backend, and for lists ------------------------------------------------------------

void gpu_vulkan_choose_memory(struct gpu_device *device);
void gpu_vulkan_memory_destroy(struct gpu_device *device); // staging memory
struct gpu_buffer *gpu_vulkan_buffer_create(struct gpu_device *device, size_t bytes);
void gpu_vulkan_buffer_destroy(struct gpu_device *device, struct gpu_buffer *buffer);
bool gpu_vulkan_buffer_write(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, const void *from,
                             size_t bytes);
bool gpu_vulkan_buffer_read(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, void *to,
                            size_t bytes);
// Ends the batch of pending copies for a submission that the caller makes and whose number it notes; NULL: there are
// none.
bool gpu_vulkan_close_batch(struct gpu_device *device, struct vulkan_batch **closed);

#endif
