// SPDX-License-Identifier: Apache-2.0
// The OpenGL ES 3.1 backend. In: kernels as data, buffers, recorded dispatches. Out: calls of OpenGL ES, whose entry
// points gles_api.c finds. A program is the text from gpu_emit, compiled and linked here. A list is an array with the
// bindings of each dispatch, and one uniform buffer with the params of all of them. Textures of the application are in
// gles_images.c.
//
// A context can be current in only one thread, but any thread may call a device. Every function that calls OpenGL ES
// therefore makes the device's context current, and restores the caller's context before it returns.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/hash.h"
#include "gpu/backend/gles_device.h"
#include "gpu/backend/name_list.h"

#define API "OpenGL ES"
enum { LOG_BYTES = 6000, DEBUG_BYTES = 512, MAX_ERRORS = 16, PARAMS_ALIGNMENT = 256 };

// ---- objects --------------------------------------------------------------------------------------------------------

struct gpu_program {
    unsigned program;
    const char *name; // of the kernel
};

struct record {
    const struct gpu_program *program;
    bool barrier; // a barrier comes before this dispatch
    int buffer_count;
    unsigned buffers[GPU_MAX_BUFFERS];
    bool borrowed[GPU_MAX_BUFFERS];
    size_t offsets[GPU_MAX_BUFFERS], sizes[GPU_MAX_BUFFERS];
    int32_t params[GPU_MAX_PARAMS][4];
    int param_count;
    unsigned groups[3];
};

struct gpu_list {
    struct gpu_device *device;
    struct record *records;
    int count, capacity;
    bool barrier;    // one was recorded since the last dispatch
    unsigned params; // uniform buffer: the params of record i are at i * PARAMS_ALIGNMENT
    struct gpu_image_uses images;
};

// ---- errors ---------------------------------------------------------------------------------------------------------

static const char *error_name(unsigned code)
{
    static const char *const egl[] = {
        "EGL_SUCCESS",       "EGL_NOT_INITIALIZED", "EGL_BAD_ACCESS",        "EGL_BAD_ALLOC",
        "EGL_BAD_ATTRIBUTE", "EGL_BAD_CONFIG",      "EGL_BAD_CONTEXT",       "EGL_BAD_CURRENT_SURFACE",
        "EGL_BAD_DISPLAY",   "EGL_BAD_MATCH",       "EGL_BAD_NATIVE_PIXMAP", "EGL_BAD_NATIVE_WINDOW",
        "EGL_BAD_PARAMETER", "EGL_BAD_SURFACE",     "EGL_CONTEXT_LOST",
    };
    static const char *const gl[] = {
        "GL_INVALID_ENUM",
        "GL_INVALID_VALUE",
        "GL_INVALID_OPERATION",
        "GL_STACK_OVERFLOW",
        "GL_STACK_UNDERFLOW",
        "GL_OUT_OF_MEMORY",
        "GL_INVALID_FRAMEBUFFER_OPERATION",
        "GL_CONTEXT_LOST",
    };
    if (code - 0x0500 < sizeof gl / sizeof *gl) return gl[code - 0x0500];
    if (code - EGL_SUCCESS < sizeof egl / sizeof *egl) return egl[code - EGL_SUCCESS];
    return "unknown error";
}

static const char *advice(const struct gpu_device *device, unsigned code)
{
    if (device->base.lost) return GPU_DEVICE_IS_LOST;
    return code == GL_OUT_OF_MEMORY ? "; free memory, or use half precision" : "";
}

// Writes ": " and the driver's latest debug message, or "" if there is none. Drains the driver's message log.
static void debug_text(struct gpu_device *device, char text[DEBUG_BYTES])
{
    text[0] = '\0';
    for (int i = 0; device->debug && i < 1000; i++) {
        char message[DEBUG_BYTES - 2] = "";
        if (device->gl->glGetDebugMessageLogKHR(1, sizeof message, NULL, NULL, NULL, NULL, NULL, message) == 0) return;
        snprintf(text, DEBUG_BYTES, ": %s", message);
    }
}

// Returns the first error since the last call, or 0, and clears all errors.
static unsigned take_error(struct gpu_device *device)
{
    unsigned first = device->gl->glGetError();
    // A lost context may report errors without end.
    for (int i = 0; first && i < MAX_ERRORS && device->gl->glGetError(); i++) continue;
    if (first == GL_CONTEXT_LOST || (first && device->resets && device->gl->glGetGraphicsResetStatusEXT()))
        device->base.lost = true;
    return first;
}

static bool failed(struct gpu_device *device, unsigned code, const char *function, const char *about,
                   const char *detail)
{
    return gpu_device_fail(&device->base, "%s (%s) failed: %s (0x%04x)%s%s", function, about, error_name(code), code,
                           detail, advice(device, code));
}

bool gpu_gles_check(struct gpu_device *device, const char *function, const char *about)
{
    char detail[DEBUG_BYTES];
    unsigned code = take_error(device);
    if (code == 0) return true;
    debug_text(device, detail);
    return failed(device, code, function, about, detail);
}

