// SPDX-License-Identifier: Apache-2.0
// The Metal backend. In: kernels as data, buffers, recorded dispatches. Out: messages to Metal's objects by way of the
// Objective-C runtime, so that no file of this house is Objective-C and every system can compile it. A program is the
// text from gpu_emit, compiled here with precise arithmetic: fast math would let the compiler reorder sums and round
// divisions and functions more coarsely than the tolerances allow. Contraction to fused multiply-adds stays allowed.
//
// Buffers lie in shared memory where the device has no memory of its own: the processor copies to them directly while
// no run is in flight, else the device copies, in order. Metal itself keeps compiled kernels for an application from
// one process to the next, so that this backend has no program cache.
//
// Everything here has run before a stand-in for Metal (tests/fakes/metal), and nothing of it on Apple's hardware.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/backend/metal_device.h"
#include "gpu/backend/name_list.h"

enum { LOG_BYTES = 6000 };

// ---- devices --------------------------------------------------------------------------------------------------------

static int metal_count(const char **why)
{
    const struct metal_library *library = gpu_metal_library();
    if (why) *why = library->why;
    return library->count;
}

// A number from a method that older systems may lack; 0 there.
static uint64_t number_of(const struct metal_api *mtl, void *device, void *selector)
{
    return gpu_metal_answers(mtl, device, selector) ? HL_OBJC_SEND0(&mtl->objc, uint64_t, device, selector) : 0;
}

// The newest family of Apple's own GPUs that the device belongs to; 0 for others, and on systems that do not tell.
static int find_family(const struct metal_api *mtl, void *device)
{
    int family = 0;
    if (!gpu_metal_answers(mtl, device, mtl->family)) return 0;
    for (long next = METAL_FAMILY_APPLE1; next < METAL_FAMILY_APPLE1 + 20; next++)
        if (METAL_TELL(mtl, signed char, device, family, (long), next)) family = (int)(next - METAL_FAMILY_APPLE1) + 1;
    return family;
}

static void describe_driver(const struct metal_api *mtl, int family, struct gpu_caps *caps)
{
    void *process = METAL_TELL0(mtl, void *, mtl->objc.get_class("NSProcessInfo"), process);
    const char *system = gpu_metal_text(mtl, METAL_TELL0(mtl, void *, process, system));
    if (family > 0)
        snprintf(caps->driver, sizeof caps->driver, "Metal (Apple%d), system %.26s", family, system);
    else
        snprintf(caps->driver, sizeof caps->driver, "Metal, system %.32s", system);
}

static void fill_caps(const struct metal_api *mtl, void *device, struct gpu_caps *caps)
{
    void *pool = mtl->objc.push();
    *caps = (struct gpu_caps){.half_storage = true, .half_math = true}; // MSL has both on every device
    snprintf(caps->name, sizeof caps->name, "%s", gpu_metal_text(mtl, METAL_TELL0(mtl, void *, device, name)));
    int family = find_family(mtl, device);
    describe_driver(mtl, family, caps);
    caps->vendor = gpu_vendor_of_text(caps->name);
    caps->integrated = gpu_metal_answers(mtl, device, mtl->unified)
                           ? METAL_TELL0(mtl, signed char, device, unified) != 0
                           : caps->vendor == GPU_VENDOR_APPLE;
    caps->memory = number_of(mtl, device, mtl->working_set);
    uint64_t most = number_of(mtl, device, mtl->max_buffer), shared = number_of(mtl, device, mtl->max_shared);
    caps->max_buffer = most > SIZE_MAX / 2 ? SIZE_MAX / 2 : (size_t)most;
    caps->shared_bytes = shared > INT_MAX ? INT_MAX : (int)shared;
    struct metal_size group = HL_OBJC_SEND0_STRUCT(&mtl->objc, struct metal_size, device, mtl->max_group);
    caps->max_group_size = caps->max_group[0] = (int)group.width;
    caps->max_group[1] = (int)group.height;
    caps->max_group[2] = (int)group.depth;
    for (int i = 0; i < 3; i++) caps->max_groups[i] = INT_MAX;
    caps->subgroup_size = family > 0 ? 32 : 0; // others tell it of each pipeline only
    mtl->objc.pop(pool);
}

