// SPDX-License-Identifier: Apache-2.0
// See peak.h. Each loop has more independent sums than a multiply-add takes cycles, on any processor that is known, so
// that no sum waits for itself. All threads run one loop until the same moment, and what they have done is added up.
#include "bench/peak.h"

#include <stdint.h>
#include <stdlib.h>

#include "alloc.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "base/threads.h"

#if defined __x86_64__
#include <immintrin.h>
#elif defined __aarch64__
#include <arm_neon.h>
#endif

// Takes 12 steps `rounds` times.
typedef void loop(int64_t rounds);

// Keeps a value that nobody reads, and hides how it was made.
#define KEEP(value) __asm__ volatile("" : "+" VECTOR(value))
#define TWELVE(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)

// A loop whose steps are NEXT of 12 sums in turn, with factors a and b. All of them are ZERO, and stay so.
#define LOOP(NAME, TARGET, TYPE, ZERO, NEXT)         \
    TARGET static void NAME(int64_t rounds)          \
    {                                                \
        TYPE a = ZERO, b = ZERO, sums[12];           \
        KEEP(a);                                     \
        KEEP(b);                                     \
        for (int i = 0; i < 12; i++) sums[i] = ZERO; \
        for (int64_t r = 0; r < rounds; r++) {       \
            TWELVE(NEXT)                             \
        }                                            \
        for (int i = 0; i < 12; i++) KEEP(sums[i]);  \
    }

#if defined __x86_64__
#define VECTOR(value) "v"(value)
#define WITH(features) __attribute__((target(features)))
#define FLOATS_256(i) sums[i] = _mm256_fmadd_ps(a, b, sums[i]);
#define FLOATS_512(i) sums[i] = _mm512_fmadd_ps(a, b, sums[i]);
#define FLOATS_128(i) sums[i] = _mm_add_ps(_mm_mul_ps(sums[i], b), a);
#define PAIRS_128(i) sums[i] = _mm_add_epi32(_mm_madd_epi16(sums[i], b), a);
#define PAIRS_256(i) sums[i] = _mm256_add_epi32(_mm256_madd_epi16(sums[i], b), a);
#define PAIRS_512(i) sums[i] = _mm512_add_epi32(_mm512_madd_epi16(sums[i], b), a);
#define FOURS_512(i) sums[i] = _mm512_dpbusd_epi32(sums[i], a, b);
#define AVX512 "avx512f,avx512bw"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
LOOP(floats_sse2, , __m128, _mm_setzero_ps(), FLOATS_128)
LOOP(pairs_sse2, , __m128i, _mm_setzero_si128(), PAIRS_128)
LOOP(floats_avx2, WITH("avx2,fma"), __m256, _mm256_setzero_ps(), FLOATS_256)
LOOP(pairs_avx2, WITH("avx2,fma"), __m256i, _mm256_setzero_si256(), PAIRS_256)
LOOP(floats_avx512, WITH(AVX512), __m512, _mm512_setzero_ps(), FLOATS_512)
LOOP(pairs_avx512, WITH(AVX512), __m512i, _mm512_setzero_si512(), PAIRS_512)
LOOP(fours_avx512, WITH(AVX512 ",avx512vnni"), __m512i, _mm512_setzero_si512(), FOURS_512)
#pragma GCC diagnostic pop

#if defined HL_CPU_MAY_HAVE_AMX
// Four registers of sums, which is what the unit needs to be busy.
WITH("amx-tile,amx-int8") static void tiles_amx(int64_t rounds)
{
    static const struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } setting = {
        .palette = 1,
        .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
        .rows = {16, 16, 16, 16, 16, 16, 16, 16},
    };
    _tile_loadconfig(&setting);
    for (int64_t r = 0; r < 3 * rounds; r++) {
        _tile_dpbusd(0, 4, 6);
        _tile_dpbusd(1, 4, 7);
        _tile_dpbusd(2, 5, 6);
        _tile_dpbusd(3, 5, 7);
    }
    _tile_release();
}
#endif

#elif defined __aarch64__
#define VECTOR(value) "w"(value)
#define WITH(features) __attribute__((target(features)))
#define FLOATS_NEON(i) sums[i] = vfmaq_f32(sums[i], a, b);
#define FOURS_NEON(i) sums[i] = vdotq_s32(sums[i], vreinterpretq_s8_s32(a), vreinterpretq_s8_s32(b));
#define EIGHTS_NEON(i) sums[i] = vmmlaq_s32(sums[i], vreinterpretq_s8_s32(a), vreinterpretq_s8_s32(b));
#define PAIRS_NEON(i) \
    sums[i] = vmlal_s16(sums[i], vget_low_s16(vreinterpretq_s16_s32(a)), vget_low_s16(vreinterpretq_s16_s32(b)));
LOOP(floats_neon, , float32x4_t, vdupq_n_f32(0), FLOATS_NEON)
LOOP(pairs_neon, , int32x4_t, vdupq_n_s32(0), PAIRS_NEON)
LOOP(fours_neon, WITH("arch=armv8.2-a+dotprod"), int32x4_t, vdupq_n_s32(0), FOURS_NEON)
LOOP(eights_neon, WITH("arch=armv8.2-a+dotprod+i8mm"), int32x4_t, vdupq_n_s32(0), EIGHTS_NEON)
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
        double rate = all * 12 * way->multiply_adds / (hl_seconds() - start);
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
