// SPDX-License-Identifier: Apache-2.0
// The OpenCL backend. In: kernels as data, buffers, recorded dispatches. Out: calls of OpenCL 1.2, whose entry points
// opencl_api.c finds. A program is the text from gpu_emit, compiled here. A list is an array of kernel objects whose
// arguments are set once; each run enqueues all of them. The queue is in order, so barriers need no call. A range of a
// buffer is a sub-buffer that the list owns. The profiling queue is created by the first profile. Images and
// memory of the application are in opencl_images.c and opencl_memory.c.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "gpu/backend/name_list.h"
#include "gpu/backend/opencl_device.h"

#define API "OpenCL"
enum { LOG_BYTES = 6000, STAGING_BYTES = 4 << 20, STAGING_PIECE = 256 };
enum { SHARED_BESIDE = 128 }; // bytes that kernels with the array `tile` have besides it
#define BUILD_OPTIONS " -cl-mad-enable -w"

// Queries of extensions, by number, because older headers lack their names.
enum {
    C_VERSIONS = 0x1066, // structs c_version, since OpenCL 3.0
    DOT_PRODUCTS_KHR = 0x1073,
    FAST_PACKED_DOTS_KHR = 0x1075,
    CAPABILITY_MAJOR_NV = 0x4000,
    CAPABILITY_MINOR_NV,
    WARP_SIZE_NV = 0x4003,
    WAVEFRONT_WIDTH_AMD = 0x4043,
};

// ---- objects --------------------------------------------------------------------------------------------------------

struct gpu_program {
    cl_program program;
    const char *name; // of the kernel
    int group[3];
};

struct record {
    cl_kernel kernel;
    const char *name;
    size_t global[3], group[3];
};

struct view {
    const struct gpu_buffer *buffer;
    size_t offset, bytes;
    cl_mem memory;
};

struct gpu_list {
    struct gpu_device *device;
    struct record *records;
    int record_count, record_capacity;
    struct view *views;
    int view_count, view_capacity;
    struct gpu_image_uses shared; // buffers that stand for images, or are made of memory of the application
};

// ---- errors ---------------------------------------------------------------------------------------------------------

// clang-format off
#define ERRORS(X) \
    X(CL_DEVICE_NOT_FOUND) X(CL_DEVICE_NOT_AVAILABLE) X(CL_COMPILER_NOT_AVAILABLE) \
    X(CL_MEM_OBJECT_ALLOCATION_FAILURE) X(CL_OUT_OF_RESOURCES) X(CL_OUT_OF_HOST_MEMORY) \
    X(CL_PROFILING_INFO_NOT_AVAILABLE) X(CL_MEM_COPY_OVERLAP) X(CL_IMAGE_FORMAT_NOT_SUPPORTED) \
    X(CL_BUILD_PROGRAM_FAILURE) X(CL_MAP_FAILURE) X(CL_MISALIGNED_SUB_BUFFER_OFFSET) \
    X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) X(CL_COMPILE_PROGRAM_FAILURE) X(CL_LINKER_NOT_AVAILABLE) \
    X(CL_LINK_PROGRAM_FAILURE) X(CL_DEVICE_PARTITION_FAILED) X(CL_KERNEL_ARG_INFO_NOT_AVAILABLE) \
    X(CL_INVALID_VALUE) X(CL_INVALID_PLATFORM) X(CL_INVALID_DEVICE) X(CL_INVALID_CONTEXT) \
    X(CL_INVALID_QUEUE_PROPERTIES) X(CL_INVALID_COMMAND_QUEUE) X(CL_INVALID_HOST_PTR) X(CL_INVALID_MEM_OBJECT) \
    X(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR) X(CL_INVALID_IMAGE_SIZE) X(CL_INVALID_SAMPLER) X(CL_INVALID_BINARY) \
    X(CL_INVALID_BUILD_OPTIONS) X(CL_INVALID_PROGRAM) X(CL_INVALID_PROGRAM_EXECUTABLE) X(CL_INVALID_KERNEL_NAME) \
    X(CL_INVALID_KERNEL_DEFINITION) X(CL_INVALID_KERNEL) X(CL_INVALID_ARG_INDEX) X(CL_INVALID_ARG_VALUE) \
    X(CL_INVALID_ARG_SIZE) X(CL_INVALID_KERNEL_ARGS) X(CL_INVALID_WORK_DIMENSION) X(CL_INVALID_WORK_GROUP_SIZE) \
    X(CL_INVALID_WORK_ITEM_SIZE) X(CL_INVALID_GLOBAL_OFFSET) X(CL_INVALID_EVENT_WAIT_LIST) X(CL_INVALID_EVENT) \
    X(CL_INVALID_GL_OBJECT) X(CL_INVALID_BUFFER_SIZE) X(CL_INVALID_MIP_LEVEL) X(CL_INVALID_PROPERTY) \
    X(CL_INVALID_IMAGE_DESCRIPTOR) X(CL_INVALID_COMPILER_OPTIONS) X(CL_INVALID_LINKER_OPTIONS) \
    X(CL_INVALID_DEVICE_PARTITION_COUNT) X(CL_IMAGE_FORMAT_MISMATCH) X(CL_INVALID_DEVICE_TYPE) \
    X(CL_INVALID_OPERATION) X(CL_INVALID_GLOBAL_WORK_SIZE)
// clang-format on

static const char *error_name(cl_int code)
{
    switch (code) {
#define X(name) \
    case name: return #name;
        ERRORS(X)
#undef X
    case -9999: return "illegal memory access (NVIDIA)";
    default: return "unknown error";
    }
}

// After one of these errors no further call on the device succeeds.
static bool means_lost(cl_int code)
{
    return code == CL_DEVICE_NOT_AVAILABLE || code == CL_INVALID_COMMAND_QUEUE || code == CL_INVALID_CONTEXT ||
           code == CL_INVALID_DEVICE || code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST || code == -9999;
}

