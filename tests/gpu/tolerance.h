// SPDX-License-Identifier: Apache-2.0
// How far a result on the GPU may lie from the CPU's reference kernels in float: one table, by what an operator does
// and in which precision. A number is allowed relative to max(1, |expected|). Inputs of such tests are exact in half
// precision, so that what is seen is the operator's own rounding, not that of its inputs.
#ifndef HALITE_TESTS_GPU_TOLERANCE_H
#define HALITE_TESTS_GPU_TOLERANCE_H

#include <math.h>

#include "gpu/lang/kernel.h"

enum gpu_tolerance {
    GPU_MOVES,    // elements move, or are chosen: nothing is computed
    GPU_ROUNDS,   // a few sums and products
    GPU_BLENDS,   // sums of neighbors by fractions of positions
    GPU_SUMS,     // long sums of products
    GPU_WINOGRAD, // the same by way of Winograd's transforms, where there are many
    GPU_FUNCTION, // exp, log, pow, roots, and sums of a row of them
    GPU_WAVES,    // sin, cos
    GPU_RECURS,   // a few times after each other what GPU_FUNCTION does, with values of about 1
};

static inline double gpu_tolerance(enum gpu_tolerance kind, enum gpu_precision precision)
{
    static const double table[][GPU_PRECISIONS] = {
        // Exact wherever the inputs are.
        [GPU_MOVES] = {0, 0, 0},
        // f32: a division may be off by 2.5 ulp (Vulkan, OpenCL), a product feeds a sum: 8 ulp of 2^-24.
        // f16s: the same, and one rounding to a half when it is stored, 2^-11; two where a value lies in memory in
        // between. f16: the operators keep their sums in float; a step or two in half arithmetic on the way: 2^-9.
        [GPU_ROUNDS] = {5e-7, 1e-3, 2e-3},
        // f32: a position up to 8 is known to 2^-21, and neighbors differ by up to 8; else as above.
        [GPU_BLENDS] = {4e-6, 1e-3, 2e-3},
        // f32: products and sums of the table's numbers have at most 24 bits, so order does not matter; what rounds is
        // a mean's division.
        [GPU_SUMS] = {4e-6, 1e-3, 2e-3},
        // f32: the 36 sums that make 16 outputs are rounded to 2^-24 of their largest part and meet again times up to 9
        // with either sign: 1e-6 of the 250 that the amounts of an output's 600 products come to here.
        [GPU_WINOGRAD] = {2.5e-4, 1e-3, 2e-3},
        // f32: Vulkan allows exp 3 + 2|x| ulp, log 3 ulp, pow as exp2(y * log2(x)): 16 ulp for |x| <= 4 and |y *
        // log2(x)| <= 8. f16: additionally Vulkan's half exp and log are taken by way of float; results round once: as
        // above.
        [GPU_FUNCTION] = {4e-6, 1e-3, 2e-3},
        // f32: OpenCL allows 4 ulp, GLSL has its own (src/gpu/lang/glsl.c): 2 ulp.
        [GPU_WAVES] = {5e-7, 1e-3, 2e-3},
        // f16s, f16: states of about 1 round to halves, 2^-11 each time, for the nine times of the longest row.
        [GPU_RECURS] = {4e-6, 4.5e-3, 4.5e-3},
    };
    return table[kind][precision];
}

// The same for one expected value, absolute. Vulkan allows exp and pow (3 + 2 |z|) ulp, where the result is 2^z: the
// table's number holds up to |z| = 8, and beyond it this grows.
static inline double gpu_tolerance_at(enum gpu_tolerance kind, enum gpu_precision precision, double expected)
{
    double size = fmax(1.0, fabs(expected)), relative = gpu_tolerance(kind, precision);
    if (kind == GPU_FUNCTION && isfinite(size)) relative = fmax(relative, (3 + 2 * log2(size)) * 0x1p-23);
    return relative * size;
}

#endif
