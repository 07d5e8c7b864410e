// SPDX-License-Identifier: Apache-2.0
// CPU features as the processor, or the operating system, reports them.
#include "base/cpu.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/mutex.h"

#if defined __x86_64__ || defined __i386__
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

static bool find_matrix_unit(void)
{
    enum { AMX_TILE = 1 << 24, AMX_INT8 = 1 << 25 };
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (edx & AMX_TILE) && (edx & AMX_INT8) && ask_for_tiles();
}
#else
static bool find_matrix_unit(void)
{
    return false;
}
#endif

// CPUID says what the processor has, in bits of leaves 1 and 7, and XGETBV which registers the operating system saves.
// (__builtin_cpu_supports asks the same, and takes 5 KB of the compiler's library, which names processors, too.)
enum { FMA = 1 << 12, OSXSAVE = 1 << 27, F16C = 1 << 29, AVX2 = 1 << 5, AVX512VBMI = 1 << 1, AVX512VNNI = 1 << 11 };
static const unsigned avx512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31; // F, DQ, BW, VL
enum { AVX_REGISTERS = 0x6, AVX512_REGISTERS = 0xe0 };

static unsigned saved_registers(void)
{
    unsigned eax, edx;
    __asm__("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
#if defined __APPLE__ // macOS lets a thread have the registers of AVX-512 when it first uses them
    eax |= AVX512_REGISTERS;
#endif
    return eax;
}

static uint32_t found;

static void find_features(void)
{
    unsigned eax, ebx, ecx, edx;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & OSXSAVE)) return;
    const unsigned first = ecx, saved = saved_registers();
    const bool known = __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx);
    if (!known || (saved & AVX_REGISTERS) != AVX_REGISTERS || !(ebx & AVX2)) return;
    if (first & FMA) found |= HL_CPU_AVX2;
    if (first & F16C) found |= HL_CPU_F16C;
    if ((saved & AVX512_REGISTERS) != AVX512_REGISTERS || (ebx & avx512) != avx512) return;
    found |= HL_CPU_AVX512;
    if (ecx & AVX512VNNI) found |= HL_CPU_AVX512VNNI;
    if (ecx & AVX512VBMI) found |= HL_CPU_AVX512VBMI;
    if (find_matrix_unit()) found |= HL_CPU_AMXINT8;
}

// Once: where the machine is a virtual one, each CPUID asks its host.
uint32_t hl_cpu_features(void)
{
    static struct hl_once once = HL_ONCE_INIT;
    hl_once(&once, find_features);
    return found;
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
