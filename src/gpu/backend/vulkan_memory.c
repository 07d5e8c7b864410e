// SPDX-License-Identifier: Apache-2.0
// The Vulkan backend's memory: buffers, and copies between them and the host. If the host can access all of the
// device's memory (integrated GPUs, software, cards with a large BAR), buffers are mapped and written directly, and
// also read directly if that memory is cached. Otherwise staging memory is used. Writes become copies that the queue
// executes before the next list. A range that is read repeatedly after a list (a model's output) gets a mirror, to
// which the submission of the list copies it. On an H200 an input of 600 KB and an output of 4 KB take 38 us this way,
// 50 us without the mirror, and 69 us with staging memory for both. HALITE_VULKAN_STAGING=1 turns mapping off.
#if defined(HALITE_GPU_VULKAN)
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/backend/vulkan_device.h"

enum {
    STAGING_BYTES = 4 << 20,     // for each batch, and for downloads
    MAX_MIRROR_BYTES = 64 << 20, // larger reads get no mirror
    // Tensors have memory of ours from there on. A smaller output is copied in a microsecond. One processor writes an
    // input into the card's memory in the time in which the device fetches it (cuda_memory.c), but into staging memory
    // it is one copy more.
    MIN_LENT_OUTPUT_BYTES = 16 << 10,
    MIN_LENT_INPUT_BYTES = HL_LARGE_COPY,
    MIN_LENT_STAGED_BYTES = 64 << 10,
};

// ---- memory ---------------------------------------------------------------------------------------------------------

enum memory_use { MEMORY_DEVICE, MEMORY_MAPPED, MEMORY_UPLOAD, MEMORY_DOWNLOAD, MEMORY_LENT, MEMORY_USES };

// Properties that a memory type must have and must not have, best first. Every device satisfies the last row, but for
// lent memory: that must be cached, because applications read it.
enum {
    LOCAL = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
    VISIBLE = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
    CACHED = VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
};
static const struct memory_wish {
    VkMemoryPropertyFlags wanted, refused;
} memory_wishes[MEMORY_USES][3] = {
    [MEMORY_DEVICE] = {{LOCAL, VISIBLE}, {LOCAL, 0}, {0, 0}}, // the host-visible part may be small and is used last
    [MEMORY_MAPPED] = {{LOCAL | VISIBLE | CACHED, 0}, {LOCAL | VISIBLE, 0}, {VISIBLE, 0}},
    [MEMORY_UPLOAD] = {{VISIBLE, LOCAL | CACHED}, {VISIBLE, LOCAL}, {VISIBLE, 0}},
    [MEMORY_DOWNLOAD] = {{VISIBLE | CACHED, LOCAL}, {VISIBLE | CACHED, 0}, {VISIBLE, 0}},
    [MEMORY_LENT] = {{VISIBLE | CACHED, LOCAL}, {VISIBLE | CACHED, 0}, {VISIBLE | CACHED, 0}},
};

// The first allowed memory type with the wanted properties; -1 if there is none.
static int find_type(const VkPhysicalDeviceMemoryProperties *memory, uint32_t allowed, const struct memory_wish *wish)
{
    for (uint32_t i = 0; i < memory->memoryTypeCount; i++) {
        VkMemoryPropertyFlags flags = memory->memoryTypes[i].propertyFlags;
        if ((allowed >> i & 1) && (flags & wish->wanted) == wish->wanted && !(flags & wish->refused)) return (int)i;
    }
    return -1;
}