static const char *advice(cl_int code)
{
    switch (code) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
        return "; the device is short of memory, or a kernel failed: free memory, or use half precision";
    case CL_OUT_OF_HOST_MEMORY: return "; free memory of this process";
    case CL_COMPILER_NOT_AVAILABLE: return "; install a driver with a compiler";
    default: return "";
    }
}

bool gpu_opencl_check(struct gpu_device *device, cl_int code, const char *function, const char *about)
{
    if (code == CL_SUCCESS) return true;
    if (means_lost(code)) device->base.lost = true;
    return gpu_device_fail(&device->base, "%s (%s) failed: %s (%d)%s%s", function, about, error_name(code), (int)code,
                           advice(code), device->base.lost ? GPU_DEVICE_IS_LOST : "");
}

// ---- devices --------------------------------------------------------------------------------------------------------

static int opencl_count(const char **why)
{
    const struct opencl_library *library = gpu_opencl_library();
    if (why) *why = library->why;
    return library->count;
}

// A text property of the device, malloc'ed; NULL if there is none.
static char *device_text(const struct opencl_api *cl, cl_device_id id, cl_device_info property)
{
    size_t bytes = 0;
    if (cl->clGetDeviceInfo(id, property, 0, NULL, &bytes) != CL_SUCCESS || bytes == 0) return NULL;
    char *text = calloc(1, bytes + 1);
    if (text && cl->clGetDeviceInfo(id, property, bytes, text, NULL) == CL_SUCCESS) return text;
    free(text);
    return NULL;
}

// A number property of the device, 32 or 64 bits wide; 0 if there is none.
static uint64_t device_number(const struct opencl_api *cl, cl_device_id id, cl_device_info property)
{
    union {
        uint32_t narrow;
        uint64_t wide;
    } value = {.wide = 0};
    size_t bytes = 0;
    if (cl->clGetDeviceInfo(id, property, sizeof value, &value, &bytes) != CL_SUCCESS) return 0;
    return bytes == sizeof value.narrow ? value.narrow : value.wide;
}

static int to_int(uint64_t value)
{
    return value > INT_MAX ? INT_MAX : (int)value;
}