bool gpu_gles_egl_failed(struct gpu_device *device, const char *function, const char *about)
{
    unsigned code = (unsigned)device->gl->eglGetError();
    if (code == EGL_CONTEXT_LOST) device->base.lost = true;
    return failed(device, code, function, about, "");
}

bool gpu_gles_finish(struct gpu_device *device, const char *about)
{
    const struct gles_api *gl = device->gl;
    void *sync = gl->glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    if (!sync) return gpu_gles_check(device, "glFenceSync", about);
    unsigned answer = gl->glClientWaitSync(sync, GL_SYNC_FLUSH_COMMANDS_BIT, gpu_device_wait_limit(&device->base));
    if (answer == GL_TIMEOUT_EXPIRED) return gpu_device_abandon(&device->base);
    gl->glDeleteSync(sync);
    return gpu_gles_check(device, "glClientWaitSync", about);
}

// ---- the current context --------------------------------------------------------------------------------------------

static void restore_api(struct gpu_device *device)
{
    device->gl->eglBindAPI(device->before.api);
}

bool gpu_gles_enter(struct gpu_device *device, const char *action)
{
    const struct gles_api *gl = device->gl;
    if (!gpu_device_is_alive(&device->base, action)) return false;
    device->before.api = gl->eglQueryAPI(); // the next three queries answer for this API
    device->before.context = gl->eglGetCurrentContext();
    device->before.display = gl->eglGetCurrentDisplay();
    device->before.draw = gl->eglGetCurrentSurface(EGL_DRAW);
    device->before.read = gl->eglGetCurrentSurface(EGL_READ);
    gl->eglBindAPI(EGL_OPENGL_ES_API);
    struct gles_context *own = &device->context;
    if (gl->eglMakeCurrent(device->found->display, own->surface, own->surface, own->context)) return true;
    gpu_gles_egl_failed(device, "eglMakeCurrent", action);
    restore_api(device);
    return false;
}

bool gpu_gles_leave(struct gpu_device *device, bool ok)
{
    const struct gles_api *gl = device->gl;
    const struct gles_current *before = &device->before;
    if (!gl->eglMakeCurrent(device->found->display, NULL, NULL, NULL))
        ok = gpu_gles_egl_failed(device, "eglMakeCurrent", "leaving the device's context");
    restore_api(device);
    if (before->context && !gl->eglMakeCurrent(before->display, before->draw, before->read, before->context))
        ok = gpu_gles_egl_failed(device, "eglMakeCurrent", "giving the thread its context back");
    return ok;
}

// ---- devices --------------------------------------------------------------------------------------------------------

static int gles_count(const char **why)
{
    const struct gles_library *library = gpu_gles_library();
    if (why) *why = library->why;
    return library->count;
}

static int get_int(const struct gles_api *gl, unsigned name)
{
    int32_t value = 0;
    gl->glGetIntegerv(name, &value);
    return value;
}

static bool is_software(const char *renderer)
{
    static const char *const names[] = {"llvmpipe", "softpipe", "SwiftShader", "swrast", "Software"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(renderer, names[i])) return true;
    return false;
}

// Reads the capabilities of the current context. False if the driver leaves out what is needed.
static bool fill_caps(struct gpu_device *device)
{
    const struct gles_api *gl = device->gl;
    struct gpu_caps *caps = &device->base.caps;
    const char *vendor = (const char *)gl->glGetString(GL_VENDOR), *version = (const char *)gl->glGetString(GL_VERSION);
    const char *renderer = (const char *)gl->glGetString(GL_RENDERER);
    const char *extensions = (const char *)gl->glGetString(GL_EXTENSIONS);
    if (!vendor || !version || !renderer || !extensions) return false;
    bool software = is_software(renderer);
    *caps = (struct gpu_caps){
        .vendor = software ? GPU_VENDOR_SOFTWARE : gpu_vendor_of_text(vendor),
        .software = software,
        .half_storage = true,                                          // packHalf2x16 is core
        .half_math = true,                                             // mediump, a hint that the device may ignore
        .max_buffer = INT32_MAX / PARAMS_ALIGNMENT * PARAMS_ALIGNMENT, // drivers count bytes in 32 bits
        .max_group_size = get_int(gl, GL_MAX_COMPUTE_WORK_GROUP_INVOCATIONS),
        .shared_bytes = get_int(gl, GL_MAX_COMPUTE_SHARED_MEMORY_SIZE),
    };
    // OpenGL ES has no such query. Only NVIDIA GPUs other than Tegra are taken for discrete ones.
    caps->integrated = !software && (caps->vendor != GPU_VENDOR_NVIDIA || strstr(renderer, "Tegra"));
    snprintf(caps->name, sizeof caps->name, "%s", renderer);
    snprintf(caps->driver, sizeof caps->driver, "%s", version);
    for (unsigned i = 0; i < 3; i++) {
        gl->glGetIntegeri_v(GL_MAX_COMPUTE_WORK_GROUP_SIZE, i, &caps->max_group[i]);
        gl->glGetIntegeri_v(GL_MAX_COMPUTE_WORK_GROUP_COUNT, i, &caps->max_groups[i]);
    }
    int64_t block = 0;
    gl->glGetInteger64v(GL_MAX_SHADER_STORAGE_BLOCK_SIZE, &block);
    caps->max_range = block > 0 && (uint64_t)block < caps->max_buffer ? (size_t)block : caps->max_buffer;
    device->binaries = get_int(gl, GL_NUM_PROGRAM_BINARY_FORMATS) > 0;
    device->resets =
        device->found->robust && gl->glGetGraphicsResetStatusEXT && gpu_name_list_has(extensions, "GL_EXT_robustness");
    // The timer queries of Mesa's software devices do not measure dispatches.
    device->clock =
        !software && gl->glGetQueryObjectui64vEXT && gpu_name_list_has(extensions, "GL_EXT_disjoint_timer_query");
    device->debug =
        gl->glGetDebugMessageLogKHR && gl->glDebugMessageControlKHR && gpu_name_list_has(extensions, "GL_KHR_debug");
    if (device->debug) {
        gl->glEnable(GL_DEBUG_OUTPUT);
        gl->glDebugMessageControlKHR(GL_DONT_CARE, GL_DONT_CARE, GL_DONT_CARE, 0, NULL, 0);
        gl->glDebugMessageControlKHR(GL_DONT_CARE, GL_DEBUG_TYPE_ERROR, GL_DONT_CARE, 0, NULL, 1);
    }
    return gl->glGetError() == 0 && caps->max_group_size > 0;
}

