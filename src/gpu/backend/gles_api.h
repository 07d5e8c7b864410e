// SPDX-License-Identifier: Apache-2.0
// The entry points of EGL 1.4 and OpenGL ES 3.1 that the backend calls, as data: one row per function, and their
// constants. Neither header is needed to build, because EGL's objects are pointers and GL's are numbers. gles_api.c
// opens the libraries by name, fills a struct gles_api, lists the displays with a device, and creates contexts on them.
#ifndef HALITE_GPU_BACKEND_GLES_API_H
#define HALITE_GPU_BACKEND_GLES_API_H

#include <stdbool.h>
#include <stdint.h>

// X(result, name, arguments)
// clang-format off
#define GLES_FUNCTIONS(X) \
    X(int32_t, eglGetError, (void)) \
    X(const char *, eglQueryString, (void *display, int32_t name)) \
    X(void *, eglGetDisplay, (void *native)) \
    X(unsigned, eglInitialize, (void *display, int32_t *major, int32_t *minor)) \
    X(unsigned, eglBindAPI, (unsigned api)) \
    X(unsigned, eglQueryAPI, (void)) \
    X(unsigned, eglChooseConfig, (void *display, const int32_t *wanted, void **configs, int32_t size, int32_t *count)) \
    X(void *, eglCreateContext, (void *display, void *config, void *share, const int32_t *wanted)) \
    X(unsigned, eglDestroyContext, (void *display, void *context)) \
    X(void *, eglCreatePbufferSurface, (void *display, void *config, const int32_t *wanted)) \
    X(unsigned, eglDestroySurface, (void *display, void *surface)) \
    X(unsigned, eglMakeCurrent, (void *display, void *draw, void *read, void *context)) \
    X(void *, eglGetCurrentContext, (void)) \
    X(void *, eglGetCurrentDisplay, (void)) \
    X(void *, eglGetCurrentSurface, (int32_t readdraw)) \
    X(unsigned, glGetError, (void)) \
    X(const unsigned char *, glGetString, (unsigned name)) \
    X(void, glGetIntegerv, (unsigned name, int32_t *value)) \
    X(void, glGetIntegeri_v, (unsigned name, unsigned index, int32_t *value)) \
    X(void, glGetInteger64v, (unsigned name, int64_t *value)) \
    X(void, glEnable, (unsigned capability)) \
    X(void, glFlush, (void)) \
    X(void *, glFenceSync, (unsigned condition, unsigned flags)) \
    X(unsigned, glClientWaitSync, (void *sync, unsigned flags, uint64_t nanoseconds)) \
    X(void, glDeleteSync, (void *sync)) \
    X(void, glGenBuffers, (int32_t count, unsigned *buffers)) \
    X(void, glDeleteBuffers, (int32_t count, const unsigned *buffers)) \
    X(void, glBindBuffer, (unsigned target, unsigned buffer)) \
    X(unsigned char, glIsBuffer, (unsigned buffer)) \
    X(void, glGetBufferParameteri64v, (unsigned target, unsigned name, int64_t *value)) \
    X(void, glBindBufferRange, (unsigned target, unsigned index, unsigned buffer, intptr_t offset, intptr_t bytes)) \
    X(void, glBufferData, (unsigned target, intptr_t bytes, const void *from, unsigned usage)) \
    X(void, glBufferSubData, (unsigned target, intptr_t offset, intptr_t bytes, const void *from)) \
    X(void *, glMapBufferRange, (unsigned target, intptr_t offset, intptr_t bytes, unsigned access)) \
    X(unsigned char, glUnmapBuffer, (unsigned target)) \
    X(unsigned char, glIsTexture, (unsigned texture)) \
    X(void, glActiveTexture, (unsigned unit)) \
    X(void, glBindTexture, (unsigned target, unsigned texture)) \
    X(void, glGetTexLevelParameteriv, (unsigned target, int32_t level, unsigned name, int32_t *value)) \
    X(void, glTexSubImage2D, (unsigned target, int32_t level, int32_t x, int32_t y, int32_t width, int32_t height, \
        unsigned format, unsigned type, const void *from)) \
    X(void, glGenSamplers, (int32_t count, unsigned *samplers)) \
    X(void, glDeleteSamplers, (int32_t count, const unsigned *samplers)) \
    X(void, glSamplerParameteri, (unsigned sampler, unsigned name, int32_t value)) \
    X(void, glBindSampler, (unsigned unit, unsigned sampler)) \
    X(unsigned, glCreateShader, (unsigned kind)) \
    X(void, glDeleteShader, (unsigned shader)) \
    X(void, glShaderSource, (unsigned shader, int32_t count, const char *const *texts, const int32_t *lengths)) \
    X(void, glCompileShader, (unsigned shader)) \
    X(void, glGetShaderiv, (unsigned shader, unsigned name, int32_t *value)) \
    X(void, glGetShaderInfoLog, (unsigned shader, int32_t size, int32_t *length, char *text)) \
    X(unsigned, glCreateProgram, (void)) \
    X(void, glDeleteProgram, (unsigned program)) \
    X(void, glAttachShader, (unsigned program, unsigned shader)) \
    X(void, glProgramParameteri, (unsigned program, unsigned name, int32_t value)) \
    X(void, glLinkProgram, (unsigned program)) \
    X(void, glGetProgramiv, (unsigned program, unsigned name, int32_t *value)) \
    X(void, glGetProgramInfoLog, (unsigned program, int32_t size, int32_t *length, char *text)) \
    X(void, glProgramBinary, (unsigned program, unsigned format, const void *bytes, int32_t size)) \
    X(void, glGetProgramBinary, (unsigned program, int32_t size, int32_t *length, unsigned *format, void *bytes)) \
    X(void, glUseProgram, (unsigned program)) \
    X(void, glDispatchCompute, (unsigned x, unsigned y, unsigned z)) \
    X(void, glMemoryBarrier, (unsigned barriers)) \
    X(void, glGenQueries, (int32_t count, unsigned *queries)) \
    X(void, glDeleteQueries, (int32_t count, const unsigned *queries)) \
    X(void, glBeginQuery, (unsigned target, unsigned query)) \
    X(void, glEndQuery, (unsigned target))

