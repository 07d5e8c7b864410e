// SPDX-License-Identifier: Apache-2.0
// Fences of EGL: points in the commands of a context, which another context or any thread can wait for. In: the
// application's, and its context where a thread has it. Out: commands of the device that wait for those, and fences for
// others to wait for.
#include <stdlib.h>

#include "gpu/backend/gles_device.h"

// ---- fences of any context -----------------------------------------------------------------------------------------

void *gpu_gles_sync_create(const struct gles_found *found)
{
    void *sync = found->gl->eglCreateSyncKHR(found->display, EGL_SYNC_FENCE, NULL);
    if (sync) found->gl->glFlush(); // whoever waits for it elsewhere cannot
    return sync;
}

bool gpu_gles_sync_await(const struct gles_found *found, void *sync)
{
    return found->gl->eglWaitSyncKHR(found->display, sync, 0) != 0;
}

void gpu_gles_sync_destroy(const struct gles_found *found, void *sync)
{
    if (sync) found->gl->eglDestroySyncKHR(found->display, sync);
}

// ---- the application's context -------------------------------------------------------------------------------------

// *sync: a fence of what the application's context was given, NULL: there is nothing to wait for, or no longer. False
// after a message.
static bool end_application(struct gpu_device *device, void **sync)
{
    *sync = NULL;
    if (!device->shared.share || device->gl->eglGetCurrentContext() != device->shared.share) return true;
    device->gl->glMemoryBarrier(GL_ALL_BARRIER_BITS);
    *sync = device->found->fences ? gpu_gles_sync_create(device->found) : NULL;
    return *sync || gpu_gles_finish(device, "the application's commands");
}

bool gpu_gles_enter_after(struct gpu_device *device, const char *action)
{
    void *sync;
    if (!gpu_device_is_alive(&device->base, action) || !end_application(device, &sync)) return false;
    bool entered = gpu_gles_enter(device, action);
    bool ok = entered && (!sync || gpu_gles_sync_await(device->found, sync) ||
                          gpu_gles_egl_failed(device, "eglWaitSync", "the application's commands"));
    gpu_gles_sync_destroy(device->found, sync);
    return entered && !ok ? gpu_gles_leave(device, false) : ok;
}

// ---- functions of gpu_backend --------------------------------------------------------------------------------------

struct gpu_fence {
    struct gles_found found; // the display, and its functions
    void *sync;
    uint64_t limit; // of a wait, in nanoseconds
};

const char *gpu_gles_fence_type(const struct gpu_device *device)
{
    return device->shared.share && device->found->fences ? HALITE_FENCE_EGL : NULL;
}

bool gpu_gles_fence_await(struct gpu_device *device, const HaliteGpuFence *fence)
{
    if (!gpu_gles_enter(device, "wait for a fence")) return false;
    bool ok = gpu_gles_sync_await(device->found, (void *)(uintptr_t)fence->handle) ||
              gpu_gles_egl_failed(device, "eglWaitSync", "an input's EGLSync");
    return gpu_gles_leave(device, ok);
}

// NULL after a message.
static void *make_sync(struct gpu_device *device)
{
    if (!gpu_gles_enter(device, "make a fence")) return NULL;
    void *sync = gpu_gles_sync_create(device->found);
    if (!sync) gpu_gles_egl_failed(device, "eglCreateSync", "a fence");
    gpu_gles_leave(device, true);
    return sync;
}

bool gpu_gles_fence_signal(struct gpu_device *device, HaliteGpuFence *fence)
{
    void *sync = make_sync(device);
    if (sync) fence->handle = (uint64_t)(uintptr_t)sync;
    return sync != NULL;
}

struct gpu_fence *gpu_gles_fence_create(struct gpu_device *device)
{
    struct gpu_fence *fence = calloc(1, sizeof *fence);
    if (!fence) return gpu_device_no_memory(&device->base, "a fence");
    *fence = (struct gpu_fence){*device->found, make_sync(device), gpu_device_wait_limit(&device->base)};
    if (fence->sync) return fence;
    free(fence);
    return NULL;
}

bool gpu_gles_fence_wait(struct gpu_fence *fence)
{
    const struct gles_found *found = &fence->found;
    return found->gl->eglClientWaitSyncKHR(found->display, fence->sync, 0, fence->limit) == EGL_CONDITION_SATISFIED;
}

void gpu_gles_fence_destroy(struct gpu_fence *fence)
{
    if (fence) gpu_gles_sync_destroy(&fence->found, fence->sync);
    free(fence);
}
