// SPDX-License-Identifier: Apache-2.0
// The kernels that belong to no operator. They copy between values and what is outside (enum gpu_format), and from
// constants to values.
#ifndef HALITE_GPU_PLAN_KERNELS_H
#define HALITE_GPU_PLAN_KERNELS_H

#include "gpu/lang/kernel.h"

extern const struct gpu_kernel gpu_kernel_from_dense, gpu_kernel_to_dense, gpu_kernel_from_bytes, gpu_kernel_to_bytes,
    gpu_kernel_from_halves, gpu_kernel_to_halves, gpu_kernel_from_pixels, gpu_kernel_from_float_pixels,
    gpu_kernel_to_pixels, gpu_kernel_to_float_pixels, gpu_kernel_copy_vectors, gpu_kernel_from_weights,
    gpu_kernel_bytes_to_codes, gpu_kernel_codes_to_bytes, gpu_kernel_codes_from_ints;
// All of them, with NULL at the end.
extern const struct gpu_kernel *const gpu_plan_kernels[];

#endif
