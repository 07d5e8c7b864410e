// SPDX-License-Identifier: Apache-2.0
// Finds CUDA. In: the file names of the driver's library and of NVRTC's. Out: once per process, two tables of functions
// and the number of devices. Both libraries stay open. NVRTC comes with the CUDA toolkit or as a Python package, whose
// folder no system searches, so that HALITE_NVRTC_LIBRARY may name it.
#include "gpu/backend/cuda_api.h"

#include <stdbool.h>
#include <string.h>

#include "base/library.h"
#include "base/loader_names.h"
#include "base/mutex.h"

static bool load_driver(struct cuda_api *cuda, struct hl_library *handle)
{
#define X(name, symbol, arguments) \
    if (!hl_library_find(handle, #symbol, &cuda->name, sizeof cuda->name)) return false;
    CUDA_FUNCTIONS(X)
#undef X
#define X(name, symbol, arguments) hl_library_find(handle, #symbol, &cuda->name, sizeof cuda->name);
    CUDA_LATER_FUNCTIONS(X)
#undef X
    return true;
}

static bool load_compiler(struct nvrtc_api *nvrtc, struct hl_library *handle)
{
#define X(name, symbol, arguments) \
    if (!hl_library_find(handle, #symbol, &nvrtc->name, sizeof nvrtc->name)) return false;
    NVRTC_FUNCTIONS(X)
#undef X
    return hl_library_find(handle, "nvrtcGetErrorString", &nvrtc->error_text, sizeof nvrtc->error_text);
}

// Opens the library that the variable names, or else the first of the names.
static struct hl_library *open_library(const char *variable, const char *const *names)
{
    const char *named = hl_library_named(variable);
    return named ? hl_library_open(named) : hl_library_open_first(names);
}

// Why there is no device; NULL if there is one.
static const char *find_devices(struct cuda_library *library)
{
    struct hl_library *driver = open_library("HALITE_CUDA_LIBRARY", hl_loader_names.cuda);
    if (!driver && hl_library_named("HALITE_CUDA_LIBRARY"))
        return "the library that HALITE_CUDA_LIBRARY names does not open: correct the path or unset it";
    if (!driver) return "no libcuda.so.1: install NVIDIA's driver";
    if (!load_driver(&library->cuda, driver)) return "the driver is older than CUDA 11.4: update it";
    cuda_result code = library->cuda.init(0);
    if (code == CUDA_OK) code = library->cuda.driver_version(&library->driver_version);
    int count = 0;
    if (code == CUDA_OK) code = library->cuda.device_count(&count);
    if (code == CUDA_NO_DEVICE || (code == CUDA_OK && count == 0))
        return "NVIDIA's driver is there but no device: check that this process may see the device";
    if (code != CUDA_OK) return "NVIDIA's driver does not start (cuInit): check it with nvidia-smi";

    struct hl_library *compiler = open_library("HALITE_NVRTC_LIBRARY", hl_loader_names.nvrtc);
    if (!compiler && hl_library_named("HALITE_NVRTC_LIBRARY"))
        return "the library that HALITE_NVRTC_LIBRARY names does not open: correct the path or unset it";
    if (!compiler)
        return "the driver is there but not its compiler, NVRTC: install it (CUDA toolkit 11.2 or later, or the Python "
               "package nvidia-cuda-nvrtc) and name its libnvrtc.so in HALITE_NVRTC_LIBRARY";
    if (!load_compiler(&library->nvrtc, compiler) ||
        library->nvrtc.version(&library->nvrtc_major, &library->nvrtc_minor) != 0)
        return "NVRTC is older than CUDA 11.2: update it";
    library->count = count;
    return NULL;
}

static struct cuda_library *get_library(void)
{
    static struct cuda_library library;
    return &library;
}

static void load_library(void)
{
    get_library()->why = find_devices(get_library());
}

const struct cuda_library *gpu_cuda_library(void)
{
    static struct hl_once once = HL_ONCE_INIT;
    hl_once(&once, load_library);
    return get_library();
}