static void gles_close(struct gpu_device *device)
{
    if (!device) return;
    gpu_device_end(&device->base);
    gpu_gles_images_end(device);
    if (!device->base.is_abandoned) gpu_gles_context_destroy(device->found, &device->context);
    free(device);
}

static struct gpu_device *new_device(const struct gles_found *found, const char *name,
                                     const struct hl_reporter *reporter)
{
    struct gpu_device *device = calloc(1, sizeof *device);
    if (!device) {
        hl_report(reporter, API ": out of memory for a device");
        return NULL;
    }
    *device = (struct gpu_device){.base.api = API, .gl = found->gl, .found = found};
    if (reporter) device->base.reporter = *reporter;
    snprintf(device->base.caps.name, sizeof device->base.caps.name, "%s", name);
    return device;
}

// Asks what the device can do, once its context is there. NULL after a message, and the device is closed.
static struct gpu_device *ask_device(struct gpu_device *device)
{
    char name[sizeof device->base.caps.name];
    snprintf(name, sizeof name, "%s", device->base.caps.name);
    if (gpu_gles_enter(device, "open the device")) {
        bool filled = fill_caps(device);
        if (!filled)
            hl_report(&device->base.reporter, API " %s does not say what it is: check its driver with eglinfo", name);
        if (gpu_gles_leave(device, filled)) return device;
    }
    gles_close(device);
    return NULL;
}

static struct gpu_device *gles_open(int index, const struct hl_reporter *reporter)
{
    const struct gles_library *library = gpu_gles_library();
    if (!gpu_device_exists(API, index, library->count, library->why, reporter)) return NULL;
    char name[32];
    snprintf(name, sizeof name, "device %d", index);
    struct gpu_device *device = new_device(&library->devices[index], name, reporter);
    if (!device) return NULL;
    device->before.api = device->gl->eglQueryAPI();
    const char *function = gpu_gles_context_create(device->found, &device->context);
    if (function) gpu_gles_egl_failed(device, function, "opening the device");
    restore_api(device);
    if (!function) return ask_device(device);
    gles_close(device);
    return NULL;
}

static bool gles_current(HaliteGpuContext *context)
{
    const struct gles_library *library = gpu_gles_library();
    if (library->count == 0) return false;
    context->egl_context = library->devices[0].gl->eglGetCurrentContext();
    context->egl_display = library->devices[0].gl->eglGetCurrentDisplay();
    return context->egl_context != NULL;
}

// A context that shares with another must report its loss in the same way, or not, and nothing says which: both are
// tried.
static const char *create_sharing_context(struct gpu_device *device)
{
    struct gles_found *found = &device->shared;
    const char *function = gpu_gles_context_create(found, &device->context);
    if (!function || !found->robust) return function;
    gpu_gles_context_destroy(found, &device->context);
    found->robust = false;
    return gpu_gles_context_create(found, &device->context);
}

static struct gpu_device *gles_open_shared(const HaliteGpuContext *context, const struct hl_reporter *reporter)
{
    const struct gles_library *library = gpu_gles_library();
    if (!gpu_device_exists(API, 0, library->count, library->why, reporter)) return NULL;
    struct gpu_device *device = new_device(&library->devices[0], "the application's display", reporter);
    if (!device) return NULL;
    device->before.api = device->gl->eglQueryAPI();
    const char *function = "eglChooseConfig";
    if (gpu_gles_describe_display(device->gl, context->egl_display, &device->shared)) {
        device->shared.share = context->egl_context;
        function = create_sharing_context(device);
    }
    device->found = &device->shared;
    if (function) gpu_gles_egl_failed(device, function, "sharing buffers with the application's context");
    restore_api(device);
    if (!function) return ask_device(device);
    gles_close(device);
    return NULL;
}

