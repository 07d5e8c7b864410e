// SPDX-License-Identifier: Apache-2.0
// See gpu_library.h.
#include "gpu_library.h"

#include "base/path.h"

static bool load_functions(struct hl_gpu_library *gpu, const char *path, struct hl_text *problem)
{
#define X(result, name, arguments)                                                                           \
    if (!hl_library_find(gpu->handle, #name, &gpu->name, sizeof gpu->name)) {                                \
        hl_text_add(problem, "%s has no " #name ": it is of another version of Halite", hl_path_name(path)); \
        return false;                                                                                        \
    }
    HL_GPU_FUNCTIONS(X)
#undef X
    return true;
}

bool hl_gpu_library_open(struct hl_gpu_library *gpu, struct hl_text *problem)
{
    *gpu = (struct hl_gpu_library){0};
    struct hl_text path = {0};
    hl_delegate_library_path("gpu", &path);
    gpu->handle = hl_library_open(path.data);
    bool ok = gpu->handle != NULL && load_functions(gpu, path.data, problem);
    if (gpu->handle == NULL)
        hl_text_add(
            problem,
            "no GPU delegate beside this program: %s; put it there, name its folder in LD_LIBRARY_PATH, or build it "
            "with ./dev build",
            hl_library_error());
    hl_text_free(&path);
    return ok;
}
