// SPDX-License-Identifier: Apache-2.0
// What every CPU of the architecture has: SSE2 on x86, NEON on 64-bit Arm, plain C elsewhere.
#define LEVEL baseline
#define KERNELS baseline
#include "fast/simd/integer_tmpl.h"
#include "fast/simd/microkernels_tmpl.h"