static void say_nothing(void *user_data, const char *format, va_list args)
{
    (void)user_data, (void)format, (void)args;
}

static bool gles_describe(int index, struct gpu_caps *caps)
{
    static const struct hl_reporter silent = {.write = say_nothing};
    struct gpu_device *device = gles_open(index, &silent);
    if (device) *caps = device->base.caps;
    gles_close(device);
    return device != NULL;
}

// ---- buffers --------------------------------------------------------------------------------------------------------

void gpu_gles_buffer_destroy(struct gpu_device *device, struct gpu_buffer *buffer)
{
    if (!buffer) return;
    // The buffers of a lost device are freed together with its context.
    if (buffer->buffer && !buffer->is_borrowed && !device->base.lost && gpu_gles_enter(device, "delete a buffer")) {
        device->gl->glDeleteBuffers(1, &buffer->buffer);
        gpu_gles_leave(device, true);
    }
    free(buffer);
}

// Creates a buffer in the current context. 0 after a message.
static unsigned make_buffer(struct gpu_device *device, unsigned target, size_t bytes, const void *from, unsigned usage)
{
    const struct gles_api *gl = device->gl;
    char about[48];
    unsigned buffer = 0;
    snprintf(about, sizeof about, "%zu bytes", bytes);
    gl->glGenBuffers(1, &buffer);
    gl->glBindBuffer(target, buffer);
    gl->glBufferData(target, (intptr_t)bytes, from, usage);
    if (gpu_gles_check(device, "glBufferData", about)) return buffer;
    gl->glDeleteBuffers(1, &buffer);
    return 0;
}

struct gpu_buffer *gpu_gles_buffer_create(struct gpu_device *device, size_t bytes)
{
    if (!gpu_device_is_alive(&device->base, "create a buffer")) return NULL;
    if (!gpu_device_allows_buffer(&device->base, bytes)) return NULL;
    struct gpu_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer) return gpu_device_no_memory(&device->base, "a buffer");
    buffer->bytes = bytes;
    if (gpu_gles_enter(device, "create a buffer")) {
        buffer->buffer = make_buffer(device, GL_COPY_WRITE_BUFFER, bytes, NULL, GL_DYNAMIC_COPY);
        if (gpu_gles_leave(device, buffer->buffer != 0)) return buffer;
    }
    gpu_gles_buffer_destroy(device, buffer);
    return NULL;
}

static struct gpu_buffer *gles_buffer_import(struct gpu_device *device, uint64_t handle, size_t *bytes)
{
    const struct gles_api *gl = device->gl;
    int64_t there = 0;
    if (!gpu_gles_enter(device, "take a buffer")) return NULL;
    bool is_buffer = handle <= UINT32_MAX && gl->glIsBuffer((unsigned)handle);
    if (is_buffer) {
        gl->glBindBuffer(GL_COPY_READ_BUFFER, (unsigned)handle);
        gl->glGetBufferParameteri64v(GL_COPY_READ_BUFFER, GL_BUFFER_SIZE, &there);
    }
    if (!gpu_gles_leave(device, gpu_gles_check(device, "glGetBufferParameteri64v", "a buffer of the application")))
        return NULL;
    if (!is_buffer || there < 0 || *bytes > (uint64_t)there) {
        gpu_device_fail(&device->base, "%llu %s", (unsigned long long)handle,
                        is_buffer ? "is a buffer of the application that is smaller than it says"
                                  : "is no buffer of the application's context that has been bound once");
        return NULL;
    }
    struct gpu_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer) return gpu_device_no_memory(&device->base, "a buffer");
    *buffer = (struct gpu_buffer){.buffer = (unsigned)handle, .bytes = (size_t)there, .is_borrowed = true};
    if (*bytes == 0) *bytes = (size_t)there;
    return buffer;
}

static bool gles_buffer_write(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, const void *from,
                              size_t bytes)
{
    const struct gles_api *gl = device->gl;
    if (!gpu_device_has_range(&device->base, buffer->bytes, offset, bytes, "writing") ||
        !gpu_gles_enter(device, "write a buffer"))
        return false;
    gl->glBindBuffer(GL_COPY_WRITE_BUFFER, buffer->buffer);
    gl->glBufferSubData(GL_COPY_WRITE_BUFFER, (intptr_t)offset, (intptr_t)bytes, from);
    return gpu_gles_leave(device, gpu_gles_check(device, "glBufferSubData", "writing a buffer"));
}

