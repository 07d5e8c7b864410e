// SPDX-License-Identifier: Apache-2.0
// Finds Metal. In: the names of its framework and of the Objective-C runtime, or one library that the environment
// variable HALITE_METAL_LIBRARY names for both. Out: once per process, functions, selectors and the devices.
#include "gpu/backend/metal_api.h"

#include <stddef.h>

#include "base/loader_names.h"
#include "base/mutex.h"

static bool load_functions(struct metal_api *api, struct hl_library *metal, struct hl_library *runtime)
{
    if (!hl_objc_load(&api->objc, runtime)) return false;
#define X(field, name) api->field = api->objc.selector(name);
    METAL_SELECTORS(X)
#undef X
    hl_library_find(metal, "MTLCopyAllDevices", &api->copy_all_devices, sizeof api->copy_all_devices);
    return hl_library_find(metal, "MTLCreateSystemDefaultDevice", &api->create_default_device,
                           sizeof api->create_default_device);
}

// Keeps the device unless it is in the list.
static void add_device(struct metal_library *library, void *device)
{
    bool known = !device || library->count == METAL_MAX_DEVICES;
    for (int i = 0; i < library->count; i++) known = known || library->devices[i] == device;
    if (!known) library->devices[library->count++] = METAL_TELL0(&library->api, void *, device, retain);
}

static void add_devices(struct metal_library *library)
{
    const struct metal_api *api = &library->api;
    void *pool = api->objc.push();
    void *first = api->create_default_device(), *all = api->copy_all_devices ? api->copy_all_devices() : NULL;
    add_device(library, first);
    unsigned long count = all ? METAL_TELL0(api, unsigned long, all, count) : 0;
    for (unsigned long i = 0; i < count; i++)
        add_device(library, METAL_TELL(api, void *, all, object_at, (unsigned long), i));
    if (first) METAL_TELL0(api, void, first, release);
    if (all) METAL_TELL0(api, void, all, release);
    api->objc.pop(pool);
}

// The libraries stay open: their classes are in use.
static void load(struct metal_library *library)
{
    const char *named = hl_library_named("HALITE_METAL_LIBRARY");
    if (!named && !hl_loader_names.metal[0]) {
        library->count = -1;
        library->why = "only Apple's systems have Metal";
        return;
    }
    // A program without a window gets no default device unless this framework is loaded.
    if (!named) hl_library_open("/System/Library/Frameworks/CoreGraphics.framework/CoreGraphics");
    struct hl_library *metal = named ? hl_library_open(named) : hl_library_open_first(hl_loader_names.metal);
    struct hl_library *runtime = named ? metal : hl_library_open_first(hl_loader_names.objc);
    if (!metal || !runtime) {
        library->why = named ? "the library that HALITE_METAL_LIBRARY names does not open: correct the path or unset it"
                             : "Metal's framework does not open: Metal needs macOS 10.14 or iOS 12";
        return;
    }
    if (!load_functions(&library->api, metal, runtime)) {
        library->why = "its library lacks functions of Metal or of the Objective-C runtime: update the system";
        return;
    }
    add_devices(library);
    if (library->count == 0) library->why = "Metal is there but knows no GPU: virtual machines often have none";
}

static struct metal_library *get_library(void)
{
    static struct metal_library library;
    return &library;
}

static void load_library(void)
{
    load(get_library());
}

const struct metal_library *gpu_metal_library(void)
{
    static struct hl_once once = HL_ONCE_INIT;
    hl_once(&once, load_library);
    return get_library();
}

bool gpu_metal_answers(const struct metal_api *api, void *object, void *selector)
{
    return METAL_TELL(api, signed char, object, responds, (void *), selector) != 0;
}

const char *gpu_metal_text(const struct metal_api *api, void *string)
{
    const char *text = string ? METAL_TELL0(api, const char *, string, string) : NULL;
    return text ? text : "";
}
