// SPDX-License-Identifier: Apache-2.0
// See application.h. The application's context is current in the thread of the test, as in programs that draw.
// Functions come from the table of the backend under test, which is only a way to find them.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/application/application.h"
#include "gpu/backend/gles_api.h"

static struct {
    const struct gles_api *gl;
    struct gles_found found;
    struct gles_context context;
    unsigned fill, inspect, sums;
} app;

#define SHADER "#version 310 es\nlayout(local_size_x = 1) in;\n"
static const char fill_text[] = SHADER "layout(std430, binding = 0) writeonly buffer Values { float values[]; };\n"
                                       "void main() {\n"
                                       "    int i = int(gl_GlobalInvocationID.x);\n"
                                       "    values[i] = float(i % 7 - 3) * 0.5;\n"
                                       "}\n";
static const char inspect_text[] = SHADER "layout(std430, binding = 0) readonly buffer Values { float values[]; };\n"
                                          "layout(std430, binding = 1) writeonly buffer Sums { float sums[]; };\n"
                                          "void main() {\n"
                                          "    int i = int(gl_GlobalInvocationID.x);\n"
                                          "    sums[i] = values[i] + 1.0;\n"
                                          "}\n";

static unsigned make_program(const char *text)
{
    const struct gles_api *gl = app.gl;
    unsigned shader = gl->glCreateShader(GL_COMPUTE_SHADER), program = gl->glCreateProgram();
    int32_t linked = 0;
    gl->glShaderSource(shader, 1, &text, NULL);
    gl->glCompileShader(shader);
    gl->glAttachShader(program, shader);
    gl->glLinkProgram(program);
    gl->glGetProgramiv(program, GL_LINK_STATUS, &linked);
    assert_true(linked);
    gl->glDeleteShader(shader);
    return program;
}

static uint64_t create(size_t bytes)
{
    unsigned buffer;
    app.gl->glGenBuffers(1, &buffer);
    app.gl->glBindBuffer(GL_SHADER_STORAGE_BUFFER, buffer);
    app.gl->glBufferData(GL_SHADER_STORAGE_BUFFER, (intptr_t)bytes, NULL, GL_DYNAMIC_COPY);
    assert_int_equal(app.gl->glGetError(), 0);
    return buffer;
}

static void destroy(uint64_t buffer)
{
    unsigned name = (unsigned)buffer;
    app.gl->glDeleteBuffers(1, &name);
}

static bool begin(HaliteGpuContext *context)
{
    const struct gles_library *library = gpu_gles_library();
    if (library->count == 0) return false;
    app.found = library->devices[0];
    app.gl = app.found.gl;
    assert_null(gpu_gles_context_create(&app.found, &app.context));
    assert_true(
        app.gl->eglMakeCurrent(app.found.display, app.context.surface, app.context.surface, app.context.context));
    app.fill = make_program(fill_text);
    app.inspect = make_program(inspect_text);
    app.sums = (unsigned)create(APPLICATION_ROOM);
    *context = (HaliteGpuContext){.struct_size = sizeof *context, .api = kHaliteGpuApiOpenGlEs}; // the current one
    return true;
}

static void end(void)
{
    // Whatever was done meanwhile, the thread has its context.
    assert_ptr_equal(app.gl->eglGetCurrentContext(), app.context.context);
    assert_int_equal(app.gl->glGetError(), 0);
    destroy(app.sums);
    app.gl->glDeleteProgram(app.fill);
    app.gl->glDeleteProgram(app.inspect);
    app.gl->eglMakeCurrent(app.found.display, NULL, NULL, NULL);
    gpu_gles_context_destroy(&app.found, &app.context);
}

static void start(unsigned program, uint64_t buffer, size_t offset, int count)
{
    const struct gles_api *gl = app.gl;
    size_t bytes = (size_t)count * sizeof(float);
    gl->glUseProgram(program);
    gl->glBindBufferRange(GL_SHADER_STORAGE_BUFFER, 0, (unsigned)buffer, (intptr_t)offset, (intptr_t)bytes);
    gl->glBindBufferRange(GL_SHADER_STORAGE_BUFFER, 1, app.sums, 0, APPLICATION_ROOM);
    gl->glDispatchCompute((unsigned)count, 1, 1);
    gl->glMemoryBarrier(GL_ALL_BARRIER_BITS);
    assert_int_equal(gl->glGetError(), 0);
}

static void fill(uint64_t buffer, size_t offset, int count)
{
    start(app.fill, buffer, offset, count);
}

static void read(uint64_t buffer, size_t offset, void *to, size_t bytes)
{
    app.gl->glBindBuffer(GL_COPY_READ_BUFFER, (unsigned)buffer);
    const void *from =
        app.gl->glMapBufferRange(GL_COPY_READ_BUFFER, (intptr_t)offset, (intptr_t)bytes, GL_MAP_READ_BIT);
    assert_non_null(from);
    memcpy(to, from, bytes);
    app.gl->glUnmapBuffer(GL_COPY_READ_BUFFER);
}

static void inspect(uint64_t buffer, size_t offset, int count, float *to)
{
    start(app.inspect, buffer, offset, count);
    read(app.sums, 0, to, (size_t)count * sizeof *to);
}

static void write(uint64_t buffer, size_t offset, const void *from, size_t bytes)
{
    app.gl->glBindBuffer(GL_COPY_WRITE_BUFFER, (unsigned)buffer);
    app.gl->glBufferSubData(GL_COPY_WRITE_BUFFER, (intptr_t)offset, (intptr_t)bytes, from);
}

const struct application application_gles = {
    .name = "gles",
    .begin = begin,
    .end = end,
    .create = create,
    .destroy = destroy,
    .fill = fill,
    .inspect = inspect,
    .write = write,
    .read = read,
};
