// SPDX-License-Identifier: Apache-2.0
// x86 with AVX-512 VNNI: dot products of four bytes; everything else is the code of the level avx512.
#define LEVEL avx512vnni
#define KERNELS avx512
#include "fast/simd/integer_tmpl.h"