static enum gpu_vendor find_vendor(const struct opencl_api *cl, cl_device_id id)
{
    if (device_number(cl, id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) return GPU_VENDOR_SOFTWARE;
    char *text = device_text(cl, id, CL_DEVICE_VENDOR);
    enum gpu_vendor vendor = gpu_vendor_of_text(text);
    free(text);
    return vendor;
}

static int find_subgroup_size(const struct opencl_api *cl, cl_device_id id, enum gpu_vendor vendor)
{
    if (vendor == GPU_VENDOR_NVIDIA) return to_int(device_number(cl, id, WARP_SIZE_NV));
    if (vendor == GPU_VENDOR_AMD) return to_int(device_number(cl, id, WAVEFRONT_WIDTH_AMD));
    return 0;
}

struct c_version {
    uint32_t number; // the major version from bit 22 on
    char name[64];
};

static bool has_c_30(const struct opencl_api *cl, cl_device_id id)
{
    struct c_version versions[16];
    size_t bytes = 0;
    if (cl->clGetDeviceInfo(id, C_VERSIONS, sizeof versions, versions, &bytes) != CL_SUCCESS) return false;
    for (size_t i = 0; i < bytes / sizeof *versions; i++)
        if (versions[i].number >> 22 == 3) return true;
    return false;
}

// The compute capability of a device of NVIDIA's, 90 for 9.0, as far as its compiler knows the instructions: copies in
// bulk are PTX 8.0, which came with driver 525. 0: another device.
static int capability_of(const struct opencl_api *cl, cl_device_id id, const char *extensions, const char *driver)
{
    if (!gpu_name_list_has(extensions, "cl_nv_device_attribute_query")) return 0;
    const int capability =
        to_int(10 * device_number(cl, id, CAPABILITY_MAJOR_NV) + device_number(cl, id, CAPABILITY_MINOR_NV));
    return capability > 89 && atoi(driver) < 525 ? 89 : capability;
}

// An instruction for the product of four packed bytes: NVIDIA's from compute capability 6.1 on, or that of the
// extension, if the device says that it is fast and compiles OpenCL C 3.0, which has the function.
static bool has_byte_dots(const struct opencl_api *cl, cl_device_id id, const char *extensions, int capability)
{
    if (capability > 0) return capability >= 61;
    if (!gpu_name_list_has(extensions, "cl_khr_integer_dot_product")) return false;
    cl_bool fast[6] = {CL_FALSE}; // signed, unsigned, mixed, and the same three with sums that saturate
    return has_c_30(cl, id) && (device_number(cl, id, DOT_PRODUCTS_KHR) & 1) != 0 &&
           cl->clGetDeviceInfo(id, FAST_PACKED_DOTS_KHR, sizeof fast, fast, NULL) == CL_SUCCESS && fast[0];
}

// *capability: as capability_of says.
static bool fill_caps(const struct opencl_api *cl, cl_device_id id, struct gpu_caps *caps, int *capability)
{
    char *name = device_text(cl, id, CL_DEVICE_NAME), *version = device_text(cl, id, CL_DEVICE_VERSION);
    char *driver = device_text(cl, id, CL_DRIVER_VERSION), *extensions = device_text(cl, id, CL_DEVICE_EXTENSIONS);
    bool ok = name && version && driver && extensions;
    *caps = (struct gpu_caps){.half_storage = true}; // vload_half4 is core
    *capability = 0;
    if (ok) {
        // The version's text is "OpenCL 3.0" and what the vendor adds, of which only the number is kept.
        const char *end = strncmp(version, "OpenCL ", 7) == 0 ? strchr(version + 7, ' ') : NULL;
        int length = end ? (int)(end - version) : (int)strlen(version);
        snprintf(caps->name, sizeof caps->name, "%s", name);
        snprintf(caps->driver, sizeof caps->driver, "%.*s, driver %s", length, version, driver);
        caps->half_math = gpu_name_list_has(extensions, "cl_khr_fp16");
        *capability = capability_of(cl, id, extensions, driver);
        caps->byte_dots = has_byte_dots(cl, id, extensions, *capability);
    }
    free(name);
    free(version);
    free(driver);
    free(extensions);

    size_t sizes[16] = {0};
    ok = ok && cl->clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, NULL) == CL_SUCCESS;
    caps->vendor = find_vendor(cl, id);
    caps->software = caps->vendor == GPU_VENDOR_SOFTWARE;
    caps->integrated = !caps->software && device_number(cl, id, CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
    caps->memory = device_number(cl, id, CL_DEVICE_GLOBAL_MEM_SIZE);
    uint64_t most = device_number(cl, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    caps->max_buffer = most > SIZE_MAX / 2 ? SIZE_MAX / 2 : (size_t)most;
    caps->max_group_size = to_int(device_number(cl, id, CL_DEVICE_MAX_WORK_GROUP_SIZE));
    for (int i = 0; i < 3; i++) {
        caps->max_group[i] = to_int(sizes[i]);
        caps->max_groups[i] = INT_MAX; // the width of an index; NVIDIA's driver takes more than its hardware's 65535
    }
    caps->shared_bytes = to_int(device_number(cl, id, CL_DEVICE_LOCAL_MEM_SIZE));
    if (*capability >= 80) {
        caps->matrix_forms = 1u << MATRIX_FLOATS | 1u << MATRIX_SPLIT | 1u << MATRIX_HALVES | 1u << MATRIX_NARROW;
        caps->dynamic_shared_bytes = caps->shared_bytes - SHARED_BESIDE;
    }
    caps->compute_units = to_int(device_number(cl, id, CL_DEVICE_MAX_COMPUTE_UNITS));
    caps->subgroup_size = find_subgroup_size(cl, id, caps->vendor);
    return ok && caps->max_buffer > 0 && caps->max_group_size > 0;
}

static bool opencl_describe(int index, struct gpu_caps *caps)
{
    const struct opencl_library *library = gpu_opencl_library();
    int capability;
    return index >= 0 && index < library->count &&
           fill_caps(library->devices[index].cl, library->devices[index].id, caps, &capability);
}

static void opencl_close(struct gpu_device *device)
{
    if (!device) return;
    gpu_device_end(&device->base);
    if (!device->base.is_abandoned) {
        if (device->staged)
            device->cl->clEnqueueUnmapMemObject(device->queue, device->staging, device->staged, 0, NULL, NULL);
        if (device->staging) device->cl->clReleaseMemObject(device->staging);
        if (device->sent) device->cl->clReleaseEvent(device->sent);
        if (device->clocked) device->cl->clReleaseCommandQueue(device->clocked);
        if (device->queue) device->cl->clReleaseCommandQueue(device->queue);
        if (device->context) device->cl->clReleaseContext(device->context);
        free(device->read);
    }
    free(device);
}

static struct gpu_device *create_device(const struct opencl_found *found, int index, const struct hl_reporter *reporter)
{
    struct gpu_device *device = calloc(1, sizeof *device);
    if (!device) {
        hl_report(reporter, API ": out of memory for a device");
        return NULL;
    }
    *device = (struct gpu_device){.base.api = API, .cl = found->cl, .id = found->id};
    if (reporter) device->base.reporter = *reporter;
    if (fill_caps(device->cl, device->id, &device->base.caps, &device->capability)) {
        device->unstaged = device->base.caps.software; // staging would copy twice in the same memory
        return device;
    }
    hl_report(reporter, "OpenCL device %d does not say what it is: check its driver with clinfo", index);
    opencl_close(device);
    return NULL;
}

// Without a queue: creates one.
static bool open_queue(struct gpu_device *device)
{
    cl_int code = CL_SUCCESS;
    if (!device->queue) device->queue = device->cl->clCreateCommandQueue(device->context, device->id, 0, &code);
    return gpu_opencl_check(device, code, "clCreateCommandQueue", "opening the device");
}

static struct gpu_device *opencl_open(int index, const struct hl_reporter *reporter)
{
    const struct opencl_library *library = gpu_opencl_library();
    if (!gpu_device_exists(API, index, library->count, library->why, reporter)) return NULL;
    struct gpu_device *device = create_device(&library->devices[index], index, reporter);
    if (!device) return NULL;
    cl_int code;
    device->context = device->cl->clCreateContext(NULL, 1, &device->id, NULL, NULL, &code);
    if (gpu_opencl_check(device, code, "clCreateContext", "opening the device") && open_queue(device)) return device;
    opencl_close(device);
    return NULL;
}

// Whether the application's queue belongs to the context and the device, and runs its commands in order.
static bool queue_fits(struct gpu_device *device, cl_command_queue queue)
{
    cl_context context = NULL;
    cl_device_id id = NULL;
    cl_command_queue_properties properties = 0;
    const struct opencl_api *cl = device->cl;
    cl_int code = cl->clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    if (code == CL_SUCCESS) code = cl->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof id, &id, NULL);
    if (code == CL_SUCCESS)
        code = cl->clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    if (!gpu_opencl_check(device, code, "clGetCommandQueueInfo", "the application's queue")) return false;
    if (context != device->context || id != device->id)
        return gpu_device_fail(&device->base, "cl_command_queue is of another context or device than those with it");
    return !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) ||
           gpu_device_fail(&device->base, "cl_command_queue must run its commands in order, and does not");
}

