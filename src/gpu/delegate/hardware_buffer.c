// SPDX-License-Identifier: Apache-2.0
// See hardware_buffer.h. In: Android's libnativewindow.so, or the library that HALITE_ANDROID_LIBRARY names. Out: what
// an AHardwareBuffer is. The library stays open.
#include "gpu/delegate/hardware_buffer.h"

#include <stddef.h>

#include "base/library.h"
#include "base/loader_names.h"
#include "base/mutex.h"

struct functions {
    void (*describe)(const void *buffer, struct gpu_hardware_desc *desc);
};

static struct functions *get_functions(void)
{
    static struct functions functions;
    return &functions;
}

static void find_functions(void)
{
    const char *named = hl_library_named("HALITE_ANDROID_LIBRARY");
    struct hl_library *library = named ? hl_library_open(named) : hl_library_open_first(hl_loader_names.android);
    struct functions *functions = get_functions();
    if (library) hl_library_find(library, "AHardwareBuffer_describe", &functions->describe, sizeof functions->describe);
}

static const struct functions *find(void)
{
    static struct hl_once once = HL_ONCE_INIT;
    hl_once(&once, find_functions);
    return get_functions();
}

bool gpu_hardware_buffers_exist(void)
{
    return find()->describe != NULL;
}

struct gpu_hardware_desc gpu_hardware_describe(uint64_t handle)
{
    struct gpu_hardware_desc desc = {.width = 0};
    find()->describe((const void *)(uintptr_t)handle, &desc);
    return desc;
}
