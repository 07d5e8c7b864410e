// SPDX-License-Identifier: Apache-2.0
// Which CPU levels there are (levels.def), and which of them this CPU has.
#include "fast/simd/simd.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"

// HL_ON_X(...) is its arguments where the program is compiled for the architecture X, and nothing elsewhere.
#define HL_ON_ANY(...) __VA_ARGS__
#if defined __x86_64__ || defined __i386__
#define HL_ON_X86(...) __VA_ARGS__
#else
#define HL_ON_X86(...)
#endif
#if defined HL_CPU_MAY_HAVE_AMX
#define HL_ON_X64_LINUX(...) __VA_ARGS__
#else
#define HL_ON_X64_LINUX(...)
#endif
#if defined __aarch64__
#define HL_ON_ARM64(...) __VA_ARGS__
#else
#define HL_ON_ARM64(...)
#endif
#if defined HL_CPU_MAY_HAVE_SVE
#define HL_ON_ARM64_LINUX(...) __VA_ARGS__
#else
#define HL_ON_ARM64_LINUX(...)
#endif

#define HL_LEVEL(architecture, name, features, flags) HL_ON_##architecture(extern const struct hl_simd hl_simd_##name;)
#include "fast/simd/levels.def"
#undef HL_LEVEL

static const struct {
    uint32_t features;
    const struct hl_simd *level;
} levels[] = {
#define HL_LEVEL(architecture, name, features, flags) HL_ON_##architecture({features, &hl_simd_##name}, )
#include "fast/simd/levels.def"
#undef HL_LEVEL
};

const struct hl_simd *hl_simd_level(int index)
{
    const uint32_t features = hl_cpu_features();
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if ((levels[i].features & ~features) == 0 && index-- == 0) return levels[i].level;
    return NULL;
}

const struct hl_simd *hl_simd_best(int channels)
{
    const char *wanted = getenv("HALITE_SIMD");
    const struct hl_simd *best = NULL, *level;
    for (int i = 0; (level = hl_simd_level(i)); i++) {
        if (!best || level->columns / 2 <= channels) best = level;
        if (wanted && strcmp(wanted, level->name) == 0) break;
    }
    return best;
}

const struct hl_simd *hl_simd_best_of_pairs(void)
{
    const struct hl_simd *best = hl_simd_best(INT_MAX), *chosen = NULL, *level = NULL;
    for (int i = 0; level != best; i++) {
        level = hl_simd_level(i);
        if (level->dot_width == 2) chosen = level;
    }
    return chosen;
}

bool hl_simd_has_wide_tables(const struct hl_simd *simd)
{
    return HL_MAY_HAVE_WIDE_TABLES && simd->asks_wide && (hl_cpu_features() & HL_CPU_AVX512VBMI);
}

hl_byte_map_kernel *hl_simd_byte_map(const struct hl_simd *simd)
{
    const struct hl_element_kernels *kernels = simd->kernels->elements;
    return hl_simd_has_wide_tables(simd) ? kernels->bytes_by_wide_table : kernels->bytes;
}

void hl_simd_check(const struct hl_reporter *reporter)
{
    const char *wanted = getenv("HALITE_SIMD");
    const struct hl_simd *level;
    char names[256] = "";
    size_t length = 0;
    if (!wanted || !*wanted) return;
    for (int i = 0; (level = hl_simd_level(i)); i++) {
        if (strcmp(wanted, level->name) == 0) return;
        int added = snprintf(names + length, sizeof names - length, "%s%s", i > 0 ? ", " : "", level->name);
        if (added > 0 && (size_t)added < sizeof names - length) length += (size_t)added;
    }
    hl_report(reporter, "HALITE_SIMD is \"%s\", which is no CPU level here (%s): the best one is used", wanted, names);
}
