// SPDX-License-Identifier: Apache-2.0
// See application.h. OpenCL's functions come from the table of the backend under test, which is only a way to find
// them.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/library.h"
#include "base/loader_names.h"
#include "gpu/application/application.h"
#include "gpu/backend/opencl_api.h"

static struct {
    const struct opencl_api *cl;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue, other; // other: the delegate knows nothing of it
    cl_program program;
    cl_kernel fill, inspect;
    cl_mem sums;
    cl_event gate;
} app;

static const char text[] = "__kernel void fill(__global float *x, int first) {\n"
                           "    int i = (int)get_global_id(0);\n"
                           "    x[first + i] = (float)(i % 7 - 3) * 0.5f;\n"
                           "}\n"
                           "__kernel void inspect(__global const float *y, int first, __global float *sums) {\n"
                           "    int i = (int)get_global_id(0);\n"
                           "    sums[i] = y[first + i] + 1.0f;\n"
                           "}\n";

static bool begin(HaliteGpuContext *context)
{
    const struct opencl_library *library = gpu_opencl_library();
    const char *source = text;
    cl_int code;
    if (library->count == 0) return false;
    app.cl = library->devices[0].cl;
    app.device = library->devices[0].id;
    app.context = app.cl->clCreateContext(NULL, 1, &app.device, NULL, NULL, &code);
    app.queue = app.cl->clCreateCommandQueue(app.context, app.device, 0, &code);
    app.other = app.cl->clCreateCommandQueue(app.context, app.device, 0, &code);
    app.program = app.cl->clCreateProgramWithSource(app.context, 1, &source, NULL, &code);
    assert_int_equal(app.cl->clBuildProgram(app.program, 1, &app.device, "", NULL, NULL), CL_SUCCESS);
    app.fill = app.cl->clCreateKernel(app.program, "fill", &code);
    app.inspect = app.cl->clCreateKernel(app.program, "inspect", &code);
    app.sums = app.cl->clCreateBuffer(app.context, CL_MEM_READ_WRITE, APPLICATION_ROOM, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    *context = (HaliteGpuContext){.struct_size = sizeof *context,
                                  .api = kHaliteGpuApiOpenCl,
                                  .cl_context = app.context,
                                  .cl_device_id = app.device,
                                  .cl_command_queue = app.queue};
    return true;
}

static void end(void)
{
    app.cl->clReleaseMemObject(app.sums);
    app.cl->clReleaseKernel(app.inspect);
    app.cl->clReleaseKernel(app.fill);
    app.cl->clReleaseProgram(app.program);
    app.cl->clReleaseCommandQueue(app.queue);
    app.cl->clReleaseCommandQueue(app.other);
    app.cl->clReleaseContext(app.context);
}

static cl_mem memory_of(uint64_t buffer)
{
    return (cl_mem)(uintptr_t)buffer;
}

static uint64_t create(size_t bytes)
{
    cl_int code;
    cl_mem memory = app.cl->clCreateBuffer(app.context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    return (uint64_t)(uintptr_t)memory;
}

static void destroy(uint64_t buffer)
{
    app.cl->clReleaseMemObject(memory_of(buffer));
}

static void enqueue(cl_command_queue queue, cl_kernel kernel, uint64_t buffer, size_t offset, int count,
                    const cl_event *after, cl_event *done)
{
    cl_mem memory = memory_of(buffer);
    cl_int first = (cl_int)(offset / sizeof(float));
    size_t global = (size_t)count;
    app.cl->clSetKernelArg(kernel, 0, sizeof memory, &memory);
    app.cl->clSetKernelArg(kernel, 1, sizeof first, &first);
    assert_int_equal(app.cl->clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, after ? 1 : 0, after, done),
                     CL_SUCCESS);
}

static void start(cl_kernel kernel, uint64_t buffer, size_t offset, int count)
{
    enqueue(app.queue, kernel, buffer, offset, count, NULL, NULL);
}

static void fill(uint64_t buffer, size_t offset, int count)
{
    start(app.fill, buffer, offset, count);
}

static void read_memory(cl_command_queue queue, cl_mem memory, size_t offset, void *to, size_t bytes)
{
    assert_int_equal(app.cl->clEnqueueReadBuffer(queue, memory, CL_TRUE, offset, bytes, to, 0, NULL, NULL), CL_SUCCESS);
}

static void inspect(uint64_t buffer, size_t offset, int count, float *to)
{
    app.cl->clSetKernelArg(app.inspect, 2, sizeof app.sums, &app.sums);
    start(app.inspect, buffer, offset, count);
    read_memory(app.queue, app.sums, 0, to, (size_t)count * sizeof *to);
}

static void write(uint64_t buffer, size_t offset, const void *from, size_t bytes)
{
    cl_int code =
        app.cl->clEnqueueWriteBuffer(app.queue, memory_of(buffer), CL_TRUE, offset, bytes, from, 0, NULL, NULL);
    assert_int_equal(code, CL_SUCCESS);
}

static void read(uint64_t buffer, size_t offset, void *to, size_t bytes)
{
    read_memory(app.queue, memory_of(buffer), offset, to, bytes);
}

// ---- fences -------------------------------------------------------------------------------------

static void *pointer(const uint64_t *buffer)
{
    return memory_of(*buffer);
}

static void fill_later(uint64_t buffer, size_t offset, int count, HaliteGpuFence *fence)
{
    cl_int code;
    cl_event done;
    if (!app.gate) app.gate = app.cl->clCreateUserEvent(app.context, &code);
    assert_non_null(app.gate);
    enqueue(app.other, app.fill, buffer, offset, count, &app.gate, &done);
    app.cl->clFlush(app.other);
    *fence = (HaliteGpuFence){.struct_size = sizeof *fence, .handle = (uint64_t)(uintptr_t)done};
}

static void open_gate(void)
{
    assert_int_equal(app.cl->clSetUserEventStatus(app.gate, CL_COMPLETE), CL_SUCCESS);
    app.cl->clReleaseEvent(app.gate);
    app.gate = NULL;
}

static void make_fence(HaliteGpuFence *fence)
{
    *fence = (HaliteGpuFence){.struct_size = sizeof *fence};
}

static void inspect_after(const HaliteGpuFence *fence, uint64_t buffer, size_t offset, int count)
{
    cl_event after = (cl_event)(uintptr_t)fence->handle;
    app.cl->clSetKernelArg(app.inspect, 2, sizeof app.sums, &app.sums);
    enqueue(app.other, app.inspect, buffer, offset, count, &after, NULL);
    app.cl->clFlush(app.other);
}

static void read_sums(int count, float *to)
{
    read_memory(app.other, app.sums, 0, to, (size_t)count * sizeof *to);
}

static void release_fence(const HaliteGpuFence *fence)
{
    app.cl->clReleaseEvent((cl_event)(uintptr_t)fence->handle);
}

// ---- images -------------------------------------------------------------------------------------

// The delegate needs none of these.
#define IMAGE_FUNCTIONS(X)                                                                                       \
    X(cl_mem, clCreateImage,                                                                                     \
      (cl_context, cl_mem_flags, const cl_image_format *, const cl_image_desc *, void *, cl_int *))              \
    X(cl_int, clEnqueueWriteImage,                                                                               \
      (cl_command_queue, cl_mem, cl_bool, const size_t *, const size_t *, size_t, size_t, const void *, cl_uint, \
       const cl_event *, cl_event *))                                                                            \
    X(cl_int, clEnqueueReadImage,                                                                                \
      (cl_command_queue, cl_mem, cl_bool, const size_t *, const size_t *, size_t, size_t, void *, cl_uint,       \
       const cl_event *, cl_event *))
static struct {
#define X(result, name, arguments) result(CL_API_CALL *name) arguments;
    IMAGE_FUNCTIONS(X)
#undef X
} more;

static uint64_t image_create(int width, int height, HaliteGpuElement element)
{
    static const cl_channel_type types[] = {[kHaliteGpuElementFloat32] = CL_FLOAT,
                                            [kHaliteGpuElementFloat16] = CL_HALF_FLOAT,
                                            [kHaliteGpuElementRgba8] = CL_UNORM_INT8};
    struct hl_library *library = hl_library_open_first(hl_loader_names.opencl);
    if (!library) return 0;
#define X(result, name, arguments) \
    if (!hl_library_find(library, #name, &more.name, sizeof more.name)) return 0;
    IMAGE_FUNCTIONS(X)
#undef X
    cl_image_format format = {CL_RGBA, types[element]};
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                          .image_width = (size_t)width,
                          .image_height = (size_t)height};
    cl_int code;
    cl_mem memory = more.clCreateImage(app.context, CL_MEM_READ_WRITE, &format, &desc, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    return application_image_add(width, height, element)->handle = (uint64_t)(uintptr_t)memory;
}

static void image_destroy(uint64_t image)
{
    app.cl->clReleaseMemObject(memory_of(image));
    application_image_find(image)->handle = 0;
}

static const size_t origin[3];

static void image_write(uint64_t image, const void *texels, int layout)
{
    const struct application_image *own = application_image_find(image);
    const size_t region[3] = {(size_t)own->width, (size_t)own->height, 1};
    (void)layout;
    cl_int code =
        more.clEnqueueWriteImage(app.queue, memory_of(image), CL_TRUE, origin, region, 0, 0, texels, 0, NULL, NULL);
    assert_int_equal(code, CL_SUCCESS);
}

static void image_read(uint64_t image, void *texels, int layout)
{
    const struct application_image *own = application_image_find(image);
    const size_t region[3] = {(size_t)own->width, (size_t)own->height, 1};
    (void)layout;
    cl_int code =
        more.clEnqueueReadImage(app.queue, memory_of(image), CL_TRUE, origin, region, 0, 0, texels, 0, NULL, NULL);
    assert_int_equal(code, CL_SUCCESS);
}

const struct application application_opencl = {
    .name = "opencl",
    .begin = begin,
    .end = end,
    .create = create,
    .destroy = destroy,
    .fill = fill,
    .inspect = inspect,
    .write = write,
    .read = read,
    .image_create = image_create,
    .image_destroy = image_destroy,
    .image_write = image_write,
    .image_read = image_read,
    .buffer_type = HALITE_BUFFER_CL,
    .fence_type = HALITE_FENCE_CL,
    APPLICATION_FENCES,
};
