// SPDX-License-Identifier: Apache-2.0
// Finds a kernel's SPIR-V among the library's modules. In: its name and a precision. Out: its words.
#include "gpu/lang/spirv/spirv.h"

#include <string.h>

uint32_t *gpu_spirv(const char *kernel, enum gpu_precision precision, size_t *bytes)
{
    *bytes = 0;
    for (int i = 0; i < gpu_spirv_module_count; i++) {
        if (gpu_spirv_modules[i].precision != precision || strcmp(gpu_spirv_modules[i].kernel, kernel) != 0) continue;
        *bytes = gpu_spirv_modules[i].words * sizeof(uint32_t);
        return gpu_spirv_unpack(gpu_spirv_modules, i);
    }
    return NULL;
}