// Functions of extensions. They may be called only if the driver lists the extension.
#define GLES_EXTENSION_FUNCTIONS(X) \
    X(unsigned, eglQueryDevicesEXT, (int32_t size, void **devices, int32_t *count)) \
    X(void *, eglGetPlatformDisplayEXT, (unsigned platform, void *native, const int32_t *wanted)) \
    X(void *, eglCreateSyncKHR, (void *display, unsigned kind, const int32_t *wanted)) \
    X(unsigned, eglDestroySyncKHR, (void *display, void *sync)) \
    X(int32_t, eglClientWaitSyncKHR, (void *display, void *sync, int32_t flags, uint64_t nanoseconds)) \
    X(int32_t, eglWaitSyncKHR, (void *display, void *sync, int32_t flags)) \
    X(void, glGetQueryObjectui64vEXT, (unsigned query, unsigned name, uint64_t *value)) \
    X(unsigned, glGetGraphicsResetStatusEXT, (void)) \
    X(void, glDebugMessageControlKHR, (unsigned source, unsigned type, unsigned severity, int32_t count, \
        const unsigned *ids, unsigned char enabled)) \
    X(unsigned, glGetDebugMessageLogKHR, (unsigned count, int32_t size, unsigned *sources, unsigned *types, unsigned *ids, \
        unsigned *severities, int32_t *lengths, char *text))

