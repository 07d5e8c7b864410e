// SPDX-License-Identifier: Apache-2.0
// The kernels of CONCATENATION, for operators that plan a concatenation of their own.
#ifndef HALITE_GPU_OPS_CONCATENATION_H
#define HALITE_GPU_OPS_CONCATENATION_H

#include "gpu/ops/reshape.h"
#include "gpu/plan/kernels.h"

extern const struct gpu_kernel gpu_kernel_concatenate, gpu_kernel_concatenate_codes; // of floats, of codes
extern const struct gpu_kernel gpu_kernel_insert, gpu_kernel_insert_codes;
#define GPU_CONCATENATION_KERNELS &gpu_kernel_concatenate, &gpu_kernel_insert, &gpu_kernel_reshape, &gpu_kernel_to_dense
#define GPU_CONCATENATION_CODES_KERNELS \
    &gpu_kernel_concatenate_codes, &gpu_kernel_insert_codes, &gpu_kernel_reshape_codes

#endif
