// SPDX-License-Identifier: Apache-2.0
// x86 with AVX-512: vectors of 16 lanes with masks, products of int16 pairs.
#define LEVEL avx512
#define KERNELS avx512
#include "fast/simd/integer_tmpl.h"
#include "fast/simd/microkernels_tmpl.h"