static bool gles_buffer_read(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, void *to,
                             size_t bytes)
{
    const struct gles_api *gl = device->gl;
    if (!gpu_device_has_range(&device->base, buffer->bytes, offset, bytes, "reading") ||
        !gpu_device_is_alive(&device->base, "read a buffer"))
        return false;
    if (bytes == 0) return true;
    if (!gpu_gles_enter(device, "read a buffer")) return false;
    if (!gpu_gles_finish(device, "reading a buffer")) return gpu_gles_leave(device, false);
    gl->glBindBuffer(GL_COPY_READ_BUFFER, buffer->buffer);
    const void *from = gl->glMapBufferRange(GL_COPY_READ_BUFFER, (intptr_t)offset, (intptr_t)bytes, GL_MAP_READ_BIT);
    bool ok = gpu_gles_check(device, "glMapBufferRange", "reading a buffer") &&
              (from || gpu_device_no_memory(&device->base, "what is read"));
    if (from) gpu_device_copy(&device->base, to, from, bytes);
    if (from && !gl->glUnmapBuffer(GL_COPY_READ_BUFFER) && ok) {
        gpu_device_fail(&device->base, "the contents of a buffer were lost: run again");
        ok = false;
    }
    return gpu_gles_leave(device, gpu_gles_check(device, "glUnmapBuffer", "reading a buffer") && ok);
}

// ---- programs -------------------------------------------------------------------------------------------------------

// Needs the device's context to be current.
static void delete_program(const struct gpu_device *device, struct gpu_program *program)
{
    if (program->program) device->gl->glDeleteProgram(program->program);
    free(program);
}

static void gles_program_destroy(struct gpu_device *device, struct gpu_program *program)
{
    if (!program) return;
    gpu_program_cache_forget(&device->base.program_cache, program);
    if (program->program && !device->base.lost && gpu_gles_enter(device, "delete a program")) {
        delete_program(device, program);
        gpu_gles_leave(device, true);
    } else {
        free(program);
    }
}

// Reports why a kernel does not compile or link. log: the GL function that returns the compiler's log.
static void report_log(struct gpu_device *device, const char *function, const char *name, unsigned object,
                       void (*log)(unsigned, int32_t, int32_t *, char *))
{
    char text[LOG_BYTES] = "";
    log(object, sizeof text, NULL, text);
    gpu_device_fail(&device->base, "%s: kernel %s does not compile; the compiler says:\n%s", function, name,
                    text[0] ? text : "nothing");
}

// A program that is being created.
struct compilation {
    char *text;
    uint64_t key;
    unsigned shader; // 0: none
    bool cached;     // the program was made from its binary
};

// Makes the program from its cached binary. False, without a message, if there is none or the driver refuses it.
static bool load_binary(struct gpu_device *device, const struct gpu_program *program, uint64_t key)
{
    const struct gles_api *gl = device->gl;
    size_t size;
    uint32_t format;
    int32_t done = 0;
    const unsigned char *binary =
        device->binaries ? gpu_program_cache_find(&device->base.program_cache, key, &size) : NULL;
    if (!binary || size <= sizeof format || size > INT32_MAX) return false;
    memcpy(&format, binary, sizeof format);
    gl->glProgramBinary(program->program, format, binary + sizeof format, (int32_t)(size - sizeof format));
    char ignored[DEBUG_BYTES];
    if (take_error(device) == 0)
        gl->glGetProgramiv(program->program, GL_LINK_STATUS, &done);
    else
        debug_text(device, ignored);
    return done;
}

// Adds the program's binary to the cache. A driver without binaries only costs a slower next start, so nothing fails.
static void save_binary(struct gpu_device *device, const struct gpu_program *program, uint64_t key)
{
    const struct gles_api *gl = device->gl;
    uint32_t format = 0;
    int32_t size = 0;
    gl->glGetProgramiv(program->program, GL_PROGRAM_BINARY_LENGTH, &size);
    unsigned char *binary = size > 0 ? malloc(sizeof format + (size_t)size) : NULL;
    if (!binary) return;
    gl->glGetProgramBinary(program->program, size, &size, &format, binary + sizeof format);
    memcpy(binary, &format, sizeof format);
    if (take_error(device) == 0 && size > 0)
        gpu_program_cache_add(&device->base.program_cache, key, binary, sizeof format + (size_t)size);
    else
        free(binary);
}

// Starts to compile and link. Results are queried later, so that a driver with compiler threads can work on several
// programs at the same time.
static bool compile(struct gpu_device *device, const struct gpu_program *program, struct compilation *compilation)
{
    const struct gles_api *gl = device->gl;
    const char *text = compilation->text;
    unsigned shader = compilation->shader = gl->glCreateShader(GL_COMPUTE_SHADER);
    if (!gpu_gles_check(device, "glCreateShader", program->name)) return false;
    gl->glShaderSource(shader, 1, &text, NULL);
    gl->glCompileShader(shader);
    if (!gpu_gles_check(device, "glCompileShader", program->name)) return false;
    gl->glAttachShader(program->program, shader);
    if (device->base.program_cache.open && device->binaries)
        gl->glProgramParameteri(program->program, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, 1);
    gl->glLinkProgram(program->program);
    return gpu_gles_check(device, "glLinkProgram", program->name);
}

static bool has_compiled(struct gpu_device *device, const struct gpu_program *program,
                         const struct compilation *compilation)
{
    const struct gles_api *gl = device->gl;
    unsigned shader = compilation->shader;
    int32_t compiled = 0, linked = 0;
    gl->glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
    if (!compiled) report_log(device, "glCompileShader", program->name, shader, gl->glGetShaderInfoLog);
    if (!compiled) return false;
    gl->glGetProgramiv(program->program, GL_LINK_STATUS, &linked);
    if (!linked) report_log(device, "glLinkProgram", program->name, program->program, gl->glGetProgramInfoLog);
    return linked;
}

