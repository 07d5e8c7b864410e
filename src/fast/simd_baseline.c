// SPDX-License-Identifier: Apache-2.0
// The inner loops for what every CPU of the architecture has: SSE2, NEON, or plain C.
#define LEVEL baseline
#define LOOPS baseline
#include "fast/simd_integer.h"
#include "fast/simd_loops.h"