static bool allocate(struct gpu_device *device, struct gpu_buffer *buffer, enum memory_use use)
{
    VkMemoryRequirements needs;
    device->vk.vkGetBufferMemoryRequirements(device->handle, buffer->handle, &needs);
    int type = -1;
    for (int i = 0; i < 3 && type < 0; i++)
        type = find_type(&device->memory, needs.memoryTypeBits, &memory_wishes[use][i]);
    if (type < 0) return gpu_device_fail(&device->base, "no memory type suits a buffer: check the driver");
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = (uint32_t)type,
    };
    char call[64];
    snprintf(call, sizeof call, "vkAllocateMemory of %zu bytes", (size_t)needs.size);
    if (!gpu_vulkan_check(device, device->vk.vkAllocateMemory(device->handle, &info, NULL, &buffer->memory), call))
        return false;
    if (!VULKAN_CALL(device, vkBindBufferMemory, device->handle, buffer->handle, buffer->memory, 0)) return false;
    void *mapped = NULL;
    if (use != MEMORY_DEVICE &&
        !VULKAN_CALL(device, vkMapMemory, device->handle, buffer->memory, 0, VK_WHOLE_SIZE, 0, &mapped))
        return false;
    buffer->mapped = mapped;
    return true;
}

static void release(struct gpu_device *device, struct gpu_buffer *buffer);

static void drop_mirror(struct gpu_device *device, struct gpu_buffer *buffer)
{
    if (!buffer->mirror_is_lent) release(device, buffer->mirror);
    gpu_vulkan_free_commands(device, buffer->mirror_commands);
    buffer->mirror = NULL;
    buffer->mirror_is_lent = false;
    buffer->mirror_commands = NULL;
    buffer->mirrored = 0;
}

static void release(struct gpu_device *device, struct gpu_buffer *buffer)
{
    if (!buffer) return;
    drop_mirror(device, buffer);
    if (!device->base.is_abandoned) {
        if (!buffer->is_borrowed) device->vk.vkDestroyBuffer(device->handle, buffer->handle, NULL);
        device->vk.vkFreeMemory(device->handle, buffer->memory, NULL); // also unmaps it
    }
    free(buffer);
}

struct gpu_buffer *gpu_vulkan_buffer_without_memory(struct gpu_device *device, size_t bytes, const void *next)
{
    struct gpu_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer) return gpu_device_no_memory(&device->base, "a buffer");
    buffer->bytes = bytes;
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .pNext = next,
        .size = bytes,
        .usage =
            VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
    if (VULKAN_CALL(device, vkCreateBuffer, device->handle, &info, NULL, &buffer->handle)) return buffer;
    release(device, buffer);
    return NULL;
}

static struct gpu_buffer *create(struct gpu_device *device, size_t bytes, enum memory_use use)
{
    struct gpu_buffer *buffer = gpu_vulkan_buffer_without_memory(device, bytes, NULL);
    if (!buffer || allocate(device, buffer, use)) return buffer;
    release(device, buffer);
    return NULL;
}

struct gpu_buffer *gpu_vulkan_buffer_create(struct gpu_device *device, size_t bytes)
{
    if (!gpu_device_is_alive(&device->base, "create a buffer")) return NULL;
    if (bytes > device->base.caps.max_buffer) {
        gpu_device_fail(&device->base,
                        "a buffer of %zu bytes is wanted, at most %zu can be: use a smaller batch or model", bytes,
                        device->base.caps.max_buffer);
        return NULL;
    }
    return create(device, bytes ? bytes : 1, device->maps_buffers ? MEMORY_MAPPED : MEMORY_DEVICE);
}

// Vulkan does not say how large a buffer is, only how much memory it needs, which is at least that.
struct gpu_buffer *gpu_vulkan_buffer_import(struct gpu_device *device, uint64_t handle, size_t *bytes)
{
    VkMemoryRequirements needs;
    if (!gpu_device_is_alive(&device->base, "take a buffer")) return NULL;
    struct gpu_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer) return gpu_device_no_memory(&device->base, "a buffer");
    memcpy(&buffer->handle, &handle, sizeof buffer->handle); // a pointer or an integer
    buffer->bytes = *bytes;
    buffer->is_borrowed = true;
    device->vk.vkGetBufferMemoryRequirements(device->handle, buffer->handle, &needs);
    if (*bytes > 0 && *bytes <= needs.size) return buffer;
    if (*bytes == 0)
        gpu_device_fail(&device->base, "the size of the application's VkBuffer is needed: set it");
    else
        gpu_device_fail(&device->base, "the application's VkBuffer has %zu bytes at most, not %zu", (size_t)needs.size,
                        *bytes);
    free(buffer);
    return NULL;
}