// Keeps the application's context and queue; closing the device releases them.
static bool take_context(struct gpu_device *device, const HaliteGpuContext *from)
{
    const struct opencl_api *cl = device->cl;
    cl_int code = cl->clRetainContext(from->cl_context);
    if (!gpu_opencl_check(device, code, "clRetainContext", "the application's context")) return false;
    device->context = from->cl_context;
    if (!from->cl_command_queue) return open_queue(device);
    if (!queue_fits(device, from->cl_command_queue)) return false;
    code = cl->clRetainCommandQueue(from->cl_command_queue);
    if (!gpu_opencl_check(device, code, "clRetainCommandQueue", "the application's queue")) return false;
    device->queue = from->cl_command_queue;
    return true;
}

static struct gpu_device *opencl_open_shared(const HaliteGpuContext *context, const struct hl_reporter *reporter)
{
    const struct opencl_library *library = gpu_opencl_library();
    int index = 0;
    while (index < library->count && library->devices[index].id != context->cl_device_id) index++;
    if (index == library->count) {
        hl_report(reporter, API ": cl_device_id of the application's context is none of the %d devices here",
                  library->count);
        return NULL;
    }
    struct gpu_device *device = create_device(&library->devices[index], index, reporter);
    if (!device || take_context(device, context)) return device;
    opencl_close(device);
    return NULL;
}

// ---- buffers --------------------------------------------------------------------------------------------------------

// An error is an end, too, which clWaitForEvents says then.
bool gpu_opencl_is_busy(void *about)
{
    const struct opencl_await *await = about;
    cl_int status = CL_COMPLETE;
    return await->cl->clGetEventInfo(await->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL) ==
               CL_SUCCESS &&
           status > CL_COMPLETE;
}

// What was polled does not count as seen: clWaitForEvents makes what the commands wrote visible.
bool gpu_opencl_end_event(struct gpu_device *device, cl_command_queue queue, cl_event event)
{
    struct opencl_await await = {device->cl, event};
    bool ok = gpu_opencl_check(device, device->cl->clFlush(queue), "clFlush", "waiting for a run") &&
              gpu_device_wait(&device->base, gpu_opencl_is_busy, &await) &&
              gpu_opencl_check(device, device->cl->clWaitForEvents(1, &event), "clWaitForEvents", "waiting for a run");
    device->cl->clReleaseEvent(event);
    return ok;
}

bool gpu_opencl_finish(struct gpu_device *device, cl_command_queue queue)
{
    cl_event event = NULL;
    if (queue == device->queue) device->staged_bytes = 0;
    cl_int code = device->cl->clEnqueueMarkerWithWaitList(queue, 0, NULL, &event);
    return gpu_opencl_check(device, code, "clEnqueueMarkerWithWaitList", "waiting for a run") &&
           gpu_opencl_end_event(device, queue, event);
}

void gpu_opencl_buffer_destroy(struct gpu_device *device, struct gpu_buffer *buffer)
{
    if (!buffer) return;
    if (buffer->host && !device->base.is_abandoned && gpu_opencl_memory_unmap(device, buffer, device->queue))
        gpu_opencl_finish(device, device->queue);
    if (!device->base.is_abandoned) {
        if (buffer->memory) device->cl->clReleaseMemObject(buffer->memory);
        if (buffer->image.memory) device->cl->clReleaseMemObject(buffer->image.memory);
    }
    free(buffer);
}

struct gpu_buffer *gpu_opencl_buffer_create(struct gpu_device *device, size_t bytes)
{
    if (!gpu_device_is_alive(&device->base, "create a buffer")) return NULL;
    if (!gpu_device_allows_buffer(&device->base, bytes)) return NULL; // some drivers accept any size and fail later
    struct gpu_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer) return gpu_device_no_memory(&device->base, "a buffer");
    char about[48];
    snprintf(about, sizeof about, "%zu bytes", bytes);
    cl_int code;
    buffer->bytes = bytes;
    buffer->memory = device->cl->clCreateBuffer(device->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    if (gpu_opencl_check(device, code, "clCreateBuffer", about)) return buffer;
    gpu_opencl_buffer_destroy(device, buffer);
    return NULL;
}

static struct gpu_buffer *opencl_buffer_import(struct gpu_device *device, uint64_t handle, size_t *bytes)
{
    const struct opencl_api *cl = device->cl;
    cl_mem memory = (cl_mem)(uintptr_t)handle;
    cl_context context = NULL;
    cl_mem_object_type type = 0;
    size_t there = 0;
    if (!gpu_device_is_alive(&device->base, "take a buffer")) return NULL;
    cl_int code = cl->clGetMemObjectInfo(memory, CL_MEM_TYPE, sizeof type, &type, NULL);
    if (code == CL_SUCCESS) code = cl->clGetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof context, &context, NULL);
    if (code == CL_SUCCESS) code = cl->clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof there, &there, NULL);
    if (!gpu_opencl_check(device, code, "clGetMemObjectInfo", "a buffer of the application")) return NULL;
    if (type != CL_MEM_OBJECT_BUFFER || context != device->context || *bytes > there) {
        gpu_device_fail(&device->base, "the application's cl_mem %s",
                        type != CL_MEM_OBJECT_BUFFER ? "is no buffer"
                        : context != device->context ? "is of another context"
                                                     : "is smaller than it says");
        return NULL;
    }
    struct gpu_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer) return gpu_device_no_memory(&device->base, "a buffer");
    if (!gpu_opencl_check(device, cl->clRetainMemObject(memory), "clRetainMemObject", "a buffer of the application")) {
        free(buffer);
        return NULL;
    }
    *buffer = (struct gpu_buffer){.memory = memory, .bytes = there};
    if (*bytes == 0) *bytes = there;
    return buffer;
}

