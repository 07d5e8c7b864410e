// SPDX-License-Identifier: Apache-2.0
// See application.h. The application's context is current in the thread of the test, as in programs that draw.
// Functions come from the table of the backend under test, which is only a way to find them.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/half.h"
#include "base/library.h"
#include "base/loader_names.h"
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

// ---- textures -----------------------------------------------------------------------------------

// The delegate needs none of these.
#define TEXTURE_FUNCTIONS(X)                                                                                   \
    X(void, glGenTextures, (int32_t count, unsigned *textures))                                                \
    X(void, glDeleteTextures, (int32_t count, const unsigned *textures))                                       \
    X(void, glTexStorage2D, (unsigned target, int32_t levels, unsigned format, int32_t width, int32_t height)) \
    X(void, glGenFramebuffers, (int32_t count, unsigned *framebuffers))                                        \
    X(void, glDeleteFramebuffers, (int32_t count, const unsigned *framebuffers))                               \
    X(void, glBindFramebuffer, (unsigned target, unsigned framebuffer))                                        \
    X(void, glFramebufferTexture2D,                                                                            \
      (unsigned target, unsigned attachment, unsigned texture_target, unsigned texture, int32_t level))        \
    X(void, glReadPixels,                                                                                      \
      (int32_t x, int32_t y, int32_t width, int32_t height, unsigned format, unsigned type, void *to))
static struct {
#define X(result, name, arguments) result(*name) arguments;
    TEXTURE_FUNCTIONS(X)
#undef X
} more;
enum { GL_READ_FRAMEBUFFER = 0x8CA8, GL_COLOR_ATTACHMENT0 = 0x8CE0 };

static uint64_t image_create(int width, int height, HaliteGpuElement element)
{
    static const unsigned formats[] = {[kHaliteGpuElementFloat32] = GL_RGBA32F,
                                       [kHaliteGpuElementFloat16] = GL_RGBA16F,
                                       [kHaliteGpuElementRgba8] = GL_RGBA8};
    struct hl_library *library = hl_library_open_first(hl_loader_names.gles);
    if (!library) return 0;
#define X(result, name, arguments) \
    if (!hl_library_find(library, #name, &more.name, sizeof more.name)) return 0;
    TEXTURE_FUNCTIONS(X)
#undef X
    unsigned texture;
    more.glGenTextures(1, &texture);
    app.gl->glBindTexture(GL_TEXTURE_2D, texture);
    more.glTexStorage2D(GL_TEXTURE_2D, 1, formats[element], width, height);
    assert_int_equal(app.gl->glGetError(), 0);
    return application_image_add(width, height, element)->handle = texture;
}

static void image_destroy(uint64_t image)
{
    unsigned name = (unsigned)image;
    more.glDeleteTextures(1, &name);
    application_image_find(image)->handle = 0;
}

static void image_write(uint64_t image, const void *texels, int layout)
{
    static const unsigned types[] = {[kHaliteGpuElementFloat32] = GL_FLOAT,
                                     [kHaliteGpuElementFloat16] = GL_HALF_FLOAT,
                                     [kHaliteGpuElementRgba8] = GL_UNSIGNED_BYTE};
    const struct application_image *own = application_image_find(image);
    (void)layout;
    app.gl->glBindTexture(GL_TEXTURE_2D, (unsigned)image);
    app.gl->glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, own->width, own->height, GL_RGBA, types[own->element], texels);
    assert_int_equal(app.gl->glGetError(), 0);
}

// Framebuffers of half floats are read as floats.
static void image_read(uint64_t image, void *texels, int layout)
{
    const struct application_image *own = application_image_find(image);
    size_t count = (size_t)own->width * (size_t)own->height * 4;
    bool bytes = own->element == kHaliteGpuElementRgba8;
    float *floats = malloc(count * sizeof *floats);
    unsigned framebuffer;
    (void)layout;
    assert_non_null(floats);
    app.gl->glBindTexture(GL_TEXTURE_2D, (unsigned)image); // so that what other contexts have written is seen
    more.glGenFramebuffers(1, &framebuffer);
    more.glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
    more.glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, (unsigned)image, 0);
    more.glReadPixels(0, 0, own->width, own->height, GL_RGBA, bytes ? GL_UNSIGNED_BYTE : GL_FLOAT,
                      bytes ? texels : (void *)floats);
    assert_int_equal(app.gl->glGetError(), 0);
    more.glDeleteFramebuffers(1, &framebuffer);
    if (own->element == kHaliteGpuElementFloat32) memcpy(texels, floats, count * sizeof *floats);
    for (size_t i = 0; own->element == kHaliteGpuElementFloat16 && i < count; i++)
        ((uint16_t *)texels)[i] = hl_half_from_float(floats[i]);
    free(floats);
}

// ---- fences -------------------------------------------------------------------------------------

static void *pointer(const uint64_t *buffer)
{
    return (void *)(uintptr_t)*buffer;
}

// EGL's fences have no gate: the kernel begins at once.
static void fill_later(uint64_t buffer, size_t offset, int count, HaliteGpuFence *fence)
{
    fill(buffer, offset, count);
    void *sync = gpu_gles_sync_create(&app.found);
    assert_non_null(sync);
    *fence = (HaliteGpuFence){.struct_size = sizeof *fence, .handle = (uint64_t)(uintptr_t)sync};
}

static void open_gate(void) {}

static void make_fence(HaliteGpuFence *fence)
{
    *fence = (HaliteGpuFence){.struct_size = sizeof *fence};
}

static void inspect_after(const HaliteGpuFence *fence, uint64_t buffer, size_t offset, int count)
{
    assert_true(gpu_gles_sync_await(&app.found, (void *)(uintptr_t)fence->handle));
    start(app.inspect, buffer, offset, count);
}

static void read_sums(int count, float *to)
{
    read(app.sums, 0, to, (size_t)count * sizeof *to);
}

static void release_fence(const HaliteGpuFence *fence)
{
    gpu_gles_sync_destroy(&app.found, (void *)(uintptr_t)fence->handle);
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
    .image_create = image_create,
    .image_destroy = image_destroy,
    .image_write = image_write,
    .image_read = image_read,

    .buffer_type = HALITE_BUFFER_GL,
    .fence_type = HALITE_FENCE_EGL,
    APPLICATION_FENCES,
};