static struct gpu_program *begin(struct gpu_device *device, const struct gpu_program_desc *desc,
                                 struct compilation *compilation)
{
    struct gpu_program *program = calloc(1, sizeof *program);
    char *text = compilation->text =
        gpu_emit(desc->kernel, GPU_GLES, desc->precision, desc->floats, desc->constants, desc->group);
    if (!text || !program) {
        free(program);
        return gpu_device_no_memory(&device->base, "a kernel's text");
    }
    program->name = desc->kernel->name;
    program->program = device->gl->glCreateProgram();
    compilation->key = hl_hash(0, text, strlen(text));
    bool ok = gpu_gles_check(device, "glCreateProgram", program->name);
    compilation->cached = ok && device->base.program_cache.open && load_binary(device, program, compilation->key);
    if (ok && (compilation->cached || compile(device, program, compilation))) return program;
    delete_program(device, program);
    return NULL;
}

static struct gpu_program *end(struct gpu_device *device, struct gpu_program *program,
                               const struct compilation *compilation)
{
    if (compilation->cached) return program;
    if (has_compiled(device, program, compilation)) {
        if (device->base.program_cache.open && device->binaries)
            gpu_program_cache_postpone(&device->base.program_cache, program, compilation->key);
        return program;
    }
    delete_program(device, program);
    return NULL;
}

// Needs the device's context to be current.
static bool create_programs(struct gpu_device *device, const struct gpu_program_desc *descs, int count,
                            struct gpu_program **programs, struct compilation *compilations)
{
    bool ok = true;
    for (int i = 0; i < count && ok; i++) ok = (programs[i] = begin(device, &descs[i], &compilations[i])) != NULL;
    for (int i = 0; i < count && ok; i++) ok = (programs[i] = end(device, programs[i], &compilations[i])) != NULL;
    for (int i = 0; i < count; i++) {
        // A linked program no longer needs its shader.
        if (compilations[i].shader) device->gl->glDeleteShader(compilations[i].shader);
        free(compilations[i].text);
    }
    return ok;
}

static bool gles_programs_create(struct gpu_device *device, const struct gpu_program_desc *descs, int count,
                                 struct gpu_program **programs)
{
    for (int i = 0; i < count; i++) programs[i] = NULL;
    struct compilation *compilations = calloc((size_t)count + 1, sizeof *compilations);
    if (!compilations) return gpu_device_no_memory(&device->base, "programs");
    bool ok = gpu_gles_enter(device, "compile a kernel") &&
              gpu_gles_leave(device, create_programs(device, descs, count, programs, compilations));
    free(compilations);
    return ok;
}

// NVIDIA's driver compiles for its processor when a program first runs.
static bool gles_cache_waits(const struct gpu_device *device)
{
    return device->base.program_cache.waiting_count > 0;
}

static bool gles_cache_save(struct gpu_device *device, void **bytes, size_t *size)
{
    const struct gpu_program_cache *cache = &device->base.program_cache;
    if (cache->waiting_count > 0 && gpu_gles_enter(device, "keep programs")) {
        for (int i = 0; i < cache->waiting_count; i++)
            save_binary(device, cache->waiting[i].program, cache->waiting[i].key);
        gpu_gles_leave(device, true);
    }
    return gpu_device_save_programs(device, bytes, size);
}

// ---- lists ----------------------------------------------------------------------------------------------------------

static void gles_list_destroy(struct gpu_list *list)
{
    if (!list) return;
    struct gpu_device *device = list->device;
    if (list->params && !device->base.lost && gpu_gles_enter(device, "delete a command list")) {
        device->gl->glDeleteBuffers(1, &list->params);
        gpu_gles_leave(device, true);
    }
    free(list->records);
    free(list->images.list);
    free(list);
}

static struct gpu_list *gles_list_create(struct gpu_device *device)
{
    if (!gpu_device_is_alive(&device->base, "create a command list")) return NULL;
    struct gpu_list *list = calloc(1, sizeof *list);
    if (!list) return gpu_device_no_memory(&device->base, "a command list");
    list->device = device;
    return list;
}

