// SPDX-License-Identifier: Apache-2.0
// Keeps a GPU from slowing its clock between runs (GPU_WAIT_AWAKE). In: a device. Out: a thread with a queue of its
// own, which starts a kernel of one work-item again and again and waits each time until it is scheduled. It costs power
// for as long as the device is open.
#include <stdlib.h>

#include "base/thread.h"
#include "gpu/backend/metal_device.h"

// Long enough to leave the GPU to others, and shorter than a GPU takes to slow down.
#define SECONDS_BETWEEN 0.0005

struct metal_awake {
    const struct metal_api *mtl;
    void *queue, *pipeline, *buffer; // retained
    struct hl_thread thread;
    struct hl_mutex mutex;
    struct hl_condition ended;
    bool ends;
};

static const char text[] = "kernel void awake(device int *x [[buffer(0)]]) { x[0] = 0; }\n";

static void free_awake(struct metal_awake *awake)
{
    void *const objects[] = {awake->queue, awake->pipeline, awake->buffer};
    for (int i = 0; i < 3; i++)
        if (objects[i]) METAL_TELL0(awake->mtl, void, objects[i], release);
    free(awake);
}

// Whether the device has taken a kernel. It is left alone once it does not.
static bool start_kernel(const struct metal_awake *awake)
{
    static const struct metal_size one = {1, 1, 1};
    const struct metal_api *mtl = awake->mtl;
    void *commands = METAL_TELL0(mtl, void *, awake->queue, commands);
    void *encoder = commands
                        ? METAL_TELL(mtl, void *, commands, encoder_of_type, (unsigned long), METAL_DISPATCH_CONCURRENT)
                        : NULL;
    if (!encoder) return false;
    METAL_TELL(mtl, void, encoder, set_pipeline, (void *), awake->pipeline);
    METAL_TELL(mtl, void, encoder, set_buffer, (void *, unsigned long, unsigned long), awake->buffer, 0ul, 0ul);
    METAL_TELL(mtl, void, encoder, dispatch, (struct metal_size, struct metal_size), one, one);
    METAL_TELL0(mtl, void, encoder, end);
    METAL_TELL0(mtl, void, commands, commit);
    METAL_TELL0(mtl, void, commands, wait_scheduled);
    return METAL_TELL0(mtl, unsigned long, commands, status) != METAL_STATUS_ERROR;
}

static void stay_awake(void *arg)
{
    struct metal_awake *awake = arg;
    hl_mutex_lock(&awake->mutex);
    for (bool ok = true; ok && !awake->ends;) {
        hl_mutex_unlock(&awake->mutex);
        void *pool = awake->mtl->objc.push();
        ok = start_kernel(awake);
        awake->mtl->objc.pop(pool);
        hl_mutex_lock(&awake->mutex);
        if (!awake->ends) hl_condition_wait_for(&awake->ended, &awake->mutex, SECONDS_BETWEEN);
    }
    hl_mutex_unlock(&awake->mutex);
}

static bool make_objects(struct metal_awake *awake, struct gpu_device *device)
{
    const struct metal_api *mtl = awake->mtl;
    void *error = NULL,
         *source = METAL_TELL(mtl, void *, mtl->objc.get_class("NSString"), new_string, (const char *), text);
    void *name = METAL_TELL(mtl, void *, mtl->objc.get_class("NSString"), new_string, (const char *), "awake");
    void *library =
        METAL_TELL(mtl, void *, device->device, new_library, (void *, void *, void **), source, NULL, &error);
    void *function = library ? METAL_TELL(mtl, void *, library, new_function, (void *), name) : NULL;
    if (function)
        awake->pipeline = METAL_TELL(mtl, void *, device->device, new_pipeline, (void *, void **), function, &error);
    if (function) METAL_TELL0(mtl, void, function, release);
    if (library) METAL_TELL0(mtl, void, library, release);
    if (!awake->pipeline) return gpu_metal_fail(device, "the kernel that keeps the device awake", error);
    awake->queue = METAL_TELL0(mtl, void *, device->device, new_queue);
    awake->buffer =
        METAL_TELL(mtl, void *, device->device, new_buffer, (unsigned long, unsigned long), 4ul, METAL_STORAGE_SHARED);
    return (awake->queue && awake->buffer) || gpu_metal_fail(device, "newCommandQueue or a buffer", NULL);
}

static bool start_thread(struct metal_awake *awake)
{
    if (!hl_mutex_init(&awake->mutex)) return false;
    if (hl_condition_init(&awake->ended)) {
        if (hl_thread_start(&awake->thread, stay_awake, awake)) return true;
        hl_condition_destroy(&awake->ended);
    }
    hl_mutex_destroy(&awake->mutex);
    return false;
}

struct metal_awake *gpu_metal_awake_start(struct gpu_device *device)
{
    struct metal_awake *awake = calloc(1, sizeof *awake);
    if (!awake) return gpu_device_no_memory(&device->base, "a thread");
    awake->mtl = device->mtl;
    void *pool = device->mtl->objc.push();
    bool ok = make_objects(awake, device);
    if (ok && !start_thread(awake)) ok = gpu_device_fail(&device->base, "the system gives no thread");
    if (!ok) free_awake(awake);
    device->mtl->objc.pop(pool);
    return ok ? awake : NULL;
}

void gpu_metal_awake_stop(struct metal_awake *awake)
{
    if (!awake) return;
    hl_mutex_lock(&awake->mutex);
    awake->ends = true;
    hl_condition_signal(&awake->ended);
    hl_mutex_unlock(&awake->mutex);
    hl_thread_join(&awake->thread);
    hl_condition_destroy(&awake->ended);
    hl_mutex_destroy(&awake->mutex);
    free_awake(awake);
}
