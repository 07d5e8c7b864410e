// SPDX-License-Identifier: Apache-2.0
// The list of all kernels, for the build and for tests. gpu_shaders.c makes SPIR-V of whatever list it is linked with:
// that of the library is in gpu/ops/kernels.c.
#ifndef HALITE_GPU_LANG_SPIRV_KERNELS_H
#define HALITE_GPU_LANG_SPIRV_KERNELS_H

#include "gpu/lang/kernel.h"

// Calls visit once for each kernel until it returns false; then this returns false too. It is an error, with a message,
// if two kernels have the same name.
bool gpu_each_kernel(bool (*visit)(const struct gpu_kernel *kernel, void *user), void *user);

// How many precisions, from GPU_F32 on, the plan asks for (record.c).
extern const int gpu_kernel_precisions;

static const char *const gpu_precision_names[GPU_PRECISIONS] = {"f32", "f16s", "f16"};

#endif
