// SPDX-License-Identifier: Apache-2.0
// 64-bit Arm with products of matrices of bytes (SMMLA); everything else is the code of the levels below.
#define LEVEL i8mm
#define VECTORS dotprod
#define KERNELS baseline
#define MULTIPLY_F32 baseline
#include "fast/simd/pairs_tmpl.h"
