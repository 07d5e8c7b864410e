// SPDX-License-Identifier: Apache-2.0
// Texts of kernels that read the caller's dense elements. In: a raw argument of ints named raw. Out: pieces of a body
// that set a float, in the dialect.
#ifndef HALITE_GPU_PLAN_DENSE_TEXT_H
#define HALITE_GPU_PLAN_DENSE_TEXT_H

#include "gpu/lang/kernel.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// ONE: element AT of floats, or of halves where P_form.x is 1, because the host has written these in place of floats
// (gpu_plan_narrows). Integers take them apart, since not every device may read halves, and some take the smallest
// floats for zero.
#define GPU_DENSE_ELEMENT(ONE, AT)                                                           \
    GPU_TEXT(                                                                                \
        int bits = raw[pick(P_form.x == 1, (AT) / 2, AT)];                                   \
        ONE = bits_to_float(bits);                                                           \
        if (P_form.x == 1) {                                                                 \
            int code = (bits >> ((AT) % 2 * 16)) & 65535;                                    \
            int size = code & 32767;                                                         \
            ONE = bits_to_float((size << 13) + pick(size < 31744, 112, 224) * 8388608);      \
            if (size < 1024) ONE = to_float(size) * 5.9604644775390625e-8f;                  \
            if (code > 32767) ONE = -ONE;                                                    \
        }                                                                                    \
    )

// ONE: the real number of 8-bit integer AT. SCALE: a float's bits; ZERO: the zero point; LEAST: 0 of uint8, -128 of int8.
#define GPU_DENSE_BYTE(ONE, AT, SCALE, ZERO, LEAST)                                          \
    GPU_TEXT(                                                                                \
        int stored = (raw[(AT) / 4] >> ((AT) % 4 * 8)) & 255;                                \
        if (LEAST < 0 && stored > 127) stored -= 256;                                        \
        ONE = bits_to_float(SCALE) * to_float(stored - ZERO);                                \
    )
// clang-format on

#endif
