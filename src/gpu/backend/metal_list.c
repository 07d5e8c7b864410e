// SPDX-License-Identifier: Apache-2.0
// Lists of the Metal backend. In: dispatches and barriers, recorded as data. Out: for each run a command buffer, since
// Metal's can be committed only once, with one encoder in which dispatches overlap unless a barrier stands between
// them. What the encoder costs (a few messages for each dispatch) is the price of a run.
//
// Where the delegate waits by spinning, a run is split: the device begins with the first kernels while the processor
// still encodes the others.
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "gpu/backend/metal_device.h"

enum { KERNELS_BEFORE_COMMIT = 8 };

struct record {
    const struct gpu_program *program;
    int buffer_count;
    const struct gpu_buffer *buffers[GPU_MAX_BUFFERS];
    size_t offsets[GPU_MAX_BUFFERS];
    int32_t params[GPU_MAX_PARAMS][4];
    int param_count;
    struct metal_size groups;
    bool barrier; // between the record before and this one
};

struct gpu_list {
    struct gpu_device *device;
    struct record *records;
    int record_count, record_capacity;
    bool barrier; // before the next record
};

// ---- recording ------------------------------------------------------------------------------------------------------

struct gpu_list *gpu_metal_list_create(struct gpu_device *device)
{
    if (!gpu_device_is_alive(&device->base, "create a command list")) return NULL;
    struct gpu_list *list = calloc(1, sizeof *list);
    if (!list) return gpu_device_no_memory(&device->base, "a command list");
    list->device = device;
    return list;
}

void gpu_metal_list_destroy(struct gpu_list *list)
{
    if (!list) return;
    free(list->records); // what still runs has been retained by its command buffer
    free(list);
}

bool gpu_metal_list_dispatch(struct gpu_list *list, const struct gpu_dispatch *dispatch)
{
    const struct gpu_device_base *base = &list->device->base;
    if (!gpu_device_is_alive(base, "record a kernel")) return false;
    struct record record = {.program = dispatch->program,
                            .buffer_count = dispatch->buffer_count,
                            .param_count = dispatch->param_count,
                            .barrier = list->barrier};
    for (int i = 0; i < 3; i++)
        if (dispatch->groups[i] < 1)
            return gpu_device_fail(base, "kernel %s with %d work-groups on axis %d", dispatch->program->name,
                                   dispatch->groups[i], i);
    for (int i = 0; i < dispatch->buffer_count; i++) {
        record.buffers[i] = dispatch->buffers[i];
        record.offsets[i] = dispatch->offsets[i];
        if (!gpu_device_has_range(base, dispatch->buffers[i]->bytes, dispatch->offsets[i], dispatch->sizes[i],
                                  "a kernel uses"))
            return false;
    }
    record.groups = (struct metal_size){(unsigned long)dispatch->groups[0], (unsigned long)dispatch->groups[1],
                                        (unsigned long)dispatch->groups[2]};
    memcpy(record.params, dispatch->params, sizeof record.params);
    struct record *records = hl_grow(list->records, list->record_count, &list->record_capacity, sizeof *records);
    if (!records) return gpu_device_no_memory(base, "a command list");
    list->records = records;
    records[list->record_count++] = record;
    list->barrier = false;
    return true;
}

bool gpu_metal_list_barrier(struct gpu_list *list)
{
    list->barrier = list->record_count > 0;
    return gpu_device_is_alive(&list->device->base, "record a barrier");
}

bool gpu_metal_list_finish(struct gpu_list *list)
{
    return gpu_device_is_alive(&list->device->base, "end a command list");
}

// ---- encoding -------------------------------------------------------------------------------------------------------

static void encode_record(const struct metal_api *mtl, void *encoder, const struct record *record)
{
    METAL_TELL(mtl, void, encoder, set_pipeline, (void *), record->program->pipeline);
    for (int i = 0; i < record->buffer_count; i++)
        METAL_TELL(mtl, void, encoder, set_buffer, (void *, unsigned long, unsigned long), record->buffers[i]->object,
                   (unsigned long)record->offsets[i], (unsigned long)i);
    if (record->param_count > 0)
        METAL_TELL(mtl, void, encoder, set_bytes, (const void *, unsigned long, unsigned long), record->params,
                   (unsigned long)record->param_count * sizeof record->params[0], (unsigned long)record->buffer_count);
    const int *group = record->program->group;
    struct metal_size size = {(unsigned long)group[0], (unsigned long)group[1], (unsigned long)group[2]};
    METAL_TELL(mtl, void, encoder, dispatch, (struct metal_size, struct metal_size), record->groups, size);
}

