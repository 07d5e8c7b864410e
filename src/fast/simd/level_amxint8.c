// SPDX-License-Identifier: Apache-2.0
// x86 with a matrix unit of bytes (AMX): large products in it, everything else as with AVX-512 VNNI.
#define LEVEL amxint8
#define VECTORS avx512vnni
#define KERNELS avx512
#include "fast/simd/matrix_tmpl.h"
