// SPDX-License-Identifier: Apache-2.0
// The queue of a Metal device. In: command buffers with everything encoded. Out: committed ones, which are kept until
// a wait has seen how they ended, because Metal reports failures of the GPU nowhere else.
//
// How a wait waits (enum gpu_wait): SLEEP and NONE block in waitUntilCompleted (NONE concerns only those who call it);
// SPIN and AWAKE ask for the status again and again, which costs a processor and saves the time that it takes to wake a
// thread. Metal itself ends runs that take too long, with an error; only the waits that ask have a limit of their own.
#include "gpu/backend/metal_device.h"

#include <string.h>

#include "gpu/backend/wait.h"

// ---- errors ---------------------------------------------------------------------------------------------------------

bool gpu_metal_fail(struct gpu_device *device, const char *what, void *error)
{
    const struct metal_api *mtl = device->mtl;
    void *description = error ? METAL_TELL0(mtl, void *, error, description) : NULL;
    long code = error ? METAL_TELL0(mtl, long, error, code) : 0;
    const char *text = gpu_metal_text(mtl, description);
    return gpu_device_fail(&device->base, "%s failed: %s (%ld)%s", what, *text ? text : "the system does not say why",
                           code, device->base.lost ? GPU_DEVICE_IS_LOST : "");
}

// Whether a command buffer that is done has succeeded. False after a message.
static bool has_succeeded(struct gpu_device *device, void *commands)
{
    const struct metal_api *mtl = device->mtl;
    if (METAL_TELL0(mtl, unsigned long, commands, status) != METAL_STATUS_ERROR) return true;
    void *error = METAL_TELL0(mtl, void *, commands, error);
    long code = error ? METAL_TELL0(mtl, long, error, code) : 0;
    if (code == METAL_ERROR_ACCESS_REVOKED || code == METAL_ERROR_DEVICE_REMOVED) device->base.lost = true;
    const char *what = "a run";
    if (code == METAL_ERROR_OUT_OF_MEMORY)
        what = "a run (the device is short of memory: free some, or use half precision)";
    if (code == METAL_ERROR_TIMEOUT) what = "a run (the system has ended it, because it took too long)";
    return gpu_metal_fail(device, what, error);
}

// ---- command buffers ------------------------------------------------------------------------------------------------

void *gpu_metal_begin(struct gpu_device *device)
{
    void *commands = METAL_TELL0(device->mtl, void *, device->queue, commands);
    if (!commands) gpu_metal_fail(device, "commandBuffer", NULL);
    return commands;
}

void *gpu_metal_encoder(struct gpu_device *device, void *commands)
{
    void *encoder =
        METAL_TELL(device->mtl, void *, commands, encoder_of_type, (unsigned long), METAL_DISPATCH_CONCURRENT);
    if (!encoder) gpu_metal_fail(device, "computeCommandEncoderWithDispatchType:", NULL);
    return encoder;
}

static bool is_done(const struct gpu_device *device, void *commands)
{
    return METAL_TELL0(device->mtl, unsigned long, commands, status) >= METAL_STATUS_COMPLETED;
}

// Takes the oldest from the list. False after a message if it has failed. It has to be done.
static bool take_oldest(struct gpu_device *device)
{
    void *oldest = device->pending[0];
    memmove(device->pending, device->pending + 1, (size_t)--device->pending_count * sizeof *device->pending);
    bool ok = has_succeeded(device, oldest);
    METAL_TELL0(device->mtl, void, oldest, release);
    return ok;
}

struct question {
    struct gpu_device *device;
    void *commands;
};

static bool is_busy(void *about)
{
    const struct question *question = about;
    return !is_done(question->device, question->commands);
}

// A queue runs its command buffers in order, so that waiting for the last is waiting for all.
static bool wait_for(struct gpu_device *device, int count)
{
    void *last = count > 0 ? device->pending[count - 1] : NULL;
    bool spins = device->wait == GPU_WAIT_SPIN || device->wait == GPU_WAIT_AWAKE, ok = true;
    uint64_t limit = gpu_device_wait_limit(&device->base);
    struct question question = {device, last};
    struct gpu_wait_desc desc = {is_busy, &question, limit, limit};
    if (last && !spins) METAL_TELL0(device->mtl, void, last, wait);
    if (last && spins && !gpu_wait_until_done(&desc)) return gpu_device_abandon(&device->base);
    while (count-- > 0) ok = take_oldest(device) && ok;
    return ok;
}

bool gpu_metal_commit(struct gpu_device *device, void *commands)
{
    bool ok = device->pending_count < METAL_MAX_PENDING || wait_for(device, METAL_MAX_PENDING / 2);
    if (device->base.is_abandoned) return false;
    METAL_TELL0(device->mtl, void, commands, commit);
    device->pending[device->pending_count++] = METAL_TELL0(device->mtl, void *, commands, retain);
    return ok;
}

bool gpu_metal_finish(struct gpu_device *device)
{
    return wait_for(device, device->pending_count);
}

bool gpu_metal_is_idle(struct gpu_device *device)
{
    return device->pending_count == 0 || is_done(device, device->pending[device->pending_count - 1]);
}

void gpu_metal_forget(struct gpu_device *device)
{
    for (int i = 0; i < device->pending_count; i++) METAL_TELL0(device->mtl, void, device->pending[i], release);
    device->pending_count = 0;
}

bool gpu_metal_copy(struct gpu_device *device, void *from, size_t from_offset, void *to, size_t to_offset, size_t bytes)
{
    const struct metal_api *mtl = device->mtl;
    void *commands = gpu_metal_begin(device);
    void *copier = commands ? METAL_TELL0(mtl, void *, commands, copier) : NULL;
    if (!commands) return false;
    if (!copier) return gpu_metal_fail(device, "blitCommandEncoder", NULL);
    METAL_TELL(mtl, void, copier, copy, (void *, unsigned long, void *, unsigned long, unsigned long), from,
               (unsigned long)from_offset, to, (unsigned long)to_offset, (unsigned long)bytes);
    METAL_TELL0(mtl, void, copier, end);
    return gpu_metal_commit(device, commands);
}
