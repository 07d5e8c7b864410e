// SPDX-License-Identifier: Apache-2.0
// CPU features as the compiler's library, or the operating system, reports them.
#include "base/cpu.h"

#if defined __aarch64__ && defined __linux__
#include <sys/auxv.h>
#endif

#if defined __x86_64__ || defined __i386__

uint32_t hl_cpu_features(void)
{
    uint32_t features = 0;
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) features |= HL_CPU_AVX2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl")) {
        features |= HL_CPU_AVX512;
        if (__builtin_cpu_supports("avx512vnni")) features |= HL_CPU_AVX512VNNI;
    }
    return features;
}

#elif defined __aarch64__ && defined __linux__

uint32_t hl_cpu_features(void)
{
    enum { ASIMDDP = 1 << 20 }; // HWCAP_ASIMDDP of asm/hwcap.h, which older C libraries lack
    return getauxval(AT_HWCAP) & ASIMDDP ? HL_CPU_DOTPROD : 0;
}

#else

uint32_t hl_cpu_features(void)
{
    return 0;
}

#endif
