// SPDX-License-Identifier: Apache-2.0
// The inner loops for x86 with AVX2 and FMA. CMakeLists.txt gives the flags.
#if defined __x86_64__ || defined __i386__
#define LEVEL avx2
#define KERNELS avx2
#include "fast/simd/integer_tmpl.h"
#include "fast/simd/microkernels_tmpl.h"
#else
typedef int hl_not_here; // ISO C wants something in a file
#endif
