// SPDX-License-Identifier: Apache-2.0
// The CUDA backend's devices and its table of functions. In: the driver's entry points, which cuda_api.c finds. Out: an
// open device is the card's primary context and one stream, in which copies and lists run in order. Programs are made
// by NVRTC (cuda_program.c), and a list is one CUDA graph (cuda_list.c).
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/backend/cuda_device.h"

// ---- errors ---------------------------------------------------------------------------------------------------------

// After one of these errors no further call in the context succeeds.
static bool means_lost(cuda_result code)
{
    static const cuda_result lost[] = {
        CUDA_DEINITIALIZED,
        CUDA_INVALID_CONTEXT,
        CUDA_ECC_UNCORRECTABLE,
        CUDA_NVLINK_UNCORRECTABLE,
        CUDA_ILLEGAL_ADDRESS,
        CUDA_LAUNCH_TIMEOUT,
        CUDA_CONTEXT_IS_DESTROYED,
        CUDA_ASSERT,
        CUDA_MISALIGNED_ADDRESS,
        CUDA_HARDWARE_STACK_ERROR,
        CUDA_ILLEGAL_INSTRUCTION,
        CUDA_INVALID_ADDRESS_SPACE,
        CUDA_INVALID_PC,
        CUDA_LAUNCH_FAILED,
        CUDA_UNKNOWN,
    };
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++)
        if (lost[i] == code) return true;
    return false;
}

static const char *advice(cuda_result code)
{
    if (code == CUDA_OUT_OF_MEMORY) return "; free memory of the device, or use half precision";
    if (code == CUDA_NO_BINARY_FOR_GPU) return "; NVRTC and the driver do not fit together: update the older one";
    return "";
}

bool gpu_cuda_succeeded(struct gpu_device *device, cuda_result code, const char *function, const char *about)
{
    const char *name = NULL, *text = NULL;
    if (code == CUDA_OK) return true;
    if (means_lost(code)) device->base.lost = true;
    if (device->cuda->error_name(code, &name) != CUDA_OK) name = NULL;
    if (device->cuda->error_text(code, &text) != CUDA_OK) text = NULL;
    return gpu_device_fail(&device->base, "%s (%s) failed: %s (%d): %s%s%s", function, about,
                           name ? name : "an error without a name", code, text ? text : "the driver has no text",
                           advice(code), device->base.lost ? GPU_DEVICE_IS_LOST : "");
}

bool gpu_cuda_enter(struct gpu_device *device, const char *action)
{
    return gpu_device_is_alive(&device->base, action) &&
           gpu_cuda_succeeded(device, device->cuda->context_push(device->context), "cuCtxPushCurrent", action);
}

bool gpu_cuda_enter_to_destroy(struct gpu_device *device)
{
    return !device->base.is_abandoned && device->cuda->context_push(device->context) == CUDA_OK;
}

void gpu_cuda_leave(struct gpu_device *device)
{
    struct cuda_context *context;
    device->cuda->context_pop(&context);
}

struct question {
    struct gpu_device *device;
    cuda_result answer;
};

static bool is_busy(void *about)
{
    struct question *question = about;
    question->answer = question->device->cuda->stream_query(question->device->stream);
    return question->answer == CUDA_NOT_READY;
}

bool gpu_cuda_settle(struct gpu_device *device, cuda_result *result)
{
    struct question question = {device, CUDA_OK};
    bool ended = gpu_device_wait(&device->base, is_busy, &question);
    *result = question.answer;
    return ended;
}

bool gpu_cuda_finish(struct gpu_device *device)
{
    cuda_result result;
    device->staged_bytes = 0;
    device->is_busy = device->is_sending = false;
    return gpu_cuda_settle(device, &result) &&
           gpu_cuda_succeeded(device, result, "cuStreamQuery", "waiting for the device");
}

// ---- devices --------------------------------------------------------------------------------------------------------

static int cuda_count(const char **why)
{
    const struct cuda_library *library = gpu_cuda_library();
    if (why) *why = library->why;
    return library->count;
}

static int attribute(const struct cuda_api *cuda, cuda_device_id id, int which)
{
    int value = 0;
    return cuda->device_attribute(&value, which, id) == CUDA_OK ? value : 0;
}

static int capability_of(const struct cuda_api *cuda, cuda_device_id id)
{
    return 10 * attribute(cuda, id, CUDA_CAPABILITY_MAJOR) + attribute(cuda, id, CUDA_CAPABILITY_MINOR);
}