// Whether the host can access all device-local memory, and not only a small part of it.
static bool sees_all_local(const VkPhysicalDeviceMemoryProperties *memory, int type)
{
    VkDeviceSize seen = memory->memoryHeaps[memory->memoryTypes[type].heapIndex].size;
    for (uint32_t i = 0; i < memory->memoryHeapCount; i++)
        if ((memory->memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) && memory->memoryHeaps[i].size > seen)
            return false;
    return true;
}

int gpu_vulkan_mapped_type(const VkPhysicalDeviceMemoryProperties *memory)
{
    int type = find_type(memory, UINT32_MAX, &(struct memory_wish){LOCAL | VISIBLE, 0});
    return type >= 0 && sees_all_local(memory, type) && !gpu_vulkan_is_set("HALITE_VULKAN_STAGING") ? type : -1;
}

void gpu_vulkan_choose_memory(struct gpu_device *device)
{
    device->instance->vk.vkGetPhysicalDeviceMemoryProperties(device->physical->handle, &device->memory);
    device->maps_buffers = gpu_vulkan_mapped_type(&device->memory) >= 0;
    struct gpu_caps *caps = &device->base.caps;
    caps->takes_halves = device->maps_buffers && !caps->integrated && !caps->software && hl_halves_are_fast();
    device->reads_mapped =
        find_type(&device->memory, UINT32_MAX, &(struct memory_wish){LOCAL | VISIBLE | CACHED, 0}) >= 0;
}

// ---- copies ---------------------------------------------------------------------------------------------------------

// The batch that is being filled. It has staging memory and is recording. NULL after a message.
static struct vulkan_batch *open_batch(struct gpu_device *device)
{
    struct vulkan_batch *batch = &device->batches[device->batch];
    if (batch->recording) return batch;
    if (!gpu_vulkan_wait(device, batch->number)) return NULL;
    if (!batch->staging && !(batch->staging = create(device, STAGING_BYTES, MEMORY_UPLOAD))) return NULL;
    if (!gpu_vulkan_begin_commands(device, batch->commands, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT)) return NULL;
    batch->recording = true;
    batch->used = 0;
    return batch;
}

bool gpu_vulkan_close_batch(struct gpu_device *device, struct vulkan_batch **closed)
{
    struct vulkan_batch *batch = &device->batches[device->batch];
    *closed = NULL;
    if (!batch->recording) return true;
    batch->recording = false;
    if (!VULKAN_CALL(device, vkEndCommandBuffer, batch->commands)) return false;
    device->batch = (device->batch + 1) % VULKAN_BATCHES;
    *closed = batch;
    return true;
}

static bool flush(struct gpu_device *device)
{
    struct vulkan_batch *batch;
    if (!gpu_vulkan_close_batch(device, &batch)) return false;
    return !batch || (batch->number = gpu_vulkan_submit(device, &batch->commands, 1)) != 0;
}

static bool finish(struct gpu_device *device)
{
    return flush(device) && gpu_vulkan_wait(device, device->submitted);
}

static void record_copy(const struct gpu_device *device, VkCommandBuffer commands, const struct gpu_buffer *from,
                        size_t from_offset, const struct gpu_buffer *to, size_t to_offset, size_t bytes)
{
    VkBufferCopy region = {.srcOffset = from_offset, .dstOffset = to_offset, .size = bytes};
    device->vk.vkCmdCopyBuffer(commands, from->handle, to->handle, 1, &region);
    gpu_vulkan_barrier_to_all(device, commands, VK_PIPELINE_STAGE_TRANSFER_BIT);
}

