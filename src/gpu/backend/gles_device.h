// SPDX-License-Identifier: Apache-2.0
// What the files of the OpenGL ES backend share: a device with its errors, its context and its buffers (gles.c),
// textures of the application (gles_images.c), and fences (gles_fence.c).
#ifndef HALITE_GPU_BACKEND_GLES_DEVICE_H
#define HALITE_GPU_BACKEND_GLES_DEVICE_H

#include "gpu/backend/device_base.h"
#include "gpu/backend/gles_api.h"
#include "gpu/backend/image_uses.h"

// What was current in the calling thread.
struct gles_current {
    unsigned api;
    void *display, *draw, *read, *context;
};

struct gpu_device {
    struct gpu_device_base base; // a cached program is the number of its format, then the driver's bytes
    const struct gles_api *gl;
    const struct gles_found *found;
    struct gles_found shared; // the display of the application's context, and that; no context: it is our own
    struct gles_context context;
    struct gles_current before; // the caller's, while a call is in progress
    bool resets;                // the driver reports a lost context
    bool debug;                 // the driver has texts for errors
    bool clock;                 // the device has timer queries
    bool binaries;              // the driver hands out binaries of programs
    // For gles_images.c, made at the first use: programs that read textures, and a sampler that does not filter.
    unsigned readers[GPU_TEXEL_FLOATS + 1], sampler;
};

struct gpu_buffer {
    unsigned buffer;
    size_t bytes;
    bool is_borrowed;   // of the application, which deletes it
    struct gles_image { // a texture of the application, whose texels the buffer has; texture 0: none
        unsigned texture;
        int width, height;
        enum gpu_texel texel;
        bool is_input;
    } image;
};

// Makes the device's context current until gpu_gles_leave. False after a message; action: "write a buffer".
bool gpu_gles_enter(struct gpu_device *device, const char *action);
// Restores the caller's context. Returns `ok`, or false if the restoration fails.
bool gpu_gles_leave(struct gpu_device *device, bool ok);
// Reports the error of the last call of EGL, which is `function`. Always false.
bool gpu_gles_egl_failed(struct gpu_device *device, const char *function, const char *about);
// Whether all GL calls since the last check succeeded. False after a message; function: the call that matters most,
// about: its purpose in a few words.
bool gpu_gles_check(struct gpu_device *device, const char *function, const char *about);

// As gpu_gles_enter, and what the device does next comes after what the application's context has been given so far,
// where that context is current in this thread.
bool gpu_gles_enter_after(struct gpu_device *device, const char *action);

// Waits for all that the current context was given, as glFinish does without a limit. False after a message.
bool gpu_gles_finish(struct gpu_device *device, const char *about);

// Functions of gpu_backend.
struct gpu_buffer *gpu_gles_buffer_create(struct gpu_device *device, size_t bytes);
void gpu_gles_buffer_destroy(struct gpu_device *device, struct gpu_buffer *buffer);
struct gpu_buffer *gpu_gles_image_import(struct gpu_device *device, const struct gpu_image_desc *desc);
// Copies the buffer's texture to the buffer, or the other way for an output. The device's context is current. False
// after a message.
bool gpu_gles_image_copy(struct gpu_device *device, const struct gpu_buffer *buffer);
void gpu_gles_images_end(struct gpu_device *device);

// The same, of gles_fence.c.
const char *gpu_gles_fence_type(const struct gpu_device *device);
bool gpu_gles_fence_await(struct gpu_device *device, const HaliteGpuFence *fence);
bool gpu_gles_fence_signal(struct gpu_device *device, HaliteGpuFence *fence);
struct gpu_fence *gpu_gles_fence_create(struct gpu_device *device);
bool gpu_gles_fence_wait(struct gpu_fence *fence);
void gpu_gles_fence_destroy(struct gpu_fence *fence);

#endif
