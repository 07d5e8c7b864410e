// SPDX-License-Identifier: Apache-2.0
// See peak.h. The loops are written as the instructions that they measure, since compilers put moves between them. Each
// has more independent sums than a multiply-add takes cycles, on any processor that is known, so that no sum waits for
// itself. All threads run one loop until the same moment, and what they have done is added up.
#include "bench/peak.h"

#include <stdint.h>
#include <stdlib.h>

#include "alloc.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "base/threads.h"

// Takes 12 steps `rounds` times, at least once.
typedef void loop(int64_t rounds);

enum { STEPS = 12 };
#define TWELVE(X) X("0") X("1") X("2") X("3") X("4") X("5") X("6") X("7") X("8") X("9") X("10") X("11")
// Registers 0 to 11 are sums, 12 and 13 what is multiplied; all begin as zeros.
#define LOOP(NAME, ZERO, STEP, AGAIN)                                                                            \
    static void NAME(int64_t rounds)                                                                             \
    {                                                                                                            \
        __asm__ volatile(TWELVE(ZERO) ZERO("12") ZERO("13") "1:\n" TWELVE(STEP) AGAIN                            \
                         : "+r"(rounds)                                                                          \
                         :                                                                                       \
                         : "cc", V("0"), V("1"), V("2"), V("3"), V("4"), V("5"), V("6"), V("7"), V("8"), V("9"), \
                           V("10"), V("11"), V("12"), V("13"));                                                  \
    }

#if defined __x86_64__
#define V(i) "xmm" i
#define AGAIN "dec %0\njnz 1b\n"
#define ZERO_SSE2(i) "pxor %%xmm" i ", %%xmm" i "\n"
#define ZERO_AVX(i) "vpxor %%xmm" i ", %%xmm" i ", %%xmm" i "\n"
#define TWO(first, second, i, v) first " %%" v "12, %%" v i "\n" second " %%" v "13, %%" v i "\n"
#define TWO_AVX(first, second, i, v) \
    first " %%" v "12, %%" v i ", %%" v i "\n" second " %%" v "13, %%" v i ", %%" v i "\n"
#define ONE_AVX(only, i, v) only " %%" v "12, %%" v "13, %%" v i "\n"
#define FLOATS_SSE2(i) TWO("mulps", "addps", i, "xmm")
#define FLOATS_AVX2(i) ONE_AVX("vfmadd231ps", i, "ymm")
#define FLOATS_AVX512(i) ONE_AVX("vfmadd231ps", i, "zmm")
#define PAIRS_SSE2(i) TWO("pmaddwd", "paddd", i, "xmm")
#define PAIRS_AVX2(i) TWO_AVX("vpmaddwd", "vpaddd", i, "ymm")
#define PAIRS_AVX512(i) TWO_AVX("vpmaddwd", "vpaddd", i, "zmm")
#define FOURS_AVX512(i) ONE_AVX("vpdpbusd", i, "zmm")
LOOP(floats_sse2, ZERO_SSE2, FLOATS_SSE2, AGAIN)
LOOP(floats_avx2, ZERO_AVX, FLOATS_AVX2, AGAIN "vzeroupper\n")
LOOP(floats_avx512, ZERO_AVX, FLOATS_AVX512, AGAIN "vzeroupper\n")
LOOP(pairs_sse2, ZERO_SSE2, PAIRS_SSE2, AGAIN)
LOOP(pairs_avx2, ZERO_AVX, PAIRS_AVX2, AGAIN "vzeroupper\n")
LOOP(pairs_avx512, ZERO_AVX, PAIRS_AVX512, AGAIN "vzeroupper\n")
LOOP(fours_avx512, ZERO_AVX, FOURS_AVX512, AGAIN "vzeroupper\n")

#if defined HL_CPU_MAY_HAVE_AMX
// Twelve products of whole registers, four of which are sums: as many as the unit needs to be busy.
static void tiles_amx(int64_t rounds)
{
    // What LDTILECFG reads: the palette, and the bytes of a row and the rows of each of eight registers.
    static const struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } setting = {
        .palette = 1,
        .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
        .rows = {16, 16, 16, 16, 16, 16, 16, 16},
    };
#define FOUR_TILES                     \
    "tdpbusd %%tmm6, %%tmm4, %%tmm0\n" \
    "tdpbusd %%tmm7, %%tmm4, %%tmm1\n" \
    "tdpbusd %%tmm6, %%tmm5, %%tmm2\n" \
    "tdpbusd %%tmm7, %%tmm5, %%tmm3\n"
    __asm__ volatile("ldtilecfg %1\n1:\n" FOUR_TILES FOUR_TILES FOUR_TILES AGAIN "tilerelease\n"
                     : "+r"(rounds)
                     : "m"(setting)
                     : "cc");
}
#endif

