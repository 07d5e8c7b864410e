// SPDX-License-Identifier: Apache-2.0
// Finds OpenGL ES. In: the file names of the EGL and OpenGL ES libraries. Out: once per process, a table of functions
// and the displays that support an OpenGL ES 3.1 context without a window: the devices that EGL enumerates, or else
// Mesa's surfaceless display, or else the default display. Environment: HALITE_GLES_LIBRARY (path of the EGL library).
#include "gpu/backend/gles_api.h"

#include <stdlib.h>
#include <string.h>

#include "base/library.h"
#include "base/loader_names.h"
#include "base/mutex.h"
#include "gpu/backend/name_list.h"

struct instance {
    struct gles_library library;
    struct gles_api gl;
};

// ---- contexts -------------------------------------------------------------------------------------------------------

void gpu_gles_context_destroy(const struct gles_found *found, struct gles_context *context)
{
    const struct gles_api *gl = found->gl;
    if (context->surface) gl->eglDestroySurface(found->display, context->surface);
    if (context->context) gl->eglDestroyContext(found->display, context->context);
    *context = (struct gles_context){NULL, NULL};
}

const char *gpu_gles_context_create(const struct gles_found *found, struct gles_context *context)
{
    static const int32_t one_pixel[] = {EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE};
    const struct gles_api *gl = found->gl;
    int32_t wanted[] = {EGL_CONTEXT_MAJOR_VERSION, 3,       EGL_CONTEXT_MINOR_VERSION, 1, EGL_NONE,
                        EGL_LOSE_CONTEXT_ON_RESET, EGL_NONE};
    if (found->robust) wanted[4] = EGL_RESET_NOTIFICATION_STRATEGY;
    *context = (struct gles_context){NULL, NULL};
    if (!gl->eglBindAPI(EGL_OPENGL_ES_API)) return "eglBindAPI";
    if (!(context->context = gl->eglCreateContext(found->display, found->config, found->share, wanted)))
        return "eglCreateContext";
    if (found->surfaceless) return NULL;
    context->surface = gl->eglCreatePbufferSurface(found->display, found->config, one_pixel);
    return context->surface ? NULL : "eglCreatePbufferSurface";
}

// ---- displays -------------------------------------------------------------------------------------------------------

bool gpu_gles_describe_display(const struct gles_api *gl, void *display, struct gles_found *found)
{
    int32_t count = 0;
    const char *extensions = gl->eglQueryString(display, EGL_EXTENSIONS);
    *found = (struct gles_found){
        .gl = gl,
        .display = display,
        .surfaceless = gpu_name_list_has(extensions, "EGL_KHR_surfaceless_context"),
        .robust = gpu_name_list_has(extensions, "EGL_EXT_create_context_robustness"),
        .fences = gl->eglCreateSyncKHR && gl->eglDestroySyncKHR && gl->eglClientWaitSyncKHR && gl->eglWaitSyncKHR &&
                  gpu_name_list_has(extensions, "EGL_KHR_fence_sync") &&
                  gpu_name_list_has(extensions, "EGL_KHR_wait_sync"),
    };
    bool no_config = found->surfaceless && gpu_name_list_has(extensions, "EGL_KHR_no_config_context");
    const int32_t wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT, EGL_SURFACE_TYPE,
                              found->surfaceless ? 0 : EGL_PBUFFER_BIT, EGL_NONE};
    return no_config || (gl->eglChooseConfig(display, wanted, &found->config, 1, &count) && count > 0);
}

// Adds a device if a context can be created on this display.
static void add_display(struct gles_library *library, const struct gles_api *gl, void *display)
{
    int32_t major, minor;
    struct gles_found found;
    if (library->count == GLES_MAX_DEVICES || !display || !gl->eglInitialize(display, &major, &minor) ||
        !gpu_gles_describe_display(gl, display, &found))
        return;
    struct gles_context context;
    bool works = gpu_gles_context_create(&found, &context) == NULL;
    gpu_gles_context_destroy(&found, &context);
    if (works) library->devices[library->count++] = found;
}