static bool fill_caps(const struct cuda_library *library, cuda_device_id id, struct gpu_caps *caps)
{
    const struct cuda_api *cuda = &library->cuda;
    size_t memory = 0;
    *caps = (struct gpu_caps){.vendor = GPU_VENDOR_NVIDIA, .half_storage = true};
    bool ok = cuda->device_name(caps->name, sizeof caps->name, id) == CUDA_OK;
    ok = cuda->device_memory(&memory, id) == CUDA_OK && ok;
    snprintf(caps->driver, sizeof caps->driver, "CUDA %d.%d, NVRTC %d.%d", library->driver_version / 1000,
             library->driver_version % 1000 / 10, library->nvrtc_major, library->nvrtc_minor);
    caps->half_math = capability_of(cuda, id) >= 53;
    caps->byte_dots = capability_of(cuda, id) >= 61;
    if (capability_of(cuda, id) >= 80)
        caps->matrix_forms = 1u << MATRIX_FLOATS | 1u << MATRIX_SPLIT | 1u << MATRIX_HALVES | 1u << MATRIX_NARROW;
    caps->step_ns = capability_of(cuda, id) >= 90 ? 900 : 1400; // in a graph, with programmatic edges and without
    caps->integrated = attribute(cuda, id, CUDA_INTEGRATED) != 0;
    caps->takes_halves = !caps->integrated && hl_halves_are_fast();
    caps->memory = memory;
    caps->max_buffer = memory;
    caps->max_group_size = attribute(cuda, id, CUDA_MAX_THREADS_PER_BLOCK);
    for (int i = 0; i < 3; i++) {
        caps->max_group[i] = attribute(cuda, id, CUDA_MAX_BLOCK_DIM_X + i);
        caps->max_groups[i] = attribute(cuda, id, CUDA_MAX_GRID_DIM_X + i);
    }
    caps->shared_bytes = attribute(cuda, id, CUDA_MAX_SHARED_PER_BLOCK);
    caps->dynamic_shared_bytes = attribute(cuda, id, CUDA_MAX_SHARED_PER_MULTIPROCESSOR) / 2 -
                                 attribute(cuda, id, CUDA_RESERVED_SHARED_PER_BLOCK) - CUDA_SHARED_BESIDE;
    int most = attribute(cuda, id, CUDA_MAX_SHARED_PER_BLOCK_ASKED) - CUDA_SHARED_BESIDE;
    if (caps->dynamic_shared_bytes > most) caps->dynamic_shared_bytes = most;
    caps->compute_units = attribute(cuda, id, CUDA_MULTIPROCESSORS);
    caps->subgroup_size = attribute(cuda, id, CUDA_WARP_SIZE);
    return ok && memory > 0 && caps->max_group_size > 0;
}

static bool cuda_describe(int index, struct gpu_caps *caps)
{
    const struct cuda_library *library = gpu_cuda_library();
    cuda_device_id id;
    return index >= 0 && index < library->count && library->cuda.device_get(&id, index) == CUDA_OK &&
           fill_caps(library, id, caps);
}

static void cuda_close(struct gpu_device *device)
{
    if (!device) return;
    gpu_device_end(&device->base);
    gpu_cuda_card_close(device);
    if (device->context) {
        if (gpu_cuda_enter_to_destroy(device)) {
            cuda_result ignored;
            bool ended = !device->stream || gpu_cuda_settle(device, &ignored);
            if (ended && device->staging) device->cuda->host_free(device->staging);
            for (int i = 0; i <= CUDA_CHUNKS; i++)
                if (ended && device->arrivals[i]) device->cuda->event_destroy(device->arrivals[i]);
            if (ended && device->sent) device->cuda->event_destroy(device->sent);
            if (ended && device->stream && device->has_own_stream) device->cuda->stream_destroy(device->stream);
            gpu_cuda_leave(device);
        }
        if (device->has_own_context && !device->base.is_abandoned) device->cuda->context_release(device->id);
    }
    free(device);
}

static struct gpu_device *create_device(const struct cuda_library *library, cuda_device_id id,
                                        const struct hl_reporter *reporter)
{
    struct gpu_device *device = calloc(1, sizeof *device);
    if (!device) {
        hl_report(reporter, CUDA_API ": out of memory for a device");
        return NULL;
    }
    *device = (struct gpu_device){.base.api = CUDA_API, .cuda = &library->cuda, .nvrtc = &library->nvrtc, .id = id};
    if (reporter) device->base.reporter = *reporter;
    device->capability = capability_of(device->cuda, id);
    device->overlaps = device->capability >= 90 && device->cuda->graph_add_edges;
    if (fill_caps(library, id, &device->base.caps)) return device;
    hl_report(reporter, "a CUDA device does not say what it is: check its driver with nvidia-smi");
    free(device);
    return NULL;
}

