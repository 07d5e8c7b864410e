// SPDX-License-Identifier: Apache-2.0
// All kernels that there are: those of the plan and those that a row of ops.def leads to, each once, for the build and
// tests.
#ifndef HALITE_GPU_LANG_SPIRV_KERNELS_H
#define HALITE_GPU_LANG_SPIRV_KERNELS_H

#include "gpu/lang/kernel.h"

// Calls visit for each until it returns false; false then. No two kernels have the same name (else: a message, false).
bool gpu_each_kernel(bool (*visit)(const struct gpu_kernel *kernel, void *user), void *user);

// In how many precisions, from GPU_F32 on, the plan has them made (record.c).
extern const int gpu_kernel_precisions;

static const char *const gpu_precision_names[GPU_PRECISIONS] = {"f32", "f16s", "f16"};

#endif
