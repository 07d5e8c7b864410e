// SPDX-License-Identifier: Apache-2.0
// Finds OpenCL. In: the file names of its library. Out: once per process, a table of functions and the list of devices,
// GPUs first. If the loader knows no GPU, NVIDIA's driver is asked directly: containers often have its library, but
// lack the file in /etc/OpenCL/vendors that tells the loader about it.
#include "gpu/backend/opencl_api.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if !defined(__APPLE__)
#include <CL/cl_icd.h>
#endif

#include "base/library.h"
#include "base/loader_names.h"
#include "base/mutex.h"

enum { MAX_PLATFORMS = 16 };

// Where devices come from: the loader, or a single driver.
struct source {
    struct opencl_api cl;
    cl_uint count;
    cl_platform_id platforms[MAX_PLATFORMS];
};

struct instance {
    struct opencl_library library;
    struct source loader, driver;
};

static bool load_functions(struct opencl_api *cl, struct hl_library *handle)
{
#define X(result, name, arguments) \
    if (!hl_library_find(handle, #name, &cl->name, sizeof cl->name)) return false;
    OPENCL_FUNCTIONS(X)
#undef X
    return true;
}

// An installable driver exports few symbols. Its function table is the first member of its platform objects.
static bool load_driver(struct source *source, struct hl_library *handle)
{
#if defined(__APPLE__)
    (void)source, (void)handle;
    return false;
#else
    void *(CL_API_CALL * address)(const char *);
    cl_int(CL_API_CALL * platforms)(cl_uint, cl_platform_id *, cl_uint *);
    if (!hl_library_find(handle, "clGetExtensionFunctionAddress", &address, sizeof address)) return false;
    void *symbol;
    if (!(symbol = address("clIcdGetPlatformIDsKHR"))) return false;
    memcpy(&platforms, &symbol, sizeof symbol);
    if (platforms(MAX_PLATFORMS, source->platforms, &source->count) != CL_SUCCESS || source->count == 0) {
        source->count = 0;
        return false;
    }
    const cl_icd_dispatch *table; // the first member of every OpenCL object
    memcpy(&table, source->platforms[0], sizeof table);
#define X(result, name, arguments) source->cl.name = table->name;
    OPENCL_FUNCTIONS(X)
#undef X
    if (source->count > MAX_PLATFORMS) source->count = MAX_PLATFORMS;
    return true;
#endif
}

static void add_devices(struct opencl_library *library, const struct source *source, bool gpus)
{
    cl_device_id ids[OPENCL_MAX_DEVICES];
    for (cl_uint p = 0; p < source->count; p++) {
        cl_uint count = 0;
        cl_int code =
            source->cl.clGetDeviceIDs(source->platforms[p], CL_DEVICE_TYPE_ALL, OPENCL_MAX_DEVICES, ids, &count);
        for (cl_uint i = 0; code == CL_SUCCESS && i < count && i < OPENCL_MAX_DEVICES; i++) {
            cl_device_type type = 0;
            source->cl.clGetDeviceInfo(ids[i], CL_DEVICE_TYPE, sizeof type, &type, NULL);
            if (((type & CL_DEVICE_TYPE_GPU) != 0) != gpus || library->count == OPENCL_MAX_DEVICES) continue;
            library->devices[library->count++] = (struct opencl_found){&source->cl, ids[i]};
        }
    }
}

// The libraries stay open, because some drivers crash when they are unloaded. *why: the reason if no device is found.
static void load_loader(struct instance *instance, struct hl_library *handle, const char **why)
{
    struct source *loader = &instance->loader;
    if (!load_functions(&loader->cl, handle)) {
        if (!load_driver(loader, handle)) *why = "its library lacks functions of OpenCL 1.2: update the OpenCL driver";
        return;
    }
    if (loader->cl.clGetPlatformIDs(MAX_PLATFORMS, loader->platforms, &loader->count) != CL_SUCCESS) loader->count = 0;
    if (loader->count > MAX_PLATFORMS) loader->count = MAX_PLATFORMS;
    *why = loader->count == 0
               ? "libOpenCL.so.1 is there but finds no driver: install one (it leaves a file in /etc/OpenCL/vendors)"
               : "a driver is there but no device: check that this process may see the device";
}

static void load(struct instance *instance)
{
    struct opencl_library *library = &instance->library;
    const char *named = hl_library_named("HALITE_OPENCL_LIBRARY");
    const char *why = "no libOpenCL.so.1: install an OpenCL driver";
    if (named) why = "the library that HALITE_OPENCL_LIBRARY names does not open: correct the path or unset it";
    struct hl_library *handle = named ? hl_library_open(named) : hl_library_open_first(hl_loader_names.opencl);
    if (handle) load_loader(instance, handle, &why);
    add_devices(library, &instance->loader, true);
    if (library->count == 0 && !named && (handle = hl_library_open_first(hl_loader_names.opencl_drivers)) &&
        load_driver(&instance->driver, handle))
        add_devices(library, &instance->driver, true);
    add_devices(library, &instance->loader, false);
    library->why = library->count ? NULL : why;
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

const struct opencl_library *gpu_opencl_library(void)
{
    static struct hl_once once = HL_ONCE_INIT;
    hl_once(&once, load_instance);
    return &get_instance()->library;
}
