// SPDX-License-Identifier: Apache-2.0
// Which device: all backends asked for theirs, and one chosen by text. In: what a user wrote (an option, or the
// environment's HALITE_DEVICE). Out: a backend and a number in it, or one message that says what was looked for and why
// it is not there.
#ifndef HALITE_GPU_BACKEND_DEVICES_H
#define HALITE_GPU_BACKEND_DEVICES_H

#include "gpu/backend/backend.h"

enum { GPU_MAX_DEVICES = 32, GPU_MAX_BACKENDS = 8, GPU_REASON_BYTES = 640 };

struct gpu_device_info {
    const struct gpu_backend *backend;
    const char *api; // the backend's name for people, "OpenCL"
    int index;       // in its backend
    char text[24];   // "opencl:0": the text that chooses it
    int rank;        // of the backend: among equal devices the highest is taken; below 0: only where there is no other
    struct gpu_caps caps;
    char why[128]; // auto took it; "": it was named
};

// What a search found; "null" is not among it.
struct gpu_device_list {
    int count;
    struct gpu_device_info devices[GPU_MAX_DEVICES]; // in order of the backends and of the numbers in each
    int api_count;
    struct {
        const char *name; // "Vulkan"
        const char *why;  // it has no device; NULL: it has one
    } apis[GPU_MAX_BACKENDS];
};

void gpu_devices_find(struct gpu_device_list *list);

// What "auto" takes of a list: never software; of a rank below 0 only where there is no other; discrete before
// integrated; then by the backends' rank; then the one with more memory; then the first. NULL: none. why: a sentence
// for people, of at most GPU_REASON_BYTES.
const struct gpu_device_info *gpu_devices_auto(const struct gpu_device_list *list, char *why);

// text: "auto", "opencl", "opencl:1", "vulkan", "vulkan:0", "gles", "null"; NULL or "": the environment's
// HALITE_DEVICE, and without that "auto". A backend without a number means its fastest device, a software one if it has
// no other. only: the name of a backend that it has to be, "": any. False after a message.
bool gpu_device_choose(const char *text, const char *only, const struct hl_reporter *reporter,
                       struct gpu_device_info *chosen);
// Whether the text is one of these, wherever it runs: nothing is opened. False after a message.
bool gpu_device_text_is_valid(const char *text, const struct hl_reporter *reporter);

#endif
