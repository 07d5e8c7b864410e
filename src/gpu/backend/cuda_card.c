// SPDX-License-Identifier: Apache-2.0
// Memory of the card that the host writes, for inputs of the CUDA backend. In: a size. Out: a buffer whose bytes lie in
// the card and are mapped for the host, so that nothing copies an input once more. CUDA cannot map its memory: Vulkan
// allocates it, and CUDA imports it. Where there is no Vulkan, or where the host sees but a part of the card's memory,
// inputs lie in pinned memory as before.
//
// A run sees what the host wrote before it: hl_copier_send drains the processors' write buffers. From there on the
// writes are on the bus, and the launch, a write to the same card, does not overtake them there.
#include <stdlib.h>

#include "base/descriptor.h"
#include "gpu/backend/cuda_device.h"
#if defined(HALITE_GPU_VULKAN)
#include "gpu/backend/vulkan_card.h"

struct cuda_card_memory {
    struct vulkan_card_memory *memory;
    struct cuda_external *external; // NULL: not imported
};

// The card as Vulkan sees it. It is opened by the first input that wants it, which takes 0.2 s of a start on an H100; a
// thread that opens it while CUDA's own start goes on saves 0.04 of them.
static struct vulkan_card *get_card(struct gpu_device *device)
{
    const struct cuda_api *cuda = device->cuda;
    struct cuda_uuid uuid;
    if (device->is_card_known) return device->card;
    device->is_card_known = true;
    if (cuda->device_uuid && cuda->external_import && cuda->external_buffer && cuda->external_destroy &&
        cuda->device_uuid(&uuid, device->id) == CUDA_OK)
        device->card = gpu_vulkan_card_open(uuid.bytes);
    return device->card;
}

// Makes the memory known to the context, which is current.
static bool import(struct gpu_device *device, struct gpu_buffer *buffer)
{
    const struct cuda_api *cuda = device->cuda;
    struct cuda_card_memory *card = buffer->card;
    size_t bytes = gpu_vulkan_card_allocated(card->memory);
    struct cuda_external_memory desc = {.type = CUDA_EXTERNAL_OPAQUE_FD, .bytes = bytes};
    struct cuda_external_buffer all = {.bytes = bytes};
    desc.handle.descriptor = gpu_vulkan_card_export(device->card, card->memory);
    if (desc.handle.descriptor < 0) return false;
    if (cuda->external_import(&card->external, &desc) != CUDA_OK) {
        hl_descriptor_close(desc.handle.descriptor);
        card->external = NULL;
        return false;
    }
    if (cuda->external_buffer(&buffer->address, card->external, &all) == CUDA_OK) return true;
    cuda->external_destroy(card->external);
    return false;
}

struct gpu_buffer *gpu_cuda_card_buffer_create(struct gpu_device *device, size_t bytes)
{
    struct vulkan_card *card = device->base.lost ? NULL : get_card(device);
    struct gpu_buffer *buffer = card ? calloc(1, sizeof *buffer) : NULL;
    if (!buffer) return NULL;
    buffer->bytes = bytes;
    buffer->card = calloc(1, sizeof *buffer->card);
    bool ok = buffer->card && (buffer->card->memory = gpu_vulkan_card_allocate(card, bytes)) != NULL;
    if (ok && (ok = gpu_cuda_enter(device, "create a buffer"))) {
        ok = import(device, buffer);
        gpu_cuda_leave(device);
    }
    if (ok) return buffer;
    gpu_cuda_card_free(device, buffer->card, true);
    free(buffer);
    return NULL;
}

unsigned char *gpu_cuda_card_bytes(const struct cuda_card_memory *memory)
{
    return gpu_vulkan_card_mapped(memory->memory);
}

void gpu_cuda_card_unmap(struct gpu_device *device, const struct gpu_buffer *buffer)
{
    device->cuda->memory_free(buffer->address);
    device->cuda->external_destroy(buffer->card->external);
}

void gpu_cuda_card_free(struct gpu_device *device, struct cuda_card_memory *memory, bool ended)
{
    if (!memory) return;
    gpu_vulkan_card_free(device->card, memory->memory, ended);
    free(memory);
}

void gpu_cuda_card_close(struct gpu_device *device)
{
    gpu_vulkan_card_close(device->card, !device->base.is_abandoned);
}
#else

struct gpu_buffer *gpu_cuda_card_buffer_create(struct gpu_device *device, size_t bytes)
{
    (void)device;
    (void)bytes;
    return NULL;
}

unsigned char *gpu_cuda_card_bytes(const struct cuda_card_memory *memory)
{
    (void)memory;
    return NULL;
}

void gpu_cuda_card_unmap(struct gpu_device *device, const struct gpu_buffer *buffer)
{
    (void)device;
    (void)buffer;
}

void gpu_cuda_card_free(struct gpu_device *device, struct cuda_card_memory *memory, bool ended)
{
    (void)device;
    (void)memory;
    (void)ended;
}

void gpu_cuda_card_close(struct gpu_device *device)
{
    (void)device;
}
#endif
