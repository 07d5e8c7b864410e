// SPDX-License-Identifier: Apache-2.0
// The choice of a device among those of all backends. In: a text from the user (an option, or the environment variable
// HALITE_DEVICE). Out: a backend and the device's number in it, or one message that says what was looked for and what
// is missing.
#ifndef HALITE_GPU_BACKEND_DEVICES_H
#define HALITE_GPU_BACKEND_DEVICES_H

#include "gpu/backend/backend.h"

enum { GPU_MAX_DEVICES = 32, GPU_MAX_BACKENDS = 8, GPU_REASON_BYTES = 640 };

struct gpu_device_info {
    const struct gpu_backend *backend;
    const char *api; // the name of the API, "OpenCL"
    int index;       // within its backend; -1: of the application's context
    char text[24];   // "opencl:0": the text that selects this device
    int rank;        // the backend's: the highest wins among equal devices; below 0: used only if there is no other
    struct gpu_caps caps;
    char why[128]; // why "auto" chose it; "": the user named it
};

// The result of a search. The null device is never part of it.
struct gpu_device_list {
    int count;
    struct gpu_device_info devices[GPU_MAX_DEVICES]; // ordered by backend, then by number
    int api_count;
    struct {
        const char *name; // "Vulkan"
        const char *why;  // why it has no device; NULL if it has one
    } apis[GPU_MAX_BACKENDS];
};

void gpu_devices_find(struct gpu_device_list *list);

// The fastest device, and the first among equals; NULL if there is none. software: whether software devices count. but:
// a device to leave out, or NULL. A device with a rank below 0 is chosen only if there is no other.
const struct gpu_device_info *gpu_devices_fastest(const struct gpu_device_list *list, bool software,
                                                  const struct gpu_device_info *but);

// The device that "auto" chooses: never software; one with a rank below 0 only if there is no other; discrete before
// integrated, then by rank of the backend, then by memory, then the first. NULL if there is none. why: the reason as a
// sentence, GPU_REASON_BYTES long at most.
const struct gpu_device_info *gpu_devices_auto(const struct gpu_device_list *list, char *why);

// text: "auto", "opencl", "opencl:1", "vulkan", "vulkan:0", "gles", "metal", "cuda" or "null". If it is NULL or "",
// HALITE_DEVICE decides, and without that "auto". A backend without a number means its fastest device, even a software
// device if there is no other. only: the name of the required backend, or "" for any. sustained: "auto" is for many
// runs, and may take a device that starts slower and then is faster. False after a message.
bool gpu_device_choose(const char *text, const char *only, bool sustained, const struct hl_reporter *reporter,
                       struct gpu_device_info *chosen);
// What devices of this API have as `api`.
const char *gpu_api_title(HaliteGpuApi api);
// Fills in the context of OpenGL ES that is current in the calling thread. False if there is none.
bool gpu_device_current(HaliteGpuContext *context);
// Opens a device in the context of the application, and describes it. NULL after a message.
struct gpu_device *gpu_device_adopt(const HaliteGpuContext *context, const struct hl_reporter *reporter,
                                    struct gpu_device_info *info);
// Whether the text has one of these forms. Nothing is opened. False after a message.
bool gpu_device_text_is_valid(const char *text, const struct hl_reporter *reporter);

#endif
