// SPDX-License-Identifier: Apache-2.0
// Kernels of the application that come as text alone: Vulkan takes SPIR-V, and no driver makes it. In: a kernel. Out:
// its SPIR-V, by libshaderc, which is looked for at run time (HALITE_SHADERC_LIBRARY: its path).
#ifndef HALITE_GPU_BACKEND_VULKAN_COMPILER_H
#define HALITE_GPU_BACKEND_VULKAN_COMPILER_H

#include <stdint.h>

#include "gpu/lang/kernel.h"

// The words of a module, malloc'ed. NULL, with *bytes 0: `why` says what the compiler or the system says.
uint32_t *gpu_vulkan_compile(const struct gpu_kernel *kernel, enum gpu_precision precision, size_t *bytes, char *why,
                             size_t room);

#endif
