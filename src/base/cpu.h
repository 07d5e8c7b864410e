// SPDX-License-Identifier: Apache-2.0
// What the CPU that the program runs on can do beyond its architecture's baseline, which every build may use.
#ifndef HALITE_BASE_CPU_H
#define HALITE_BASE_CPU_H

#include <stdint.h>

// Systems that may give a process the registers of x86's matrix unit.
#if defined __x86_64__ && defined __linux__
#define HL_CPU_MAY_HAVE_AMX 1
#endif

// Systems of which is known how they tell that there are Arm's scalable vectors.
#if defined __aarch64__ && defined __linux__
#define HL_CPU_MAY_HAVE_SVE 1
#endif

// Each bit stands for instructions that the operating system lets programs use as well. The bits of another
// architecture are never set.
enum {
    HL_CPU_AVX2 = 1 << 0,       // AVX2 and FMA
    HL_CPU_AVX512 = 1 << 1,     // AVX-512 F, BW, DQ and VL
    HL_CPU_AVX512VNNI = 1 << 2, // and its dot products of bytes
    HL_CPU_AVX512VBMI = 1 << 8, // and its tables of bytes
    HL_CPU_AMXINT8 = 1 << 4,    // x86's matrix unit, with products of bytes
    HL_CPU_DOTPROD = 1 << 3,    // Arm's dot products of bytes, SDOT and UDOT
    HL_CPU_I8MM = 1 << 5,       // and its products of matrices of bytes
    HL_CPU_SVE256 = 1 << 6,     // the same with scalable vectors, which have 256 bits
    HL_CPU_SVE512 = 1 << 7,     // or 512
    HL_CPU_F16C = 1 << 9,       // AVX2, and its conversions of halves
};

uint32_t hl_cpu_features(void);

#endif
