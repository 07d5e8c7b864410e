// SPDX-License-Identifier: Apache-2.0
// What the files of the Metal backend share: a device with its queue (metal_queue.c: command buffers, the four ways to
// wait, errors), its lists (metal_list.c), and a thread that keeps the GPU awake (metal_awake.c). metal.c adds devices,
// buffers, programs and the table of functions. Every function that sends messages pushes a pool of its own, or says
// that its caller has one.
#ifndef HALITE_GPU_BACKEND_METAL_DEVICE_H
#define HALITE_GPU_BACKEND_METAL_DEVICE_H

#include "gpu/backend/device_base.h"
#include "gpu/backend/metal_api.h"

#define METAL_API "Metal"
// Command buffers that are committed and not yet known to be done. A queue of Metal has 64.
enum { METAL_MAX_PENDING = 32 };

struct metal_awake;

struct gpu_device {
    struct gpu_device_base base;
    const struct metal_api *mtl;
    void *device, *queue; // retained
    bool is_unified;      // shared memory is the device's own
    enum gpu_wait wait;
    void *pending[METAL_MAX_PENDING]; // retained, the oldest first
    int pending_count;
    struct metal_awake *awake; // NULL unless wait is GPU_WAIT_AWAKE
};

struct gpu_buffer {
    void *object; // retained
    size_t bytes;
    unsigned char *contents; // NULL if only the device can access the memory
};

struct gpu_program {
    void *pipeline;
    const char *name; // of the kernel
    int group[3];
};

// ---- metal_queue.c

// The messages of an NSError, which may be nil: "WHAT failed: DESCRIPTION". Always false.
bool gpu_metal_fail(struct gpu_device *device, const char *what, void *error);
// A new command buffer, which belongs to the caller's pool. NULL after a message.
void *gpu_metal_begin(struct gpu_device *device);
// An encoder of the command buffer, which belongs to the caller's pool. NULL after a message.
void *gpu_metal_encoder(struct gpu_device *device, void *commands);
// Hands the command buffer to the device. It counts as pending until a wait.
bool gpu_metal_commit(struct gpu_device *device, void *commands);
// Waits for everything that is pending. False after a message about the first command buffer that failed.
bool gpu_metal_finish(struct gpu_device *device);
// Whether nothing that was committed still runs.
bool gpu_metal_is_idle(struct gpu_device *device);
// Releases what is pending without a look at it.
void gpu_metal_forget(struct gpu_device *device);
// Copies bytes from one buffer to another by the device, after all that was committed before.
bool gpu_metal_copy(struct gpu_device *device, void *from, size_t from_offset, void *to, size_t to_offset,
                    size_t bytes);

// ---- metal_list.c: for the table of functions

struct gpu_list *gpu_metal_list_create(struct gpu_device *device);
bool gpu_metal_list_dispatch(struct gpu_list *list, const struct gpu_dispatch *dispatch);
bool gpu_metal_list_barrier(struct gpu_list *list);
bool gpu_metal_list_finish(struct gpu_list *list);
bool gpu_metal_list_run(struct gpu_list *list);
bool gpu_metal_list_encode(struct gpu_list *list, void *commands);
bool gpu_metal_list_wait(struct gpu_list *list);
bool gpu_metal_list_profile(struct gpu_list *list, uint64_t *nanoseconds, int count);
void gpu_metal_list_destroy(struct gpu_list *list);

// ---- metal_awake.c

// Starts a thread that gives the device a kernel of nothing again and again, so that it does not slow its clock. NULL
// after a message.
struct metal_awake *gpu_metal_awake_start(struct gpu_device *device);
void gpu_metal_awake_stop(struct metal_awake *awake); // accepts NULL

#endif