// Whether a write of this size can go through the staging memory, which is created at its first use. If not, the write
// waits for the queue.
static bool make_staging(struct gpu_device *device, size_t bytes)
{
    const struct opencl_api *cl = device->cl;
    cl_int code;
    if (device->unstaged || bytes > STAGING_BYTES) return false;
    if (!device->staged) {
        if (!gpu_opencl_finish(device, device->queue)) return false; // what is mapped next waits without a limit
        device->unstaged = true;
        device->staging =
            cl->clCreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, STAGING_BYTES, NULL, &code);
        if (code != CL_SUCCESS) return false;
        device->staged = cl->clEnqueueMapBuffer(device->queue, device->staging, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                                STAGING_BYTES, 0, NULL, NULL, &code);
        device->unstaged = code != CL_SUCCESS;
        if (device->unstaged) device->staged = NULL;
    }
    return !device->unstaged &&
           (bytes <= STAGING_BYTES - device->staged_bytes || gpu_opencl_finish(device, device->queue));
}

bool gpu_opencl_buffer_write(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, const void *from,
                             size_t bytes)
{
    if (!gpu_device_is_alive(&device->base, "write a buffer") ||
        !gpu_device_has_range(&device->base, buffer->bytes, offset, bytes, "writing"))
        return false;
    if (bytes == 0) return true;
    if (buffer->host) { // mapped
        if (!gpu_opencl_finish(device, device->queue)) return false;
        gpu_device_copy(&device->base, (unsigned char *)buffer->host + offset, from, bytes);
        return true;
    }
    cl_bool wait = make_staging(device, bytes) ? CL_FALSE : CL_TRUE;
    if (device->base.lost || (wait && !gpu_opencl_finish(device, device->queue))) return false; // as above
    if (!wait) {
        gpu_device_copy(&device->base, device->staged + device->staged_bytes, from, bytes);
        from = device->staged + device->staged_bytes;
        device->staged_bytes += (bytes + STAGING_PIECE - 1) / STAGING_PIECE * STAGING_PIECE;
    }
    cl_int code =
        device->cl->clEnqueueWriteBuffer(device->queue, buffer->memory, wait, offset, bytes, from, 0, NULL, NULL);
    return gpu_opencl_check(device, code, "clEnqueueWriteBuffer", "writing a buffer");
}

// A run that does not end leaves its read behind, which must not hit the caller's memory one day, but memory that stays
// then: the device's own for small reads, or lent memory. Larger reads begin when the run is over.
static bool read_behind(struct gpu_device *device, const struct gpu_buffer *buffer, size_t offset, void *to,
                        size_t bytes)
{
    cl_event event = NULL;
    cl_int code =
        device->cl->clEnqueueReadBuffer(device->queue, buffer->memory, CL_FALSE, offset, bytes, to, 0, NULL, &event);
    device->staged_bytes = 0;
    if (!gpu_opencl_check(device, code, "clEnqueueReadBuffer", "reading a buffer")) return false;
    if (gpu_opencl_end_event(device, device->queue, event)) return true;
    if (to == device->read) device->read = NULL; // nobody knows when the driver is done with it
    return false;
}

static bool opencl_buffer_read(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, void *to,
                               size_t bytes)
{
    if (!gpu_device_is_alive(&device->base, "read a buffer") ||
        !gpu_device_has_range(&device->base, buffer->bytes, offset, bytes, "reading"))
        return false;
    if (bytes == 0) return true;
    if (buffer->host) { // mapped
        if (!gpu_opencl_finish(device, device->queue)) return false;
        gpu_device_copy(&device->base, to, (unsigned char *)buffer->host + offset, bytes);
        return true;
    }
    if (gpu_device_lent_at(&device->base, to, bytes)) return read_behind(device, buffer, offset, to, bytes);
    if (bytes <= OPENCL_READ_BYTES && (device->read || (device->read = malloc(OPENCL_READ_BYTES)))) {
        if (!read_behind(device, buffer, offset, device->read, bytes)) return false;
        memcpy(to, device->read, bytes);
        return true;
    }
    if (!gpu_opencl_finish(device, device->queue)) return false;
    cl_int code =
        device->cl->clEnqueueReadBuffer(device->queue, buffer->memory, CL_TRUE, offset, bytes, to, 0, NULL, NULL);
    return gpu_opencl_check(device, code, "clEnqueueReadBuffer", "reading a buffer");
}

// ---- programs -------------------------------------------------------------------------------------------------------

static void opencl_program_destroy(struct gpu_device *device, struct gpu_program *program)
{
    if (!program) return;
    gpu_program_cache_forget(&device->base.program_cache, program);
    if (program->program && !device->base.is_abandoned) device->cl->clReleaseProgram(program->program);
    free(program);
}

// The beginning of the compiler's log, malloc'ed; NULL if there is none.
static char *build_log(const struct gpu_device *device, cl_program program)
{
    const struct opencl_api *cl = device->cl;
    size_t bytes = 0;
    if (cl->clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) != CL_SUCCESS ||
        bytes == 0)
        return NULL;
    char *log = calloc(1, bytes + 1);
    if (log && cl->clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, bytes, log, NULL) == CL_SUCCESS) {
        if (bytes > LOG_BYTES) memcpy(log + LOG_BYTES - 4, "...", 4);
        return log;
    }
    free(log);
    return NULL;
}

// A program that is being created. Messages are written before or after `compile`, which runs in several threads.
struct compilation {
    struct gpu_device *device;
    struct gpu_program *program;
    char options[96];
    char *text;
    uint64_t key;
    const unsigned char *binary; // from the program cache, or NULL
    size_t binary_size;
    bool cached;      // the program was made from its binary
    const char *call; // the last call and its result
    cl_int code;
};

// Makes the program from its cached binary. False, without a message, if there is none or the driver refuses it.
static bool load_binary(struct compilation *compilation)
{
    const struct gpu_device *device = compilation->device;
    const struct opencl_api *cl = device->cl;
    struct gpu_program *program = compilation->program;
    cl_int code, status;
    if (!compilation->binary) return false;
    program->program = cl->clCreateProgramWithBinary(device->context, 1, &device->id, &compilation->binary_size,
                                                     &compilation->binary, &status, &code);
    if (code == CL_SUCCESS && status == CL_SUCCESS &&
        cl->clBuildProgram(program->program, 1, &device->id, compilation->options, NULL, NULL) == CL_SUCCESS) {
        cl_kernel kernel = cl->clCreateKernel(program->program, program->name, &code);
        if (code == CL_SUCCESS) {
            cl->clReleaseKernel(kernel);
            return true;
        }
    }
    if (program->program) cl->clReleaseProgram(program->program);
    program->program = NULL;
    return false;
}

