// SPDX-License-Identifier: Apache-2.0
// The inner loops for what every CPU of the architecture has: SSE2, NEON, or plain C.
#define LEVEL baseline
#define KERNELS baseline
#include "fast/simd/integer_tmpl.h"
#include "fast/simd/microkernels_tmpl.h"
