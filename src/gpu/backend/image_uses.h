// SPDX-License-Identifier: Apache-2.0
// The buffers of a list that stand for images of the application (or in OpenCL are made of its memory), each once: a
// backend notes them while it records dispatches, and copies the images when the list runs.
#ifndef HALITE_GPU_BACKEND_IMAGE_USES_H
#define HALITE_GPU_BACKEND_IMAGE_USES_H

#include <stdbool.h>

struct gpu_buffer;
struct gpu_image_uses {
    struct gpu_buffer **list; // freed by the list that it belongs to
    int count, capacity;
};

// False without memory.
bool gpu_image_uses_add(struct gpu_image_uses *uses, struct gpu_buffer *buffer);

#endif
