// SPDX-License-Identifier: Apache-2.0
// 64-bit Arm with dot products of four bytes (SDOT); everything else is the code of the baseline, NEON.
#define LEVEL dotprod
#define KERNELS baseline
#include "fast/simd/integer_tmpl.h"
