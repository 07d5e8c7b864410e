// SPDX-License-Identifier: Apache-2.0
// Memory of a card that the host can write, for other APIs. In: which card, and how many bytes. Out: where the host
// writes the memory, and a file descriptor by which another API of the card takes it.
#ifndef HALITE_GPU_BACKEND_VULKAN_CARD_H
#define HALITE_GPU_BACKEND_VULKAN_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VULKAN_UUID_BYTES = 16 };

struct vulkan_card;
struct vulkan_card_memory;

// The card with this VkPhysicalDeviceIDProperties.deviceUUID. NULL, without a message: there is no Vulkan or no such
// card, or the host sees but a part of its memory.
struct vulkan_card *gpu_vulkan_card_open(const unsigned char uuid[VULKAN_UUID_BYTES]);
// When all its memory is freed. Takes NULL. ended: false leaves the driver's objects to the driver, for a card that may
// still be at work; so it does below.
void gpu_vulkan_card_close(struct vulkan_card *card, bool ended);

// At least so many bytes. NULL, without a message, if that fails.
struct vulkan_card_memory *gpu_vulkan_card_allocate(struct vulkan_card *card, size_t bytes);
void gpu_vulkan_card_free(struct vulkan_card *card, struct vulkan_card_memory *memory, bool ended);
// Where the host writes it.
unsigned char *gpu_vulkan_card_mapped(const struct vulkan_card_memory *memory);
// What was allocated in all.
size_t gpu_vulkan_card_allocated(const struct vulkan_card_memory *memory);
// An opaque file descriptor of the memory, which the caller closes or gives away; -1 if there is none.
int gpu_vulkan_card_export(const struct vulkan_card *card, const struct vulkan_card_memory *memory);

#endif
