// SPDX-License-Identifier: Apache-2.0
// Every kernel in every precision that the plan asks for as SPIR-V, made while building (src/gpu/lang/spirv): part of
// the library where there is a Vulkan backend. Constants are specialization constants (gpu_emit says which), the entry
// point is "main".
#ifndef HALITE_GPU_LANG_SPIRV_SPIRV_H
#define HALITE_GPU_LANG_SPIRV_SPIRV_H

#include <stddef.h>
#include <stdint.h>

#include "gpu/lang/kernel.h"

// The words of a kernel by its name, malloc'ed, and how many bytes they are. NULL: there is none of that name, bytes is
// 0; else no memory.
uint32_t *gpu_spirv(const char *kernel, enum gpu_precision precision, size_t *bytes);

#endif