static bool metal_describe(int index, struct gpu_caps *caps)
{
    const struct metal_library *library = gpu_metal_library();
    if (index < 0 || index >= library->count) return false;
    fill_caps(&library->api, library->devices[index], caps);
    return caps->max_buffer > 0 && caps->max_group_size > 0;
}

static void metal_close(struct gpu_device *device)
{
    if (!device) return;
    void *pool = device->mtl->objc.push();
    gpu_metal_awake_stop(device->awake);
    gpu_metal_forget(device);
    if (device->queue) METAL_TELL0(device->mtl, void, device->queue, release);
    if (device->device) METAL_TELL0(device->mtl, void, device->device, release);
    device->mtl->objc.pop(pool);
    gpu_device_end(&device->base);
    free(device);
}

// queue: the application's, or NULL for a new one.
static struct gpu_device *open_device(void *object, void *queue, const struct hl_reporter *reporter)
{
    const struct metal_api *mtl = &gpu_metal_library()->api;
    struct gpu_device *device = calloc(1, sizeof *device);
    if (!device) {
        hl_report(reporter, METAL_API ": out of memory for a device");
        return NULL;
    }
    *device = (struct gpu_device){.base.api = METAL_API, .mtl = mtl};
    if (reporter) device->base.reporter = *reporter;
    fill_caps(mtl, object, &device->base.caps);
    device->is_unified = device->base.caps.integrated;
    device->device = METAL_TELL0(mtl, void *, object, retain);
    device->queue = queue ? METAL_TELL0(mtl, void *, queue, retain) : METAL_TELL0(mtl, void *, object, new_queue);
    if (device->queue) return device;
    gpu_metal_fail(device, "newCommandQueue", NULL);
    metal_close(device);
    return NULL;
}

static struct gpu_device *metal_open(int index, const struct hl_reporter *reporter)
{
    const struct metal_library *library = gpu_metal_library();
    int count = library->count > 0 ? library->count : 0;
    if (!gpu_device_exists(METAL_API, index, count, library->why, reporter)) return NULL;
    return open_device(library->devices[index], NULL, reporter);
}

static struct gpu_device *metal_open_shared(const HaliteGpuContext *context, const struct hl_reporter *reporter)
{
    const struct metal_library *library = gpu_metal_library();
    const struct metal_api *mtl = &library->api;
    if (library->count <= 0) {
        hl_report(reporter, METAL_API ": %s", library->why);
        return NULL;
    }
    void *queue = context->mtl_command_queue;
    if (queue && METAL_TELL0(mtl, void *, queue, device) != context->mtl_device) {
        hl_report(reporter, METAL_API ": mtl_command_queue is of another device than mtl_device");
        return NULL;
    }
    return open_device(context->mtl_device, queue, reporter);
}

static bool metal_set_wait(struct gpu_device *device, enum gpu_wait wait)
{
    device->wait = wait;
    if (wait == GPU_WAIT_AWAKE && !device->awake) device->awake = gpu_metal_awake_start(device);
    return wait != GPU_WAIT_AWAKE || device->awake;
}

// ---- buffers --------------------------------------------------------------------------------------------------------

static void metal_buffer_destroy(struct gpu_device *device, struct gpu_buffer *buffer)
{
    if (!buffer) return;
    if (buffer->object) METAL_TELL0(device->mtl, void, buffer->object, release);
    free(buffer);
}

static void *create_buffer(struct gpu_device *device, size_t bytes, unsigned long options)
{
    void *object = METAL_TELL(device->mtl, void *, device->device, new_buffer, (unsigned long, unsigned long),
                              (unsigned long)bytes, options);
    if (!object)
        gpu_device_fail(&device->base, "newBufferWithLength: failed for %zu bytes: free memory, or use half precision",
                        bytes);
    return object;
}

