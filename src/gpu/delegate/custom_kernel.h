// SPDX-License-Identifier: Apache-2.0
// Kernels of the application. In: a HaliteGpuKernel, which anybody may have written. Out: a struct gpu_kernel like
// those of the library, in memory of an arena, or a sentence that says what is wrong with it.
#ifndef HALITE_GPU_DELEGATE_CUSTOM_KERNEL_H
#define HALITE_GPU_DELEGATE_CUSTOM_KERNEL_H

#include "base/arena.h"
#include "base/report.h"
#include "gpu/lang/kernel.h"
#include "halite/gpu_op.h"

// At most: characters of a name, and constants of a kernel (halite/gpu_op.h).
enum { GPU_CUSTOM_NAME = 31, GPU_CUSTOM_CONSTANTS = 16 };

struct gpu_problem {
    char text[192];
};

// Writes the sentence. Always false.
bool gpu_set_problem(struct gpu_problem *problem, const char *format, ...) HL_PRINTF(2, 3);
// Copies a text. NULL, with a problem, without memory.
char *gpu_copy_text(struct hl_arena *arena, const char *text, size_t length, struct gpu_problem *problem);

// A copy of the kernel that needs nothing of the application's. NULL: *problem says why.
const struct gpu_kernel *gpu_custom_kernel(const HaliteGpuKernel *from, struct hl_arena *arena,
                                           struct gpu_problem *problem);

#endif