static bool gles_list_dispatch(struct gpu_list *list, const struct gpu_dispatch *dispatch)
{
    struct gpu_device *device = list->device;
    const char *name = dispatch->program->name;
    if (!gpu_device_is_alive(&device->base, "record a kernel")) return false;
    struct record *records = hl_grow(list->records, list->count, &list->capacity, sizeof *records);
    if (!records) return gpu_device_no_memory(&device->base, "a command list");
    list->records = records;
    struct record *record = &records[list->count];
    *record = (struct record){
        .program = dispatch->program,
        .barrier = list->barrier,
        .buffer_count = dispatch->buffer_count,
        .param_count = dispatch->param_count,
    };
    if (!gpu_device_allows_groups(&device->base, name, dispatch->groups)) return false;
    for (int i = 0; i < 3; i++) record->groups[i] = (unsigned)dispatch->groups[i];
    for (int i = 0; i < dispatch->buffer_count; i++) {
        if (!gpu_device_has_range(&device->base, dispatch->buffers[i]->bytes, dispatch->offsets[i], dispatch->sizes[i],
                                  "a kernel uses"))
            return false;
        const struct gles_image *image = &dispatch->buffers[i]->image;
        if (image->texture && image->is_input != dispatch->writes[i] &&
            !gpu_image_uses_add(&list->images, dispatch->buffers[i]))
            return gpu_device_no_memory(&device->base, "a command list");
        record->buffers[i] = dispatch->buffers[i]->buffer;
        record->borrowed[i] = dispatch->buffers[i]->is_borrowed;
        record->offsets[i] = dispatch->offsets[i];
        record->sizes[i] = dispatch->sizes[i];
        if (dispatch->sizes[i] <= device->base.caps.max_range) continue;
        return gpu_device_fail(&device->base,
                               "kernel %s uses %zu bytes of a buffer, the device allows %zu: use half precision, or "
                               "another API",
                               name, dispatch->sizes[i], device->base.caps.max_range);
    }
    memcpy(record->params, dispatch->params, sizeof record->params);
    list->barrier = false;
    list->count++;
    return true;
}

static bool gles_list_barrier(struct gpu_list *list)
{
    list->barrier = true;
    return gpu_device_is_alive(&list->device->base, "record a barrier");
}

// Uploads the params of all dispatches in one uniform buffer.
static bool gles_list_finish(struct gpu_list *list)
{
    struct gpu_device *device = list->device;
    if (!gpu_device_is_alive(&device->base, "end a command list") || list->count == 0) return !device->base.lost;
    unsigned char *params = calloc((size_t)list->count, PARAMS_ALIGNMENT);
    if (!params) return gpu_device_no_memory(&device->base, "a command list");
    for (int i = 0; i < list->count; i++)
        memcpy(params + (size_t)i * PARAMS_ALIGNMENT, list->records[i].params, sizeof list->records[i].params);
    if (gpu_gles_enter(device, "end a command list")) {
        list->params =
            make_buffer(device, GL_UNIFORM_BUFFER, (size_t)list->count * PARAMS_ALIGNMENT, params, GL_STATIC_DRAW);
        gpu_gles_leave(device, true);
    }
    free(params);
    return list->params != 0;
}

static void bind_and_dispatch(const struct gpu_list *list, int index)
{
    const struct gles_api *gl = list->device->gl;
    const struct record *record = &list->records[index];
    gl->glUseProgram(record->program->program);
    for (unsigned i = 0; i < (unsigned)record->buffer_count; i++)
        gl->glBindBufferRange(GL_SHADER_STORAGE_BUFFER, i, record->buffers[i], (intptr_t)record->offsets[i],
                              (intptr_t)record->sizes[i]);
    if (record->param_count > 0)
        gl->glBindBufferRange(GL_UNIFORM_BUFFER, 0, list->params, (intptr_t)index * PARAMS_ALIGNMENT, GPU_PARAM_BYTES);
    gl->glDispatchCompute(record->groups[0], record->groups[1], record->groups[2]);
}

// Copies textures of the application before the first kernel (inputs), or after the last one.
static bool copy_images(const struct gpu_list *list, bool inputs)
{
    for (int i = 0; i < list->images.count; i++) {
        const struct gpu_buffer *buffer = list->images.list[i];
        if (buffer->image.is_input == inputs && !gpu_gles_image_copy(list->device, buffer)) return false;
    }
    return true;
}

// Makes what the list wrote visible to its own copies, to later lists, and to reads and writes of buffers.
static bool end_run(const struct gpu_list *list)
{
    struct gpu_device *device = list->device;
    if (!copy_images(list, false)) return false;
    unsigned own = GL_SHADER_STORAGE_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT;
    device->gl->glMemoryBarrier(device->shared.share ? GL_ALL_BARRIER_BITS : own);
    return gpu_gles_check(device, "glDispatchCompute", "running a command list");
}

// Whether all buffers of the application are still there.
static bool has_buffers(struct gpu_list *list)
{
    const struct gles_api *gl = list->device->gl;
    for (int r = 0; r < list->count; r++)
        for (int i = 0; i < list->records[r].buffer_count; i++)
            if (list->records[r].borrowed[i] && !gl->glIsBuffer(list->records[r].buffers[i]))
                return gpu_device_fail(&list->device->base,
                                       "buffer %u of the application was deleted: bind another one, or none",
                                       list->records[r].buffers[i]);
    return true;
}

static bool gles_list_run(struct gpu_list *list)
{
    struct gpu_device *device = list->device;
    if (!gpu_gles_enter_after(device, "run")) return false;
    if ((device->shared.share && !has_buffers(list)) || !copy_images(list, true)) return gpu_gles_leave(device, false);
    for (int i = 0; i < list->count; i++) {
        if (list->records[i].barrier) device->gl->glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
        bind_and_dispatch(list, i);
    }
    bool ok = end_run(list);
    device->gl->glFlush();
    return gpu_gles_leave(device, ok);
}