enum {
    EGL_SUCCESS = 0x3000, EGL_BAD_ALLOC = 0x3003, EGL_CONTEXT_LOST = 0x300E, EGL_SURFACE_TYPE = 0x3033, EGL_NONE = 0x3038,
    EGL_RENDERABLE_TYPE = 0x3040, EGL_EXTENSIONS = 0x3055, EGL_HEIGHT = 0x3056, EGL_WIDTH = 0x3057, EGL_DRAW = 0x3059,
    EGL_READ = 0x305A, EGL_CONTEXT_MAJOR_VERSION = 0x3098, EGL_OPENGL_ES_API = 0x30A0, EGL_CONTEXT_MINOR_VERSION = 0x30FB,
    EGL_RESET_NOTIFICATION_STRATEGY = 0x3138, EGL_PLATFORM_DEVICE = 0x313F, EGL_LOSE_CONTEXT_ON_RESET = 0x31BF,
    EGL_PLATFORM_SURFACELESS = 0x31DD, EGL_PBUFFER_BIT = 0x1, EGL_OPENGL_ES3_BIT = 0x40,
    EGL_CONDITION_SATISFIED = 0x30F6, EGL_SYNC_FENCE = 0x30F9,
};
enum {
    GL_MAP_READ_BIT = 0x1, GL_BUFFER_UPDATE_BARRIER_BIT = 0x200, GL_SHADER_STORAGE_BARRIER_BIT = 0x2000,
    GL_OUT_OF_MEMORY = 0x0505, GL_CONTEXT_LOST = 0x0507, GL_DONT_CARE = 0x1100, GL_VENDOR = 0x1F00, GL_RENDERER = 0x1F01,
    GL_VERSION = 0x1F02, GL_EXTENSIONS = 0x1F03, GL_DEBUG_TYPE_ERROR = 0x824C, GL_PROGRAM_BINARY_RETRIEVABLE_HINT = 0x8257,
    GL_MAX_COMPUTE_SHARED_MEMORY_SIZE = 0x8262, GL_PROGRAM_BINARY_LENGTH = 0x8741, GL_NUM_PROGRAM_BINARY_FORMATS = 0x87FE,
    GL_QUERY_RESULT = 0x8866, GL_TIME_ELAPSED = 0x88BF, GL_STATIC_DRAW = 0x88E4, GL_DYNAMIC_COPY = 0x88EA,
    GL_BUFFER_SIZE = 0x8764,
    GL_UNIFORM_BUFFER = 0x8A11, GL_COMPILE_STATUS = 0x8B81, GL_LINK_STATUS = 0x8B82, GL_COPY_READ_BUFFER = 0x8F36,
    GL_COPY_WRITE_BUFFER = 0x8F37, GL_GPU_DISJOINT = 0x8FBB, GL_SHADER_STORAGE_BUFFER = 0x90D2,
    GL_MAX_SHADER_STORAGE_BLOCK_SIZE = 0x90DE, GL_MAX_COMPUTE_WORK_GROUP_INVOCATIONS = 0x90EB,
    GL_COMPUTE_SHADER = 0x91B9, GL_MAX_COMPUTE_WORK_GROUP_COUNT = 0x91BE, GL_MAX_COMPUTE_WORK_GROUP_SIZE = 0x91BF,
    GL_DEBUG_OUTPUT = 0x92E0, GL_PIXEL_BUFFER_BARRIER_BIT = 0x80,
    GL_TEXTURE_2D = 0x0DE1, GL_UNSIGNED_BYTE = 0x1401, GL_FLOAT = 0x1406, GL_HALF_FLOAT = 0x140B, GL_RGBA = 0x1908,
    GL_TEXTURE_MAG_FILTER = 0x2800, GL_TEXTURE_MIN_FILTER = 0x2801, GL_NEAREST = 0x2600, GL_TEXTURE_WIDTH = 0x1000,
    GL_TEXTURE_HEIGHT = 0x1001, GL_TEXTURE_INTERNAL_FORMAT = 0x1003, GL_RGBA8 = 0x8058, GL_TEXTURE0 = 0x84C0,
    GL_SYNC_FLUSH_COMMANDS_BIT = 0x1, GL_SYNC_GPU_COMMANDS_COMPLETE = 0x9117, GL_TIMEOUT_EXPIRED = 0x911B,
    GL_RGBA32F = 0x8814, GL_RGBA16F = 0x881A, GL_PIXEL_UNPACK_BUFFER = 0x88EC,
};
// clang-format on

#define GL_ALL_BARRIER_BITS 0xFFFFFFFFu

struct gles_api {
#define X(result, name, arguments) result(*name) arguments;
    GLES_FUNCTIONS(X)
    GLES_EXTENSION_FUNCTIONS(X)
#undef X
};

enum { GLES_MAX_DEVICES = 16 };

// The devices that a process finds, once. Their displays stay initialized, because the application may use them too.
struct gles_library {
    int count;
    struct gles_found {
        const struct gles_api *gl;
        void *display, *config; // config: NULL if contexts need none
        bool surfaceless;       // a context can be current without a surface
        bool robust;            // the driver can report a lost context
        bool fences;            // it has fences, which contexts can wait for on the device
        void *share;            // a context of the application to share buffers with, or NULL
    } devices[GLES_MAX_DEVICES];
    const char *why; // why there is no device, static text; NULL if there is one
};
const struct gles_library *gpu_gles_library(void);
// Finds out how contexts are made on a display, which is initialized. False if it cannot have one of OpenGL ES.
bool gpu_gles_describe_display(const struct gles_api *gl, void *display, struct gles_found *found);

// An OpenGL ES 3.1 context. surface: NULL if none is needed.
struct gles_context {
    void *context, *surface;
};
// Creates a context without making it current. Returns NULL, or the name of the function that failed; eglGetError then
// still has its error. The context must be destroyed in either case. The calling thread's API becomes OpenGL ES.
const char *gpu_gles_context_create(const struct gles_found *found, struct gles_context *context);
void gpu_gles_context_destroy(const struct gles_found *found, struct gles_context *context);

// ---- fences, where found->fences (gles_fence.c)

// A fence behind all commands of the current context, which are flushed. NULL: eglGetError has the reason.
void *gpu_gles_sync_create(const struct gles_found *found);
// Holds back later commands of the current context until the fence is reached; the thread goes on. False: eglGetError.
bool gpu_gles_sync_await(const struct gles_found *found, void *sync);
void gpu_gles_sync_destroy(const struct gles_found *found, void *sync); // accepts NULL

#endif