static void add_displays(struct gles_library *library, const struct gles_api *gl)
{
    void *devices[GLES_MAX_DEVICES];
    int32_t count = 0;
    const char *extensions = gl->eglQueryString(NULL, EGL_EXTENSIONS);
    bool platforms = gl->eglGetPlatformDisplayEXT && gpu_name_list_has(extensions, "EGL_EXT_platform_base");
    bool listed = gpu_name_list_has(extensions, "EGL_EXT_device_enumeration") ||
                  gpu_name_list_has(extensions, "EGL_EXT_device_base");
    if (platforms && listed && gl->eglQueryDevicesEXT && gpu_name_list_has(extensions, "EGL_EXT_platform_device") &&
        gl->eglQueryDevicesEXT(GLES_MAX_DEVICES, devices, &count))
        for (int32_t i = 0; i < count; i++)
            add_display(library, gl, gl->eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE, devices[i], NULL));
    if (library->count == 0 && platforms && gpu_name_list_has(extensions, "EGL_MESA_platform_surfaceless"))
        add_display(library, gl, gl->eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS, NULL, NULL));
    if (library->count == 0) add_display(library, gl, gl->eglGetDisplay(NULL));
}

// ---- libraries ------------------------------------------------------------------------------------------------------

struct source {
    struct hl_library *egl, *gl; // gl: NULL if eglGetProcAddress must find everything
    void *(*address)(const char *);
};

static bool find(const struct source *source, const char *name, void *pointer, size_t size)
{
    if (hl_library_find(source->egl, name, pointer, size)) return true;
    if (source->gl && hl_library_find(source->gl, name, pointer, size)) return true;
    void *symbol = source->address(name);
    memcpy(pointer, &symbol, size);
    return symbol != NULL;
}

static bool load_functions(struct gles_api *gl, struct source *source)
{
    if (!hl_library_find(source->egl, "eglGetProcAddress", &source->address, sizeof source->address)) return false;
#define X(result, name, arguments) \
    if (!find(source, #name, &gl->name, sizeof gl->name)) return false;
    GLES_FUNCTIONS(X)
#undef X
#define X(result, name, arguments) find(source, #name, &gl->name, sizeof gl->name);
    GLES_EXTENSION_FUNCTIONS(X)
#undef X
    return true;
}

// The libraries stay open, because some drivers crash when they are unloaded.
static void load(struct instance *instance)
{
    struct gles_library *library = &instance->library;
    const char *named = hl_library_named("HALITE_GLES_LIBRARY");
    struct source source = {.egl = named ? hl_library_open(named) : hl_library_open_first(hl_loader_names.egl)};
    if (!source.egl) {
        library->why = named ? "the library that HALITE_GLES_LIBRARY names does not open: correct the path or unset it"
                             : "no libEGL.so.1: install EGL and a driver of OpenGL ES 3.1";
        return;
    }
    source.gl = hl_library_open_first(hl_loader_names.gles);
    if (!load_functions(&instance->gl, &source)) {
        library->why = "its library lacks functions of EGL 1.4 or OpenGL ES 3.1: update the driver";
        return;
    }
    unsigned api = instance->gl.eglQueryAPI();
    add_displays(library, &instance->gl);
    instance->gl.eglBindAPI(api);
    if (library->count == 0)
        library->why =
            "EGL is there but has no device with OpenGL ES 3.1: install a driver, or let this process see it";
}

static struct instance *get_instance(void)
{
    static struct instance instance;
    return &instance;
}

static void load_instance(void)
{
    load(get_instance());
}

const struct gles_library *gpu_gles_library(void)
{
    static struct hl_once once = HL_ONCE_INIT;
    hl_once(&once, load_instance);
    return &get_instance()->library;
}
