// SPDX-License-Identifier: Apache-2.0
// Kernels that use every word of the dialect: test_kernels and kernels.sh show them to compilers, test_dialect runs
// them.
#ifndef HALITE_TESTS_GPU_DIALECT_KERNELS_H
#define HALITE_TESTS_GPU_DIALECT_KERNELS_H

#include "gpu/lang/kernel.h"

extern const struct gpu_kernel dialect_unary, dialect_positive, dialect_binary, dialect_value, dialect_sizes,
    dialect_epilogue, dialect_plain_dots, dialect_dots;
extern const struct gpu_kernel *const dialect_kernels[]; // all of them, NULL at the end

#endif