bool gpu_vulkan_buffer_write(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, const void *from,
                             size_t bytes)
{
    assert(offset <= buffer->bytes && bytes <= buffer->bytes - offset);
    if (!gpu_device_is_alive(&device->base, "write a buffer")) return false;
    buffer->mirrored = 0;
    if (buffer->mapped) {
        if (!finish(device)) return false;
        (device->reads_mapped ? gpu_device_copy : gpu_device_send)(&device->base, buffer->mapped + offset, from, bytes);
        return true;
    }
    const unsigned char *next = from;
    while (bytes > 0) {
        struct vulkan_batch *batch = open_batch(device);
        if (!batch) return false;
        size_t part = STAGING_BYTES - batch->used;
        if (part > bytes) part = bytes;
        gpu_device_copy(&device->base, batch->staging->mapped + batch->used, next, part);
        record_copy(device, batch->commands, batch->staging, batch->used, buffer, offset, part);
        batch->used += part;
        if (batch->used == STAGING_BYTES && !flush(device)) return false;
        next += part;
        offset += part;
        bytes -= part;
    }
    return true;
}

bool gpu_vulkan_buffer_write_halves(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset,
                                    const float *from, size_t count)
{
    assert(buffer->mapped && offset <= buffer->bytes && 2 * count <= buffer->bytes - offset);
    buffer->mirrored = 0;
    if (!gpu_device_is_alive(&device->base, "write a buffer") || !finish(device)) return false;
    gpu_device_send_halves(&device->base, buffer->mapped + offset, from, count);
    return true;
}

static bool read_by_copies(struct gpu_device *device, const struct gpu_buffer *buffer, size_t offset, unsigned char *to,
                           size_t bytes)
{
    if (!device->download && !(device->download = create(device, STAGING_BYTES, MEMORY_DOWNLOAD))) return false;
    while (bytes > 0) {
        struct vulkan_batch *batch = open_batch(device);
        if (!batch) return false;
        size_t part = bytes < STAGING_BYTES ? bytes : STAGING_BYTES;
        record_copy(device, batch->commands, buffer, offset, device->download, 0, part);
        if (!finish(device)) return false;
        gpu_device_copy(&device->base, to, device->download->mapped, part);
        to += part;
        offset += part;
        bytes -= part;
    }
    return true;
}

static bool record_mirror(struct gpu_device *device, struct gpu_buffer *buffer)
{
    if (!gpu_vulkan_allocate_commands(device, &buffer->mirror_commands)) return false;
    VkCommandBuffer commands = buffer->mirror_commands;
    if (!gpu_vulkan_begin_commands(device, commands, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT)) return false;
    record_copy(device, commands, buffer, buffer->read_offset, buffer->mirror, 0, buffer->read_bytes);
    return VULKAN_CALL(device, vkEndCommandBuffer, commands);
}

// Creates a mirror if the same range is read a second time in a row. The queue must be idle.
static bool note_read(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, size_t bytes)
{
    bool again = buffer->read_bytes == bytes && buffer->read_offset == offset;
    if (again && (buffer->mirror || bytes == 0 || bytes > MAX_MIRROR_BYTES)) return true;
    if (again && (buffer->mirror = create(device, buffer->read_bytes, MEMORY_DOWNLOAD)) &&
        record_mirror(device, buffer))
        return true;
    drop_mirror(device, buffer);
    buffer->read_offset = offset;
    buffer->read_bytes = bytes;
    return !again;
}

bool gpu_vulkan_buffer_read(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, void *to, size_t bytes)
{
    assert(offset <= buffer->bytes && bytes <= buffer->bytes - offset);
    if (!gpu_device_is_alive(&device->base, "read a buffer")) return false;
    if (buffer->mapped && device->reads_mapped) {
        if (!finish(device)) return false;
        gpu_device_copy(&device->base, to, buffer->mapped + offset, bytes);
        return true;
    }
    if (buffer->mirrored && buffer->read_offset == offset && buffer->read_bytes == bytes) {
        // A large mirror has a submission of its own: while it is made, threads wake up.
        bool copies = to != buffer->mirror->mapped;
        if (copies && bytes >= HL_LARGE_COPY && !gpu_vulkan_wait(device, buffer->mirrored - 1)) return false;
        if (copies) gpu_device_expect_copy(&device->base, bytes);
        if (!gpu_vulkan_wait(device, device->submitted)) return false;
        gpu_device_copy(&device->base, to, buffer->mirror->mapped, bytes);
        return true;
    }
    return read_by_copies(device, buffer, offset, to, bytes) && note_read(device, buffer, offset, bytes);
}

