// SPDX-License-Identifier: Apache-2.0
// See application.h. OpenCL's functions come from the table of the backend under test, which is only a way to find
// them.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "gpu/application/application.h"
#include "gpu/backend/opencl_api.h"

static struct {
    const struct opencl_api *cl;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel fill, inspect;
    cl_mem sums;
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

static void start(cl_kernel kernel, uint64_t buffer, size_t offset, int count)
{
    cl_mem memory = memory_of(buffer);
    cl_int first = (cl_int)(offset / sizeof(float));
    size_t global = (size_t)count;
    app.cl->clSetKernelArg(kernel, 0, sizeof memory, &memory);
    app.cl->clSetKernelArg(kernel, 1, sizeof first, &first);
    assert_int_equal(app.cl->clEnqueueNDRangeKernel(app.queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL),
                     CL_SUCCESS);
}

static void fill(uint64_t buffer, size_t offset, int count)
{
    start(app.fill, buffer, offset, count);
}

static void read_memory(cl_mem memory, size_t offset, void *to, size_t bytes)
{
    assert_int_equal(app.cl->clEnqueueReadBuffer(app.queue, memory, CL_TRUE, offset, bytes, to, 0, NULL, NULL),
                     CL_SUCCESS);
}

static void inspect(uint64_t buffer, size_t offset, int count, float *to)
{
    app.cl->clSetKernelArg(app.inspect, 2, sizeof app.sums, &app.sums);
    start(app.inspect, buffer, offset, count);
    read_memory(app.sums, 0, to, (size_t)count * sizeof *to);
}

static void write(uint64_t buffer, size_t offset, const void *from, size_t bytes)
{
    cl_int code =
        app.cl->clEnqueueWriteBuffer(app.queue, memory_of(buffer), CL_TRUE, offset, bytes, from, 0, NULL, NULL);
    assert_int_equal(code, CL_SUCCESS);
}

static void read(uint64_t buffer, size_t offset, void *to, size_t bytes)
{
    read_memory(memory_of(buffer), offset, to, bytes);
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
};
