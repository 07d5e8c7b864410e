// SPDX-License-Identifier: Apache-2.0
// x86 with AVX2 and FMA: vectors of 8 lanes, products of int16 pairs.
#define LEVEL avx2
#define KERNELS avx2
#include "fast/simd/integer_tmpl.h"
#include "fast/simd/microkernels_tmpl.h"
