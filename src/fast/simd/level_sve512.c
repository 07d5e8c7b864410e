// SPDX-License-Identifier: Apache-2.0
// 64-bit Arm with scalable vectors of 512 bits (SVE) and their products of matrices of bytes: matrix products in these,
// everything else is the code of the levels of NEON.
#define LEVEL sve512
#define VECTORS dotprod
#define KERNELS baseline
#define MULTIPLY_F32 sve512
#include "fast/simd/multiply_f32_tmpl.h"
#include "fast/simd/pairs_tmpl.h"
