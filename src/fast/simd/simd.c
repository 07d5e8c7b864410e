// SPDX-License-Identifier: Apache-2.0
// Which levels this CPU has.
#include "fast/simd/simd.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

extern const struct hl_simd hl_simd_baseline;

#if defined __x86_64__ || defined __i386__
extern const struct hl_simd hl_simd_avx2, hl_simd_avx512, hl_simd_avx512vnni;

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

static bool has_avx512vnni(void)
{
    return has_avx512() && __builtin_cpu_supports("avx512vnni");
}
#endif

static bool always(void)
{
    return true;
}

static const struct {
    bool (*here)(void);
    const struct hl_simd *level;
} levels[] = {
    {always, &hl_simd_baseline},
#if defined __x86_64__ || defined __i386__
    {has_avx2, &hl_simd_avx2},
    {has_avx512, &hl_simd_avx512},
    {has_avx512vnni, &hl_simd_avx512vnni},
#endif
};

const struct hl_simd *hl_simd_level(int index)
{
    if ((size_t)index >= sizeof levels / sizeof *levels || !levels[index].here()) return NULL;
    return levels[index].level;
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
