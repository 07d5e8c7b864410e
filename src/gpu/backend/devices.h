// SPDX-License-Identifier: Apache-2.0
// Which device: all backends asked for theirs, and one chosen by text. In: what a user wrote (an option, or the
// environment's HALITE_DEVICE). Out: a backend and a number in it, or one message that says what was looked for and why
// it is not there.
#ifndef HALITE_GPU_BACKEND_DEVICES_H
#define HALITE_GPU_BACKEND_DEVICES_H

#include "gpu/backend/backend.h"

enum { GPU_MAX_DEVICES = 32, GPU_MAX_BACKENDS = 8 };

struct gpu_device_info {
    const struct gpu_backend *backend;
    int index;     // in its backend
    char text[24]; // "opencl:0": the text that chooses it
    int rank;      // of the backend: among equal devices the highest is taken
    struct gpu_caps caps;
};

// What a search found; "null" is not among it.
struct gpu_device_list {
    int count;
    struct gpu_device_info devices[GPU_MAX_DEVICES]; // in order of the backends and of the numbers in each
    int missing_count;
    struct {
        const char *name; // of the backend, "Vulkan"
        const char *why;  // it has no device
    } missing[GPU_MAX_BACKENDS];
};

void gpu_devices_find(struct gpu_device_list *list);
// The fastest real GPU of a list: by vendor, backend and compute units. Never a software device; NULL: there is none.
const struct gpu_device_info *gpu_devices_fastest(const struct gpu_device_list *list);

// text: "auto" (the fastest real GPU), "opencl", "opencl:1", "vulkan", "vulkan:0", "null"; NULL or "": the
// environment's HALITE_DEVICE, and without that "auto". A backend without a number means its fastest device, a software
// one if it has no other. False after a message.
bool gpu_device_choose(const char *text, const struct hl_reporter *reporter, struct gpu_device_info *chosen);
// Chooses and opens. *backend is its backend; NULL after a message.
struct gpu_device *gpu_device_open(const char *text, const struct hl_reporter *reporter,
                                   const struct gpu_backend **backend);

#endif