// ---- memory of tensors ----------------------------------------------------------------------------------------------

// A buffer in memory of the host, which an output's buffer has as its mirror from now on. NULL where there is none.
static struct gpu_buffer *create_lent(struct gpu_device *device, struct gpu_buffer *buffer, size_t bytes,
                                      bool from_host)
{
    bool exists = find_type(&device->memory, UINT32_MAX, &memory_wishes[MEMORY_LENT][1]) >= 0;
    struct gpu_buffer *lent = exists ? create(device, bytes, MEMORY_LENT) : NULL;
    if (!lent || from_host) return lent;
    drop_mirror(device, buffer);
    buffer->read_offset = 0;
    buffer->read_bytes = bytes;
    buffer->mirror = lent;
    buffer->mirror_is_lent = true;
    if (record_mirror(device, buffer)) return lent;
    drop_mirror(device, buffer);
    release(device, lent);
    return NULL;
}

struct gpu_lent *gpu_vulkan_lend(struct gpu_device *device, struct gpu_buffer *buffer, size_t bytes, bool from_host)
{
    size_t least = !from_host ? MIN_LENT_OUTPUT_BYTES : buffer->mapped ? MIN_LENT_INPUT_BYTES : MIN_LENT_STAGED_BYTES;
    struct gpu_lent desc = {.bytes = bytes, .of = buffer, .is_direct = buffer->mapped && device->reads_mapped};
    if (device->base.lost || (desc.is_direct ? bytes < MIN_LENT_OUTPUT_BYTES : bytes < least)) return NULL;
    if (!desc.is_direct && !(desc.buffer = create_lent(device, buffer, bytes, from_host))) return NULL;
    desc.memory = desc.is_direct ? buffer->mapped : desc.buffer->mapped;
    struct gpu_lent *lent = gpu_device_lend(&device->base, &desc);
    if (lent || desc.is_direct) return lent;
    drop_mirror(device, buffer);
    release(device, desc.buffer);
    return NULL;
}

void gpu_vulkan_take_back(struct gpu_device *device, struct gpu_lent *lent)
{
    if (!device->base.lost) finish(device); // copies from it or to it may be under way
    if (lent->of->mirror && lent->of->mirror == lent->buffer) drop_mirror(device, lent->of);
    release(device, lent->buffer);
    gpu_device_take_back(&device->base, lent);
}

bool gpu_vulkan_buffer_send(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, const void *from,
                            size_t bytes)
{
    const struct gpu_lent *lent = gpu_device_lent_at(&device->base, from, bytes);
    bool is_itself = buffer->mapped && from == buffer->mapped + offset;
    if (!lent || bytes == 0 || (lent->is_direct && !is_itself))
        return gpu_vulkan_buffer_write(device, buffer, offset, from, bytes);
    if (!gpu_device_is_alive(&device->base, "write a buffer")) return false;
    buffer->mirrored = 0;
    device->is_sending = true;
    if (is_itself) return true;
    struct vulkan_batch *batch = open_batch(device);
    if (!batch) return false;
    record_copy(device, batch->commands, lent->buffer, (size_t)((const unsigned char *)from - lent->buffer->mapped),
                buffer, offset, bytes);
    return true;
}

void gpu_vulkan_buffer_free(struct gpu_device *device, struct gpu_buffer *buffer)
{
    release(device, buffer);
}

void gpu_vulkan_buffer_destroy(struct gpu_device *device, struct gpu_buffer *buffer)
{
    if (!buffer) return;
    if (!device->base.lost) finish(device); // a batch may refer to it
    release(device, buffer);
}

void gpu_vulkan_memory_destroy(struct gpu_device *device)
{
    for (int i = 0; i < VULKAN_BATCHES; i++) release(device, device->batches[i].staging);
    release(device, device->download);
}
#endif