// Encodes records of [first, end) into the command buffer. False after a message.
static bool encode(const struct gpu_list *list, void *commands, int first, int end)
{
    const struct metal_api *mtl = list->device->mtl;
    void *encoder = gpu_metal_encoder(list->device, commands);
    if (!encoder) return false;
    for (int i = first; i < end; i++) {
        // Before the first of an encoder there is nothing to wait for: Metal orders encoders by what they write.
        if (list->records[i].barrier && i > first)
            METAL_TELL(mtl, void, encoder, barrier, (unsigned long), METAL_BARRIER_BUFFERS);
        encode_record(mtl, encoder, &list->records[i]);
    }
    METAL_TELL0(mtl, void, encoder, end);
    return true;
}

static bool run_range(struct gpu_list *list, int first, int end)
{
    void *commands = gpu_metal_begin(list->device);
    return commands && encode(list, commands, first, end) && gpu_metal_commit(list->device, commands);
}

bool gpu_metal_list_run(struct gpu_list *list)
{
    struct gpu_device *device = list->device;
    if (!gpu_device_is_alive(&device->base, "run")) return false;
    bool splits = device->wait == GPU_WAIT_SPIN || device->wait == GPU_WAIT_AWAKE, ok = true;
    int step = splits ? KERNELS_BEFORE_COMMIT : list->record_count;
    void *pool = device->mtl->objc.push();
    for (int first = 0; first < list->record_count && ok; first += step)
        ok = run_range(list, first, first + step < list->record_count ? first + step : list->record_count);
    device->mtl->objc.pop(pool);
    return ok;
}

bool gpu_metal_list_encode(struct gpu_list *list, void *commands)
{
    struct gpu_device *device = list->device;
    const struct metal_api *mtl = device->mtl;
    if (!gpu_device_is_alive(&device->base, "encode a run")) return false;
    void *pool = mtl->objc.push();
    bool ok = METAL_TELL0(mtl, void *, commands, device) == device->device;
    if (!ok)
        gpu_device_fail(&device->base, "the application's command buffer is one of another device");
    else if (METAL_TELL0(mtl, unsigned long, commands, status) > METAL_STATUS_ENQUEUED)
        ok = gpu_device_fail(&device->base, "the application has committed its command buffer already");
    else if (list->record_count > 0)
        ok = encode(list, commands, 0, list->record_count);
    mtl->objc.pop(pool);
    return ok;
}

// ---- waiting and measuring ------------------------------------------------------------------------------------------

bool gpu_metal_list_wait(struct gpu_list *list)
{
    struct gpu_device *device = list->device;
    if (!gpu_device_is_alive(&device->base, "wait for a run")) return false;
    void *pool = device->mtl->objc.push();
    bool ok = gpu_metal_finish(device);
    device->mtl->objc.pop(pool);
    return ok;
}

// Runs one record alone, in a command buffer of its own, whose times Metal keeps.
static bool measure(struct gpu_list *list, int index, uint64_t *nanoseconds)
{
    struct gpu_device *device = list->device;
    const struct metal_api *mtl = device->mtl;
    void *commands = gpu_metal_begin(device);
    if (!commands) return false;
    if (!gpu_metal_answers(mtl, commands, mtl->gpu_start))
        return gpu_device_fail(&device->base, "this system has no clock for kernels: do not profile on it");
    if (!encode(list, commands, index, index + 1) || !gpu_metal_commit(device, commands) || !gpu_metal_finish(device))
        return false;
    double seconds = METAL_TELL0(mtl, double, commands, gpu_end) - METAL_TELL0(mtl, double, commands, gpu_start);
    *nanoseconds = seconds > 0 ? (uint64_t)(seconds * 1e9) : 0;
    return true;
}

bool gpu_metal_list_profile(struct gpu_list *list, uint64_t *nanoseconds, int count)
{
    struct gpu_device *device = list->device;
    if (!gpu_device_is_alive(&device->base, "profile")) return false;
    if (count != list->record_count)
        return gpu_device_fail(&device->base, "a profile of %d dispatches, but the list has %d", count,
                               list->record_count);
    void *pool = device->mtl->objc.push();
    bool ok = gpu_metal_finish(device);
    for (int i = 0; i < count && ok; i++) ok = measure(list, i, &nanoseconds[i]);
    device->mtl->objc.pop(pool);
    return ok;
}
