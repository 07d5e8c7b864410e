// SPDX-License-Identifier: Apache-2.0
// What the two halves of the fake driver share: vulkan.c finds functions, fences.c has those of semaphores.
#ifndef HALITE_TESTS_FAKES_ANDROID_VULKAN_H
#define HALITE_TESTS_FAKES_ANDROID_VULKAN_H

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>
// The header of this extension declares the struct, and nothing else of Android.
#include <vulkan/vulkan_android.h>

#include "fake.h"

// The fake's function of a device for semaphores and sync files; NULL: it has none of this name.
PFN_vkVoidFunction fake_fence_function(PFN_vkGetDeviceProcAddr get, VkDevice device, const char *name);
VKAPI_ATTR void VKAPI_CALL fake_semaphore_properties(VkPhysicalDevice device,
                                                     const VkPhysicalDeviceExternalSemaphoreInfo *info,
                                                     VkExternalSemaphoreProperties *properties);

#endif
