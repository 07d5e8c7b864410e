// SPDX-License-Identifier: Apache-2.0
// 64-bit Arm whose bytes are multiplied as such (SMULL), where there are no dot products; everything else is the code
// of the baseline, NEON.
#define MULTIPLIES_BYTES
#define LEVEL smull
#define KERNELS baseline
#include "fast/simd/integer_tmpl.h"
