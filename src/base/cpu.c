// SPDX-License-Identifier: Apache-2.0
// CPU features as the compiler's library, or the operating system, reports them.
#include "base/cpu.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/mutex.h"

#if defined __x86_64__
#include <cpuid.h>
#elif defined __aarch64__ && defined __linux__
#include <sys/auxv.h>
#elif defined __aarch64__ && defined __APPLE__
#include <sys/sysctl.h>
#endif

#if defined __x86_64__ || defined __i386__

#if defined HL_CPU_MAY_HAVE_AMX
// Linux gives the registers of the matrix unit only to a process that has asked for them, once for all its threads. A
// kernel that does not know the question does not save these registers.
static bool ask_for_tiles(void)
{
    enum { ARCH_PRCTL = 158, ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"((long)ARCH_PRCTL), "D"((long)ARCH_REQ_XCOMP_PERM), "S"((long)XFEATURE_XTILEDATA)
                     : "rcx", "r11", "memory");
    return result == 0;
}

static bool matrix_unit;

static void find_matrix_unit(void)
{
    enum { AMX_TILE = 1 << 24, AMX_INT8 = 1 << 25 };
    unsigned eax, ebx, ecx, edx;
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return;
    matrix_unit = (edx & AMX_TILE) && (edx & AMX_INT8) && ask_for_tiles();
}

static bool has_matrix_unit(void)
{
    static struct hl_once once = HL_ONCE_INIT;
    hl_once(&once, find_matrix_unit);
    return matrix_unit;
}
#else
static bool has_matrix_unit(void)
{
    return false;
}
#endif

uint32_t hl_cpu_features(void)
{
    uint32_t features = 0;
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) features |= HL_CPU_AVX2;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c")) features |= HL_CPU_F16C;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl")) {
        features |= HL_CPU_AVX512;
        if (__builtin_cpu_supports("avx512vnni")) features |= HL_CPU_AVX512VNNI;
        if (__builtin_cpu_supports("avx512vbmi")) features |= HL_CPU_AVX512VBMI;
        if (has_matrix_unit()) features |= HL_CPU_AMXINT8;
    }
    return features;
}

#elif defined __aarch64__ && defined __linux__

// The length of scalable vectors, in bytes: RDVL x0, #1, which compilers know only where all code may use them.
static int vector_length(void)
{
    register long length __asm__("x0");
    __asm__(".inst 0x04bf5020" : "=r"(length));
    return (int)length;
}

uint32_t hl_cpu_features(void)
{
    // The bits of asm/hwcap.h, which older C libraries lack.
    enum { ASIMDDP = 1 << 20, SVE = 1 << 22, SVEI8MM = 1 << 9, I8MM = 1 << 13 };
    const unsigned long first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
    uint32_t features = 0;
    if (first & ASIMDDP) features |= HL_CPU_DOTPROD;
    if (second & I8MM) features |= HL_CPU_I8MM;
    if ((first & SVE) && (second & SVEI8MM)) {
        const int length = vector_length();
        if (length == 32) features |= HL_CPU_SVE256;
        if (length == 64) features |= HL_CPU_SVE512;
    }
    return features;
}

#elif defined __aarch64__ && defined __APPLE__

// A name that the system does not know is that of a feature it has not heard of.
static bool has(const char *name)
{
    int value = 0;
    size_t size = sizeof value;
    return sysctlbyname(name, &value, &size, NULL, 0) == 0 && value != 0;
}

uint32_t hl_cpu_features(void)
{
    uint32_t features = 0;
    if (has("hw.optional.arm.FEAT_DotProd")) features |= HL_CPU_DOTPROD;
    if (has("hw.optional.arm.FEAT_I8MM")) features |= HL_CPU_I8MM;
    return features;
}

#else

uint32_t hl_cpu_features(void)
{
    return 0;
}

#endif
