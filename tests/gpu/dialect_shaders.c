// SPDX-License-Identifier: Apache-2.0
// For the build, which makes SPIR-V of them, "all kernels" (gpu/lang/spirv/kernels.h) are the dialect's.
#include "gpu/dialect_kernels.h"
#include "gpu/lang/spirv/kernels.h"

const int gpu_kernel_precisions = GPU_PRECISIONS;

bool gpu_each_kernel(bool (*visit)(const struct gpu_kernel *kernel, void *user), void *user)
{
    for (const struct gpu_kernel *const *kernel = dialect_kernels; *kernel; kernel++)
        if (!visit(*kernel, user)) return false;
    return true;
}