#elif defined __aarch64__
#define V(i) "v" i
#define AGAIN "subs %0, %0, #1\nb.ne 1b\n"
#define ZERO_NEON(i) "movi v" i ".4s, #0\n"
#define FLOATS_NEON(i) "fmla v" i ".4s, v12.4s, v13.4s\n"
#define PAIRS_NEON(i) "smlal v" i ".4s, v12.4h, v13.4h\n"
#define FOURS_NEON(i) ".arch_extension dotprod\nsdot v" i ".4s, v12.16b, v13.16b\n"
#define EIGHTS_NEON(i) ".arch_extension i8mm\nsmmla v" i ".4s, v12.16b, v13.16b\n"
LOOP(floats_neon, ZERO_NEON, FLOATS_NEON, AGAIN)
LOOP(pairs_neon, ZERO_NEON, PAIRS_NEON, AGAIN)
LOOP(fours_neon, ZERO_NEON, FOURS_NEON, AGAIN)
LOOP(eights_neon, ZERO_NEON, EIGHTS_NEON, AGAIN)
#endif

// The loops of this architecture, of each type the fastest last.
static const struct way {
    enum hl_peak_type type;
    uint32_t features; // that the processor must have
    int multiply_adds; // of a step
    loop *run;
} ways[] = {
#if defined __x86_64__
    {HL_PEAK_FLOATS, 0, 4, floats_sse2},
    {HL_PEAK_FLOATS, HL_CPU_AVX2, 8, floats_avx2},
    {HL_PEAK_FLOATS, HL_CPU_AVX512, 16, floats_avx512},
    {HL_PEAK_BYTES, 0, 8, pairs_sse2},
    {HL_PEAK_BYTES, HL_CPU_AVX2, 16, pairs_avx2},
    {HL_PEAK_BYTES, HL_CPU_AVX512, 32, pairs_avx512},
    {HL_PEAK_BYTES, HL_CPU_AVX512 | HL_CPU_AVX512VNNI, 64, fours_avx512},
#if defined HL_CPU_MAY_HAVE_AMX
    {HL_PEAK_BYTES, HL_CPU_AMXINT8, 16 * 16 * 64, tiles_amx},
#endif
#elif defined __aarch64__
    {HL_PEAK_FLOATS, 0, 4, floats_neon},
    {HL_PEAK_BYTES, 0, 4, pairs_neon},
    {HL_PEAK_BYTES, HL_CPU_DOTPROD, 16, fours_neon},
    {HL_PEAK_BYTES, HL_CPU_DOTPROD | HL_CPU_I8MM, 32, eights_neon},
#endif
    {HL_PEAK_TYPES, 0, 0, NULL},
};

// One window of time, in which every thread runs the loop.
struct window {
    loop *run;
    double end;
    int64_t *rounds; // of each thread
};

static void run_until(void *arg, int64_t item, int worker)
{
    enum { ROUNDS = 500 }; // which take some microseconds
    const struct window *window = arg;
    (void)worker;
    while (hl_seconds() < window->end) {
        window->run(ROUNDS);
        window->rounds[item] += ROUNDS;
    }
}

// Multiply-adds a second, the most of some windows: clocks rise in the first, and others may disturb one.
static double rate_of(const struct way *way, struct hl_threads *threads, int count)
{
    enum { WINDOWS = 4 };
    const double seconds = 0.008;
    double most = 0;
    int64_t *rounds = hl_alloc((size_t)count, sizeof *rounds);
    for (int i = 0; i < WINDOWS; i++) {
        double start = hl_seconds(), all = 0;
        struct window window = {way->run, start + seconds, rounds};
        for (int t = 0; t < count; t++) rounds[t] = 0;
        hl_threads_run(threads, count, run_until, &window);
        for (int t = 0; t < count; t++) all += (double)rounds[t];
        double rate = all * STEPS * way->multiply_adds / (hl_seconds() - start);
        if (rate > most) most = rate;
    }
    free(rounds);
    return most;
}

void hl_peak_measure(int threads, double most[HL_PEAK_TYPES])
{
    struct hl_threads *pool = hl_threads_create(threads);
    for (int type = 0; type < HL_PEAK_TYPES; type++) {
        const struct way *best = NULL;
        for (const struct way *way = ways; way->run; way++)
            if ((int)way->type == type && (way->features & ~hl_cpu_features()) == 0) best = way;
        most[type] = best ? rate_of(best, pool, hl_threads_count(pool)) : 0;
    }
    hl_threads_destroy(pool);
}
