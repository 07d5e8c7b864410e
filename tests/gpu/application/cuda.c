// SPDX-License-Identifier: Apache-2.0
// See application.h. The driver's and the compiler's functions come from the tables of the backend under test, which
// are only a way to find them. The context is the primary one of the first device, the stream the application's own.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "gpu/application/application.h"
#include "gpu/backend/cuda_api.h"

static struct {
    const struct cuda_api *cuda;
    struct cuda_context *context;
    struct cuda_stream *stream;
    struct cuda_module *modules[2];
    struct cuda_function *fill, *inspect;
    cuda_pointer sums;
} app;

#define MUST(...) assert_int_equal(__VA_ARGS__, CUDA_OK)

static const char fill_text[] = "extern \"C\" __global__ void\n"
                                "fill(float *x)\n"
                                "{\n"
                                "    int i = (int)blockIdx.x;\n"
                                "    x[i] = (float)(i % 7 - 3) * 0.5f;\n"
                                "}\n";
static const char inspect_text[] = "extern \"C\" __global__ void\n"
                                   "inspect(const float *y, float *sums)\n"
                                   "{\n"
                                   "    int i = (int)blockIdx.x;\n"
                                   "    sums[i] = y[i] + 1.0f;\n"
                                   "}\n";

static void enter(void)
{
    MUST(app.cuda->context_push(app.context));
}

static void leave(void)
{
    struct cuda_context *context;
    MUST(app.cuda->context_pop(&context));
    assert_ptr_equal(context, app.context); // whatever was done meanwhile
}

static struct cuda_function *make_function(struct cuda_module **module, const char *name, const char *text)
{
    const struct nvrtc_api *nvrtc = &gpu_cuda_library()->nvrtc;
    struct nvrtc_program *program;
    struct cuda_function *function;
    int major = 0, minor = 0;
    char architecture[48];
    size_t size;
    MUST(app.cuda->device_attribute(&major, CUDA_CAPABILITY_MAJOR, 0));
    MUST(app.cuda->device_attribute(&minor, CUDA_CAPABILITY_MINOR, 0));
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d", 10 * major + minor);
    const char *const options[] = {architecture};
    MUST(nvrtc->create(&program, text, name, 0, NULL, NULL));
    MUST(nvrtc->compile(program, 1, options));
    MUST(nvrtc->binary_size(program, &size));
    char *binary = malloc(size + 1);
    assert_non_null(binary);
    MUST(nvrtc->binary(program, binary));
    MUST(nvrtc->destroy(&program));
    MUST(app.cuda->module_load(module, binary));
    free(binary);
    MUST(app.cuda->module_function(&function, *module, name));
    return function;
}

static uint64_t create(size_t bytes)
{
    cuda_pointer address;
    enter();
    MUST(app.cuda->memory_allocate(&address, bytes));
    leave();
    return (uint64_t)address;
}

static void destroy(uint64_t buffer)
{
    enter();
    MUST(app.cuda->memory_free((cuda_pointer)buffer));
    leave();
}

static bool begin(HaliteGpuContext *context)
{
    const struct cuda_library *library = gpu_cuda_library();
    cuda_device_id id;
    if (library->count == 0) return false;
    app.cuda = &library->cuda;
    MUST(app.cuda->device_get(&id, 0));
    MUST(app.cuda->context_retain(&app.context, id));
    enter();
    MUST(app.cuda->stream_create(&app.stream, CUDA_STREAM_NON_BLOCKING));
    app.fill = make_function(&app.modules[0], "fill", fill_text);
    app.inspect = make_function(&app.modules[1], "inspect", inspect_text);
    leave();
    app.sums = (cuda_pointer)create(APPLICATION_ROOM);
    *context = (HaliteGpuContext){.struct_size = sizeof *context,
                                  .api = kHaliteGpuApiCuda,
                                  .cu_context = app.context,
                                  .cu_stream = app.stream};
    return true;
}

static void end(void)
{
    destroy((uint64_t)app.sums);
    enter();
    for (int i = 0; i < 2; i++) MUST(app.cuda->module_unload(app.modules[i]));
    MUST(app.cuda->stream_destroy(app.stream));
    leave();
    MUST(app.cuda->context_release(0));
}

static void finish(void)
{
    cuda_result code;
    do code = app.cuda->stream_query(app.stream);
    while (code == CUDA_NOT_READY);
    MUST(code);
}

static void launch(struct cuda_function *function, int count, void **arguments)
{
    MUST(app.cuda->launch(function, (unsigned)count, 1, 1, 1, 1, 1, 0, app.stream, arguments, NULL));
}

static void fill(uint64_t buffer, size_t offset, int count)
{
    cuda_pointer at = (cuda_pointer)(buffer + offset);
    void *arguments[] = {&at};
    enter();
    launch(app.fill, count, arguments);
    leave();
}

static void read(uint64_t buffer, size_t offset, void *to, size_t bytes)
{
    enter();
    MUST(app.cuda->copy_to_host(to, (cuda_pointer)(buffer + offset), bytes, app.stream));
    finish();
    leave();
}

static void inspect(uint64_t buffer, size_t offset, int count, float *to)
{
    cuda_pointer at = (cuda_pointer)(buffer + offset);
    void *arguments[] = {&at, &app.sums};
    enter();
    launch(app.inspect, count, arguments);
    leave();
    read((uint64_t)app.sums, 0, to, (size_t)count * sizeof *to);
}

static void write(uint64_t buffer, size_t offset, const void *from, size_t bytes)
{
    enter();
    MUST(app.cuda->copy_to_device((cuda_pointer)(buffer + offset), from, bytes, app.stream));
    finish();
    leave();
}

const struct application application_cuda = {
    .name = "cuda",
    .begin = begin,
    .end = end,
    .create = create,
    .destroy = destroy,
    .fill = fill,
    .inspect = inspect,
    .write = write,
    .read = read,
};