// Several threads call this at the same time, each for an item of its own.
static void compile(void *arg, int64_t item, int worker)
{
    struct compilation *compilation = (struct compilation *)arg + item;
    const struct gpu_device *device = compilation->device;
    const struct opencl_api *cl = device->cl;
    struct gpu_program *program = compilation->program;
    const char *text = compilation->text;
    (void)worker;
    compilation->cached = load_binary(compilation);
    if (compilation->cached) return;
    compilation->call = "clCreateProgramWithSource";
    program->program = cl->clCreateProgramWithSource(device->context, 1, &text, NULL, &compilation->code);
    if (compilation->code != CL_SUCCESS) return;
    compilation->call = "clBuildProgram";
    compilation->code = cl->clBuildProgram(program->program, 1, &device->id, compilation->options, NULL, NULL);
}

static bool has_compiled(struct compilation *compilation)
{
    struct gpu_device *device = compilation->device;
    const struct gpu_program *program = compilation->program;
    cl_int code = compilation->code;
    if (compilation->cached) return true;
    if (!program->program || (code != CL_BUILD_PROGRAM_FAILURE && code != CL_INVALID_BUILD_OPTIONS))
        return gpu_opencl_check(device, code, compilation->call, program->name);
    char *log = build_log(device, program->program);
    gpu_device_fail(&device->base, "clBuildProgram: kernel %s does not compile: %s (%d); the compiler says:\n%s",
                    program->name, error_name(code), (int)code, log ? log : "nothing");
    free(log);
    return false;
}