static struct gpu_buffer *metal_buffer_create(struct gpu_device *device, size_t bytes)
{
    if (!gpu_device_is_alive(&device->base, "create a buffer")) return NULL;
    if (bytes == 0 || bytes > device->base.caps.max_buffer) {
        gpu_device_fail(&device->base, "a buffer of %zu bytes is wanted, the device allows 1 to %zu", bytes,
                        device->base.caps.max_buffer);
        return NULL;
    }
    struct gpu_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer) return gpu_device_no_memory(&device->base, "a buffer");
    buffer->bytes = bytes;
    buffer->object = create_buffer(device, bytes, device->is_unified ? METAL_STORAGE_SHARED : METAL_STORAGE_PRIVATE);
    if (buffer->object && device->is_unified)
        buffer->contents = METAL_TELL0(device->mtl, void *, buffer->object, contents);
    if (buffer->object) return buffer;
    free(buffer);
    return NULL;
}

static struct gpu_buffer *metal_buffer_import(struct gpu_device *device, uint64_t handle, size_t *bytes)
{
    const struct metal_api *mtl = device->mtl;
    void *object = (void *)(uintptr_t)handle;
    if (!gpu_device_is_alive(&device->base, "take a buffer")) return NULL;
    size_t there = METAL_TELL0(mtl, unsigned long, object, length);
    bool is_ours = METAL_TELL0(mtl, void *, object, device) == device->device;
    if (!is_ours || *bytes > there) {
        gpu_device_fail(&device->base, "the application's MTLBuffer is %s",
                        is_ours ? "smaller than it says" : "one of another device");
        return NULL;
    }
    struct gpu_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer) return gpu_device_no_memory(&device->base, "a buffer");
    // The device copies to and from the application's memory: its storage mode does not matter then.
    *buffer = (struct gpu_buffer){.object = METAL_TELL0(mtl, void *, object, retain), .bytes = there};
    if (*bytes == 0) *bytes = there;
    return buffer;
}

// Copies to a buffer by the device, from memory of its own that goes when it is done.
static bool write_staged(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, const void *from,
                         size_t bytes)
{
    const struct metal_api *mtl = device->mtl;
    void *staging = METAL_TELL(mtl, void *, device->device, new_filled, (const void *, unsigned long, unsigned long),
                               from, (unsigned long)bytes, METAL_STORAGE_SHARED);
    if (!staging) return gpu_device_fail(&device->base, "newBufferWithBytes: failed for %zu bytes: free memory", bytes);
    bool ok = gpu_metal_copy(device, staging, 0, buffer->object, offset, bytes);
    METAL_TELL0(mtl, void, staging, release); // the command buffer has retained it
    return ok;
}

static bool metal_buffer_write(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, const void *from,
                               size_t bytes)
{
    if (!gpu_device_is_alive(&device->base, "write a buffer") ||
        !gpu_device_has_range(&device->base, buffer->bytes, offset, bytes, "writing"))
        return false;
    if (bytes == 0) return true;
    void *pool = device->mtl->objc.push();
    bool ok = true;
    if (buffer->contents && gpu_metal_is_idle(device))
        gpu_device_copy(&device->base, buffer->contents + offset, from, bytes);
    else
        ok = write_staged(device, buffer, offset, from, bytes);
    device->mtl->objc.pop(pool);
    return ok;
}

static bool read_staged(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, void *to, size_t bytes)
{
    const struct metal_api *mtl = device->mtl;
    void *staging = create_buffer(device, bytes, METAL_STORAGE_SHARED);
    if (!staging) return false;
    bool ok = gpu_metal_copy(device, buffer->object, offset, staging, 0, bytes) && gpu_metal_finish(device);
    if (ok) gpu_device_copy(&device->base, to, METAL_TELL0(mtl, void *, staging, contents), bytes);
    METAL_TELL0(mtl, void, staging, release);
    return ok;
}

