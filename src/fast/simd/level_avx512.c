// SPDX-License-Identifier: Apache-2.0
// The inner loops for x86 with AVX-512 F, BW, DQ and VL. CMakeLists.txt gives the flags.
#if defined __x86_64__ || defined __i386__
#define LEVEL avx512
#define KERNELS avx512
#include "fast/simd/integer_tmpl.h"
#include "fast/simd/microkernels_tmpl.h"
#else
typedef int hl_not_here; // ISO C wants something in a file
#endif