// Adds the program's binary to the cache. A driver without binaries only costs a slower next start, so nothing fails.
static void save_binary(struct gpu_device *device, const struct gpu_program *program, uint64_t key)
{
    const struct opencl_api *cl = device->cl;
    size_t size = 0;
    if (cl->clGetProgramInfo(program->program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) != CL_SUCCESS) return;
    unsigned char *binary = size > 0 ? malloc(size) : NULL;
    if (!binary) return;
    if (cl->clGetProgramInfo(program->program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == CL_SUCCESS)
        gpu_program_cache_add(&device->base.program_cache, key, binary, size);
    else
        free(binary);
}

// Whether the work-group fits: a kernel that needs many registers may allow fewer work-items than the device does.
static bool group_fits(struct gpu_device *device, const struct gpu_program *program)
{
    cl_int code;
    cl_kernel kernel = device->cl->clCreateKernel(program->program, program->name, &code);
    if (!gpu_opencl_check(device, code, "clCreateKernel", program->name)) return false;
    size_t most = 0;
    code =
        device->cl->clGetKernelWorkGroupInfo(kernel, device->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
    device->cl->clReleaseKernel(kernel);
    return gpu_opencl_check(device, code, "clGetKernelWorkGroupInfo", program->name) &&
           gpu_device_allows_group(&device->base, program->name, program->group, most);
}

// has_byte_dots knows who has OpenCL C 3.0; NVIDIA's instruction needs none. Only matrix units need the capability.
static void write_options(struct compilation *compilation, const struct gpu_kernel *kernel)
{
    const struct gpu_device *device = compilation->device;
    char *to = compilation->options;
    const size_t room = sizeof compilation->options;
    const bool newer = kernel->byte_dots && device->base.caps.byte_dots && device->capability == 0;
    const int length = snprintf(to, room, "-cl-std=%s" BUILD_OPTIONS, newer ? "CL3.0" : "CL1.2");
    if (kernel->matrix) snprintf(to + length, room - (size_t)length, " -D CAPABILITY_=%d", device->capability);
}

static bool begin(struct gpu_device *device, const struct gpu_program_desc *desc, void *arg)
{
    struct compilation *compilation = arg;
    compilation->device = device;
    write_options(compilation, desc->kernel);
    struct gpu_program *program = compilation->program = calloc(1, sizeof *program);
    char *text = compilation->text =
        gpu_emit(desc->kernel, GPU_OPENCL, desc->precision, desc->floats, desc->constants, desc->group);
    if (!text || !program) return gpu_device_no_memory(&device->base, "a kernel's text");
    program->name = desc->kernel->name;
    memcpy(program->group, desc->group, sizeof program->group);
    if (!device->base.program_cache.open) return true;
    compilation->key = hl_hash(hl_hash(0, compilation->options, strlen(compilation->options) + 1), text, strlen(text));
    compilation->binary =
        gpu_program_cache_find(&device->base.program_cache, compilation->key, &compilation->binary_size);
    return true;
}

static struct gpu_program *end(void *arg, bool ok)
{
    struct compilation *compilation = arg;
    struct gpu_device *device = compilation->device;
    struct gpu_program *program = compilation->program;
    ok = ok && has_compiled(compilation);
    if (ok && device->base.program_cache.open && !compilation->cached)
        gpu_program_cache_postpone(&device->base.program_cache, program, compilation->key);
    free(compilation->text);
    if (ok && group_fits(device, program)) return program;
    opencl_program_destroy(device, program);
    return NULL;
}

static bool opencl_programs_create(struct gpu_device *device, const struct gpu_program_desc *descs, int count,
                                   struct gpu_program **programs)
{
    static const struct gpu_compiler compiler = {sizeof(struct compilation), begin, compile, end, false};
    return gpu_device_compile(device, &compiler, descs, count, programs);
}

// PoCL compiles a kernel for its work-group when it is first enqueued.
static bool opencl_cache_waits(const struct gpu_device *device)
{
    return device->base.program_cache.waiting_count > 0;
}

static bool opencl_cache_save(struct gpu_device *device, void **bytes, size_t *size)
{
    const struct gpu_program_cache *cache = &device->base.program_cache;
    for (int i = 0; i < cache->waiting_count; i++)
        save_binary(device, cache->waiting[i].program, cache->waiting[i].key);
    return gpu_device_save_programs(device, bytes, size);
}

// ---- lists ----------------------------------------------------------------------------------------------------------

static void opencl_list_destroy(struct gpu_list *list)
{
    if (!list) return;
    const struct opencl_api *cl = list->device->cl;
    bool stays = list->device->base.is_abandoned;
    for (int i = 0; i < list->record_count && !stays; i++) cl->clReleaseKernel(list->records[i].kernel);
    // The newest first: NVIDIA's driver crashes if the oldest of several overlapping sub-buffers is released first.
    for (int i = list->view_count; i-- > 0 && !stays;) cl->clReleaseMemObject(list->views[i].memory);
    free(list->records);
    free(list->views);
    free(list->shared.list);
    free(list);
}

static struct gpu_list *opencl_list_create(struct gpu_device *device)
{
    if (!gpu_device_is_alive(&device->base, "create a command list")) return NULL;
    struct gpu_list *list = calloc(1, sizeof *list);
    if (!list) return gpu_device_no_memory(&device->base, "a command list");
    list->device = device;
    return list;
}

// The memory object for a range of a buffer: the buffer's own if the range begins at 0, else a sub-buffer that the list
// owns. NULL after a message.
static cl_mem view_of(struct gpu_list *list, const struct gpu_buffer *buffer, size_t offset, size_t bytes,
                      const char *name)
{
    struct gpu_device *device = list->device;
    if (!gpu_device_has_range(&device->base, buffer->bytes, offset, bytes, "a kernel uses")) return NULL;
    if (offset == 0) return buffer->memory;
    for (int i = 0; i < list->view_count; i++) {
        const struct view *view = &list->views[i];
        if (view->buffer == buffer && view->offset == offset && view->bytes == bytes) return view->memory;
    }
    struct view *views = hl_grow(list->views, list->view_count, &list->view_capacity, sizeof *views);
    if (!views) return gpu_device_no_memory(&device->base, "a command list");
    list->views = views;
    cl_int code;
    cl_buffer_region region = {.origin = offset, .size = bytes};
    cl_mem memory = device->cl->clCreateSubBuffer(buffer->memory, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    // The alignment is not checked earlier, because NVIDIA's driver reports 512 bytes and accepts fewer.
    if (code == CL_MISALIGNED_SUB_BUFFER_OFFSET) {
        gpu_device_fail(&device->base,
                        "clCreateSubBuffer: kernel %s uses a buffer at offset %zu: %s; the device wants "
                        "multiples of %zu",
                        name, offset, error_name(code),
                        (size_t)device_number(device->cl, device->id, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8); // in bits
        return NULL;
    }
    if (!gpu_opencl_check(device, code, "clCreateSubBuffer", name)) return NULL;
    list->views[list->view_count++] =
        (struct view){.buffer = buffer, .offset = offset, .bytes = bytes, .memory = memory};
    return memory;
}

static bool note_use(struct gpu_list *list, struct gpu_buffer *buffer, bool written)
{
    if (!buffer->host && (!buffer->image.memory || buffer->image.is_input == written)) return true;
    return gpu_image_uses_add(&list->shared, buffer) || gpu_device_no_memory(&list->device->base, "a command list");
}

// Enqueues what comes before the first kernel (copies of inputs, memory goes to the device), or after the last one.
static bool exchange(const struct gpu_list *list, cl_command_queue queue, bool begins)
{
    for (int i = 0; i < list->shared.count; i++) {
        const struct gpu_buffer *buffer = list->shared.list[i];
        bool ok = true;
        if (buffer->host)
            ok = (begins ? gpu_opencl_memory_unmap : gpu_opencl_memory_map)(list->device, buffer, queue);
        else if (buffer->image.is_input == begins)
            ok = gpu_opencl_image_copy(list->device, buffer, queue);
        if (!ok) return false;
    }
    return true;
}

static bool set_arguments(struct gpu_list *list, cl_kernel kernel, const struct gpu_dispatch *dispatch)
{
    struct gpu_device *device = list->device;
    const char *name = dispatch->program->name;
    for (int i = 0; i < dispatch->buffer_count; i++) {
        cl_mem memory = view_of(list, dispatch->buffers[i], dispatch->offsets[i], dispatch->sizes[i], name);
        if (!memory || !note_use(list, dispatch->buffers[i], dispatch->writes[i])) return false;
        cl_int code = device->cl->clSetKernelArg(kernel, (cl_uint)i, sizeof memory, &memory);
        if (!gpu_opencl_check(device, code, "clSetKernelArg", name)) return false;
    }
    if (dispatch->param_count == 0) return true;
    cl_int code =
        device->cl->clSetKernelArg(kernel, (cl_uint)dispatch->buffer_count,
                                   (size_t)dispatch->param_count * sizeof dispatch->params[0], dispatch->params);
    return gpu_opencl_check(device, code, "clSetKernelArg", name);
}

static bool opencl_list_dispatch(struct gpu_list *list, const struct gpu_dispatch *dispatch)
{
    struct gpu_device *device = list->device;
    const struct gpu_program *program = dispatch->program;
    if (!gpu_device_is_alive(&device->base, "record a kernel")) return false;
    struct record *records = hl_grow(list->records, list->record_count, &list->record_capacity, sizeof *records);
    if (!records) return gpu_device_no_memory(&device->base, "a command list");
    list->records = records;
    struct record record = {.name = program->name};
    for (int i = 0; i < 3; i++) {
        record.group[i] = (size_t)program->group[i];
        record.global[i] = record.group[i] * (size_t)dispatch->groups[i];
    }
    if (!gpu_device_allows_groups(&device->base, program->name, dispatch->groups)) return false;
    cl_int code; // each dispatch needs its own kernel object, because arguments belong to the object
    record.kernel = device->cl->clCreateKernel(program->program, program->name, &code);
    if (!gpu_opencl_check(device, code, "clCreateKernel", program->name)) return false;
    if (!set_arguments(list, record.kernel, dispatch)) {
        device->cl->clReleaseKernel(record.kernel);
        return false;
    }
    list->records[list->record_count++] = record;
    return true;
}

// Nothing is recorded: the queue is in order, so every dispatch sees what earlier ones wrote.
static bool opencl_list_barrier(struct gpu_list *list)
{
    return gpu_device_is_alive(&list->device->base, "record a barrier");
}

static bool opencl_list_finish(struct gpu_list *list)
{
    return gpu_device_is_alive(&list->device->base, "end a command list");
}

static bool enqueue(struct gpu_list *list, cl_command_queue queue, int index, cl_event *event)
{
    const struct record *record = &list->records[index];
    cl_int code = list->device->cl->clEnqueueNDRangeKernel(queue, record->kernel, 3, NULL, record->global,
                                                           record->group, 0, NULL, event);
    return gpu_opencl_check(list->device, code, "clEnqueueNDRangeKernel", record->name);
}

static bool opencl_list_run(struct gpu_list *list)
{
    struct gpu_device *device = list->device;
    if (!gpu_device_is_alive(&device->base, "run")) return false;
    if (!exchange(list, device->queue, true)) return false;
    for (int i = 0; i < list->record_count; i++)
        if (!enqueue(list, device->queue, i, NULL)) return false;
    if (!exchange(list, device->queue, false)) return false;
    return gpu_opencl_check(device, device->cl->clFlush(device->queue), "clFlush", "running a command list") &&
           gpu_opencl_await_sent(device);
}

static bool opencl_list_wait(struct gpu_list *list)
{
    return gpu_device_is_alive(&list->device->base, "wait for a run") &&
           gpu_opencl_finish(list->device, list->device->queue);
}

static bool read_clock(struct gpu_device *device, cl_event event, uint64_t *nanoseconds)
{
    cl_ulong start = 0, end = 0;
    cl_int code = device->cl->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    if (code == CL_SUCCESS)
        code = device->cl->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    *nanoseconds = end > start ? end - start : 0;
    return gpu_opencl_check(device, code, "clGetEventProfilingInfo", "profiling");
}

static bool open_clocked_queue(struct gpu_device *device)
{
    cl_int code = CL_SUCCESS;
    if (!device->clocked)
        device->clocked =
            device->cl->clCreateCommandQueue(device->context, device->id, CL_QUEUE_PROFILING_ENABLE, &code);
    return gpu_opencl_check(device, code, "clCreateCommandQueue", "profiling");
}

static bool opencl_list_profile(struct gpu_list *list, uint64_t *nanoseconds, int count)
{
    struct gpu_device *device = list->device;
    if (!gpu_device_is_alive(&device->base, "profile")) return false;
    if (count != list->record_count) {
        return gpu_device_fail(&device->base, "a profile of %d dispatches, but the list has %d", count,
                               list->record_count);
    }
    // The two queues are not synchronized with each other, so the first must be idle.
    if (!gpu_opencl_finish(device, device->queue) || !open_clocked_queue(device)) return false;
    cl_event *events = calloc((size_t)count + 1, sizeof *events);
    if (!events) return gpu_device_no_memory(&device->base, "a profile");
    int enqueued = 0;
    bool ok = exchange(list, device->clocked, true);
    while (ok && enqueued < count && enqueue(list, device->clocked, enqueued, &events[enqueued])) enqueued++;
    ok = ok && enqueued == count && exchange(list, device->clocked, false);
    ok = gpu_opencl_finish(device, device->clocked) && ok;
    for (int i = 0; i < enqueued; i++) {
        ok = ok && read_clock(device, events[i], &nanoseconds[i]);
        device->cl->clReleaseEvent(events[i]);
    }
    free(events);
    return ok;
}

const struct gpu_backend gpu_backend_opencl = {
    .name = "opencl",
    .language = GPU_OPENCL,
    .count = opencl_count,
    .describe = opencl_describe,
    .open = opencl_open,
    .open_shared = opencl_open_shared,
    .close = opencl_close,
    .caps = gpu_device_caps,
    .set_wait_limit = gpu_device_set_wait_limit,
    .buffer_create = gpu_opencl_buffer_create,
    .buffer_import = opencl_buffer_import,
    .image_import = gpu_opencl_image_import,
    .memory_import = gpu_opencl_memory_import,
    .buffer_destroy = gpu_opencl_buffer_destroy,
    .lend = gpu_opencl_lend,
    .take_back = gpu_opencl_take_back,
    .buffer_write = gpu_opencl_buffer_write,
    .buffer_send = gpu_opencl_buffer_send,
    .buffer_read = opencl_buffer_read,
    .programs_create = opencl_programs_create,
    .program_destroy = opencl_program_destroy,
    .cache_load = gpu_device_load_programs,
    .cache_waits = opencl_cache_waits,
    .cache_save = opencl_cache_save,
    .list_create = opencl_list_create,
    .list_dispatch = opencl_list_dispatch,
    .list_barrier = opencl_list_barrier,
    .list_finish = opencl_list_finish,
    .list_run = opencl_list_run,
    .list_wait = opencl_list_wait,
    .list_profile = opencl_list_profile,
    .list_destroy = opencl_list_destroy,
    .fence_type = gpu_opencl_fence_type,
    .buffer_type = HALITE_BUFFER_CL,
    .fence_await = gpu_opencl_fence_await,
    .fence_signal = gpu_opencl_fence_signal,
    .makes_fences = true,
    .fence_create = gpu_opencl_fence_create,
    .fence_wait = gpu_opencl_fence_wait,
    .fence_destroy = gpu_opencl_fence_destroy,
};
