// SPDX-License-Identifier: Apache-2.0
// The inner loops for x86 with AVX2 and FMA. CMakeLists.txt gives the flags.
#if defined __x86_64__ || defined __i386__
#define LEVEL avx2
#define LOOPS avx2
#include "fast/simd_integer.h"
#include "fast/simd_loops.h"
#else
typedef int hl_not_here; // ISO C wants something in a file
#endif