static bool gles_list_wait(struct gpu_list *list)
{
    struct gpu_device *device = list->device;
    if (!gpu_gles_enter(device, "wait for a run")) return false;
    return gpu_gles_leave(device, gpu_gles_finish(device, "waiting for a run"));
}

// A barrier after each dispatch makes its query cover this dispatch alone.
static bool run_with_queries(struct gpu_list *list, const unsigned *queries, uint64_t *nanoseconds)
{
    struct gpu_device *device = list->device;
    const struct gles_api *gl = device->gl;
    get_int(gl, GL_GPU_DISJOINT); // reading clears the flag
    for (int i = 0; i < list->count; i++) {
        gl->glBeginQuery(GL_TIME_ELAPSED, queries[i]);
        bind_and_dispatch(list, i);
        gl->glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
        gl->glEndQuery(GL_TIME_ELAPSED);
    }
    if (!end_run(list) || !gpu_gles_finish(device, "profiling")) return false; // its results have no limit of their own
    for (int i = 0; i < list->count; i++) gl->glGetQueryObjectui64vEXT(queries[i], GL_QUERY_RESULT, &nanoseconds[i]);
    if (!gpu_gles_check(device, "glGetQueryObjectui64vEXT", "profiling")) return false;
    if (get_int(gl, GL_GPU_DISJOINT) == 0) return true;
    return gpu_device_fail(&device->base, "the clock changed while profiling: run again");
}

static bool run_by_device_clock(struct gpu_list *list, uint64_t *nanoseconds)
{
    struct gpu_device *device = list->device;
    unsigned *queries = calloc((size_t)list->count + 1, sizeof *queries);
    if (!queries) return gpu_device_no_memory(&device->base, "a profile");
    device->gl->glGenQueries(list->count, queries);
    bool ok = gpu_gles_check(device, "glGenQueries", "profiling") && run_with_queries(list, queries, nanoseconds);
    device->gl->glDeleteQueries(list->count, queries);
    free(queries);
    return ok;
}

// For devices without timer queries: measures how long the CPU waits for each dispatch.
static bool run_by_cpu_clock(struct gpu_list *list, uint64_t *nanoseconds)
{
    const struct gles_api *gl = list->device->gl;
    if (!gpu_gles_finish(list->device, "profiling")) return false;
    for (int i = 0; i < list->count; i++) {
        uint64_t begin = hl_nanoseconds();
        bind_and_dispatch(list, i);
        gl->glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
        if (!gpu_gles_finish(list->device, "profiling")) return false;
        nanoseconds[i] = hl_nanoseconds() - begin;
    }
    return end_run(list);
}

static bool gles_list_profile(struct gpu_list *list, uint64_t *nanoseconds, int count)
{
    struct gpu_device *device = list->device;
    if (count != list->count) {
        return gpu_device_fail(&device->base, "a profile of %d dispatches, but the list has %d", count, list->count);
    }
    if (!gpu_gles_enter_after(device, "profile")) return false;
    if ((device->shared.share && !has_buffers(list)) || !copy_images(list, true)) return gpu_gles_leave(device, false);
    bool (*run)(struct gpu_list *, uint64_t *) = device->clock ? run_by_device_clock : run_by_cpu_clock;
    return gpu_gles_leave(device, run(list, nanoseconds));
}

const struct gpu_backend gpu_backend_gles = {
    .name = "gles",
    .language = GPU_GLES,
    .count = gles_count,
    .describe = gles_describe,
    .open = gles_open,
    .current = gles_current,
    .open_shared = gles_open_shared,
    .close = gles_close,
    .caps = gpu_device_caps,
    .set_wait_limit = gpu_device_set_wait_limit,
    .buffer_create = gpu_gles_buffer_create,
    .buffer_import = gles_buffer_import,
    .image_import = gpu_gles_image_import,
    .buffer_destroy = gpu_gles_buffer_destroy,
    .buffer_write = gles_buffer_write,
    .buffer_read = gles_buffer_read,
    .programs_create = gles_programs_create,
    .program_destroy = gles_program_destroy,
    .cache_load = gpu_device_load_programs,
    .cache_waits = gles_cache_waits,
    .cache_save = gles_cache_save,
    .list_create = gles_list_create,
    .list_dispatch = gles_list_dispatch,
    .list_barrier = gles_list_barrier,
    .list_finish = gles_list_finish,
    .list_run = gles_list_run,
    .list_wait = gles_list_wait,
    .list_profile = gles_list_profile,
    .list_destroy = gles_list_destroy,
    .fence_type = gpu_gles_fence_type,
    .buffer_type = HALITE_BUFFER_GL,
    .fence_await = gpu_gles_fence_await,
    .fence_signal = gpu_gles_fence_signal,
    .makes_fences = true,
    .fence_create = gpu_gles_fence_create,
    .fence_wait = gpu_gles_fence_wait,
    .fence_destroy = gpu_gles_fence_destroy,
};
