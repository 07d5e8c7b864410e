// SPDX-License-Identifier: Apache-2.0
// Kernels that use every word of the dialect once, for test_dialect. What each computes stands beside it in dialect_kernels.c.
#ifndef HALITE_TESTS_GPU_DIALECT_KERNELS_H
#define HALITE_TESTS_GPU_DIALECT_KERNELS_H

#include "gpu/lang/kernel.h"

extern const struct gpu_kernel dialect_unary, dialect_positive, dialect_binary, dialect_value, dialect_sizes, dialect_epilogue;

#endif