static bool open_stream(struct gpu_device *device)
{
    if (!gpu_cuda_enter(device, "open the device")) return false;
    cuda_result code = device->cuda->stream_create(&device->stream, CUDA_STREAM_NON_BLOCKING);
    gpu_cuda_leave(device);
    if (code != CUDA_OK) device->stream = NULL;
    device->has_own_stream = device->stream != NULL;
    return gpu_cuda_succeeded(device, code, "cuStreamCreate", "opening the device");
}

static struct gpu_device *cuda_open(int index, const struct hl_reporter *reporter)
{
    const struct cuda_library *library = gpu_cuda_library();
    if (!gpu_device_exists(CUDA_API, index, library->count, library->why, reporter)) return NULL;
    cuda_device_id id;
    if (library->cuda.device_get(&id, index) != CUDA_OK) {
        hl_report(reporter, CUDA_API ": cuDeviceGet knows no device %d: check the driver with nvidia-smi", index);
        return NULL;
    }
    struct gpu_device *device = create_device(library, id, reporter);
    if (!device) return NULL;
    cuda_result code = device->cuda->context_retain(&device->context, id);
    if (code != CUDA_OK) device->context = NULL;
    device->has_own_context = device->context != NULL;
    if (gpu_cuda_succeeded(device, code, "cuDevicePrimaryCtxRetain", "opening the device") && open_stream(device))
        return device;
    cuda_close(device);
    return NULL;
}

static struct gpu_device *cuda_open_shared(const HaliteGpuContext *context, const struct hl_reporter *reporter)
{
    const struct cuda_library *library = gpu_cuda_library();
    if (!gpu_device_exists(CUDA_API, 0, library->count, library->why, reporter)) return NULL;
    const struct cuda_api *cuda = &library->cuda;
    struct cuda_context *popped;
    cuda_device_id id;
    cuda_result code = cuda->context_push(context->cu_context);
    if (code == CUDA_OK) {
        code = cuda->context_device(&id);
        cuda->context_pop(&popped);
    }
    if (code != CUDA_OK) {
        hl_report(reporter, CUDA_API ": cu_context is no CUcontext of this process (error %d)", code);
        return NULL;
    }
    struct gpu_device *device = create_device(library, id, reporter);
    if (!device) return NULL;
    device->context = context->cu_context;
    device->stream = context->cu_stream;
    if (device->stream || open_stream(device)) return device;
    cuda_close(device);
    return NULL;
}

const struct gpu_backend gpu_backend_cuda = {
    .name = "cuda",
    .language = GPU_CUDA,
    .count = cuda_count,
    .describe = cuda_describe,
    .open = cuda_open,
    .open_shared = cuda_open_shared,
    .close = cuda_close,
    .caps = gpu_device_caps,
    .set_wait_limit = gpu_device_set_wait_limit,
    .buffer_create = gpu_cuda_buffer_create,
    .buffer_create_for_host = gpu_cuda_buffer_create_for_host,
    .buffer_import = gpu_cuda_buffer_import,
    .memory_import = gpu_cuda_memory_import,
    .buffer_destroy = gpu_cuda_buffer_destroy,
    .lend = gpu_cuda_lend,
    .take_back = gpu_cuda_take_back,
    .buffer_write = gpu_cuda_buffer_write,
    .buffer_send = gpu_cuda_buffer_send,
    .buffer_write_halves = gpu_cuda_buffer_write_halves,
    .buffer_read = gpu_cuda_buffer_read,
    .programs_create = gpu_cuda_programs_create,
    .program_destroy = gpu_cuda_program_destroy,
    .cache_load = gpu_device_load_programs,
    .cache_save = gpu_device_save_programs,
    .list_create = gpu_cuda_list_create,
    .list_dispatch = gpu_cuda_list_dispatch,
    .list_barrier = gpu_cuda_list_barrier,
    .list_finish = gpu_cuda_list_finish,
    .list_run = gpu_cuda_list_run,
    .list_wait = gpu_cuda_list_wait,
    .list_profile = gpu_cuda_list_profile,
    .list_destroy = gpu_cuda_list_destroy,
};
