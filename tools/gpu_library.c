// SPDX-License-Identifier: Apache-2.0
// See gpu_library.h.
#include "gpu_library.h"

#include <string.h>

#include "base/path.h"
#include "base/process.h"

static const char library_name[] = "libtensorflowlite_gpu_delegate.so";

void hl_gpu_library_path(struct hl_text *path)
{
    char program[4096];
    bool known = hl_process_path(program, sizeof program);
    if (known) hl_text_add(path, "%.*s../lib/%s", (int)(hl_path_name(program) - program), program, library_name);
    if (known && hl_path_may_read(path->data)) return;
    hl_text_clear(path);
    hl_text_add(path, "%s", library_name);
}

static bool load_functions(struct hl_gpu_library *gpu, struct hl_text *problem)
{
#define X(result, name, arguments)                                                                     \
    if (!hl_library_find(gpu->handle, #name, &gpu->name, sizeof gpu->name)) {                          \
        hl_text_add(problem, "%s has no " #name ": it is of another version of Halite", library_name); \
        return false;                                                                                  \
    }
    HL_GPU_FUNCTIONS(X)
#undef X
    return true;
}

bool hl_gpu_library_open(struct hl_gpu_library *gpu, struct hl_text *problem)
{
    *gpu = (struct hl_gpu_library){0};
    struct hl_text path = {0};
    hl_gpu_library_path(&path);
    gpu->handle = hl_library_open(path.data);
    hl_text_free(&path);
    if (gpu->handle == NULL) {
        hl_text_add(problem, "no GPU delegate beside this program: %s; build Halite with the OpenCL headers installed",
                    hl_library_error());
        return false;
    }
    return load_functions(gpu, problem);
}