static bool metal_buffer_read(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, void *to,
                              size_t bytes)
{
    if (!gpu_device_is_alive(&device->base, "read a buffer") ||
        !gpu_device_has_range(&device->base, buffer->bytes, offset, bytes, "reading"))
        return false;
    if (bytes == 0) return true;
    void *pool = device->mtl->objc.push();
    bool ok = true;
    if (!buffer->contents)
        ok = read_staged(device, buffer, offset, to, bytes);
    else if ((ok = gpu_metal_finish(device)))
        gpu_device_copy(&device->base, to, buffer->contents + offset, bytes);
    device->mtl->objc.pop(pool);
    return ok;
}

// ---- programs -------------------------------------------------------------------------------------------------------

static void metal_program_destroy(struct gpu_device *device, struct gpu_program *program)
{
    if (!program) return;
    if (program->pipeline) METAL_TELL0(device->mtl, void, program->pipeline, release);
    free(program);
}

// A program that is being created. Messages are written after `compile`, which runs in several threads.
struct compilation {
    struct gpu_device *device;
    struct gpu_program *program;
    char *text;
    const char *call; // that failed; NULL: none
    void *error;      // of that call, retained; NULL: none
};

static void *string_of(const struct metal_api *mtl, const char *text)
{
    return METAL_TELL(mtl, void *, mtl->objc.get_class("NSString"), new_string, (const char *), text);
}

// The function of this name in the text, for the caller to release; NULL where a call has failed.
static void *compile_text(struct compilation *compilation, void **error)
{
    const struct metal_api *mtl = compilation->device->mtl;
    void *source = string_of(mtl, compilation->text), *name = string_of(mtl, compilation->program->name);
    void *options = METAL_TELL0(mtl, void *, mtl->objc.get_class("MTLCompileOptions"), new_object);
    compilation->call = "newLibraryWithSource:";
    METAL_TELL(mtl, void, options, set_fast_math, (signed char), 0);
    void *library = METAL_TELL(mtl, void *, compilation->device->device, new_library, (void *, void *, void **), source,
                               options, error);
    METAL_TELL0(mtl, void, options, release);
    if (!library) return NULL;
    compilation->call = "newFunctionWithName:";
    void *function = METAL_TELL(mtl, void *, library, new_function, (void *), name);
    METAL_TELL0(mtl, void, library, release);
    return function;
}

// Several threads call this at the same time, each for an item of its own.
static void compile(void *arg, int64_t item, int worker)
{
    struct compilation *compilation = (struct compilation *)arg + item;
    const struct metal_api *mtl = compilation->device->mtl;
    void *pool = mtl->objc.push(), *error = NULL;
    (void)worker;
    void *function = compile_text(compilation, &error);
    if (function) {
        compilation->call = "newComputePipelineStateWithFunction:";
        compilation->program->pipeline =
            METAL_TELL(mtl, void *, compilation->device->device, new_pipeline, (void *, void **), function, &error);
        METAL_TELL0(mtl, void, function, release);
    }
    if (compilation->program->pipeline)
        compilation->call = NULL;
    else if (error)
        compilation->error = METAL_TELL0(mtl, void *, error, retain);
    mtl->objc.pop(pool);
}

static bool begin(struct gpu_device *device, const struct gpu_program_desc *desc, void *arg)
{
    struct compilation *compilation = arg;
    compilation->device = device;
    struct gpu_program *program = compilation->program = calloc(1, sizeof *program);
    compilation->text = gpu_emit(desc->kernel, GPU_METAL, desc->precision, desc->floats, desc->constants, desc->group);
    if (!compilation->text || !program) return gpu_device_no_memory(&device->base, "a kernel's text");
    program->name = desc->kernel->name;
    memcpy(program->group, desc->group, sizeof program->group);
    return true;
}

static bool has_compiled(const struct compilation *compilation)
{
    const struct gpu_device *device = compilation->device;
    const struct metal_api *mtl = device->mtl;
    if (!compilation->call) return true;
    void *error = compilation->error;
    const char *text = gpu_metal_text(mtl, error ? METAL_TELL0(mtl, void *, error, description) : NULL);
    return gpu_device_fail(&device->base, "%s kernel %s does not compile; Metal says:\n%.*s", compilation->call,
                           compilation->program->name, (int)LOG_BYTES, *text ? text : "nothing");
}

// Whether the work-group fits: a kernel that needs many registers may allow fewer work-items than the device does.
static bool group_fits(const struct gpu_device *device, const struct gpu_program *program)
{
    unsigned long most = METAL_TELL0(device->mtl, unsigned long, program->pipeline, max_threads);
    return gpu_device_allows_group(&device->base, program->name, program->group, most);
}

static struct gpu_program *end(void *arg, bool ok)
{
    struct compilation *compilation = arg;
    struct gpu_device *device = compilation->device;
    struct gpu_program *program = compilation->program;
    ok = ok && has_compiled(compilation) && group_fits(device, program);
    if (compilation->error) METAL_TELL0(device->mtl, void, compilation->error, release);
    free(compilation->text);
    if (ok) return program;
    metal_program_destroy(device, program);
    return NULL;
}

static bool metal_programs_create(struct gpu_device *device, const struct gpu_program_desc *descs, int count,
                                  struct gpu_program **programs)
{
    static const struct gpu_compiler compiler = {sizeof(struct compilation), begin, compile, end, false};
    void *pool = device->mtl->objc.push();
    bool ok = gpu_device_compile(device, &compiler, descs, count, programs);
    device->mtl->objc.pop(pool);
    return ok;
}

// The system keeps compiled kernels, for each application.
static bool metal_cache_load(struct gpu_device *device, const void *bytes, size_t size)
{
    (void)bytes;
    (void)size;
    return gpu_device_is_alive(&device->base, "load programs");
}

static bool metal_cache_save(struct gpu_device *device, void **bytes, size_t *size)
{
    *bytes = NULL;
    *size = 0;
    return gpu_device_is_alive(&device->base, "save programs");
}

static void metal_commands_retain(struct gpu_device *device, void *commands)
{
    METAL_TELL0(device->mtl, void *, commands, retain);
}

static void metal_commands_release(struct gpu_device *device, void *commands)
{
    METAL_TELL0(device->mtl, void, commands, release);
}

const struct gpu_backend gpu_backend_metal = {
    .name = "metal",
    .language = GPU_METAL,
    .shares_everywhere = true,
    .count = metal_count,
    .describe = metal_describe,
    .open = metal_open,
    .open_shared = metal_open_shared,
    .close = metal_close,
    .caps = gpu_device_caps,
    .set_wait = metal_set_wait,
    .set_wait_limit = gpu_device_set_wait_limit,
    .buffer_create = metal_buffer_create,
    .buffer_import = metal_buffer_import,
    .buffer_destroy = metal_buffer_destroy,
    .buffer_write = metal_buffer_write,
    .buffer_read = metal_buffer_read,
    .programs_create = metal_programs_create,
    .program_destroy = metal_program_destroy,
    .cache_load = metal_cache_load,
    .cache_save = metal_cache_save,
    .list_create = gpu_metal_list_create,
    .list_dispatch = gpu_metal_list_dispatch,
    .list_barrier = gpu_metal_list_barrier,
    .list_finish = gpu_metal_list_finish,
    .list_run = gpu_metal_list_run,
    .list_encode = gpu_metal_list_encode,
    .commands_retain = metal_commands_retain,
    .commands_release = metal_commands_release,
    .list_wait = gpu_metal_list_wait,
    .list_profile = gpu_metal_list_profile,
    .list_destroy = gpu_metal_list_destroy,
};
