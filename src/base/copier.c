// SPDX-License-Identifier: Apache-2.0
// See copier.h. Microseconds on 16 cores of a Xeon (Sapphire Rapids) beside an H100, from pinned memory into which the
// card has just copied, by 1, 2, 4 and 8 threads that poll: 602 KB 20, 12, 9, 8; 1.8 MB 114, 52, 33, 20; 5.5 MB 396,
// 395, 92, 95. Into pinned memory, from pages just written: 15, 18, 19, 22; 117, 72, 51, 59; 408, 408, 103, 106. What
// one processor writes into a card takes 34 for 602 KB, a third of MobileNet v1's Invoke, which has 114, 100, 97 and 97
// in all by 1 to 4 threads on an H200. Where Invokes are 5 ms apart, so that threads sleep, it has 130 by one thread,
// and 140 by four.
#include "base/copier.h"

#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/half.h"
#if defined __x86_64__
#include <immintrin.h>
#endif

// What a thread takes at a time: one that still sleeps holds nobody up.
enum { PIECE = 128 << 10, SEND_PIECE = 32 << 10, MAX_THREADS = 4 };
// Nanoseconds: a copy into a card is shared if the one before was so short a time ago, and threads are about awake.
enum { SOON = 1000000 };

// bytes: of `from`; piece: of these.
struct copy {
    unsigned char *to;
    const unsigned char *from;
    size_t bytes, piece;
    bool halves;
};

// What processors write past their caches waits in buffers, which later writes to ordinary memory may overtake. x86
// alone needs a word for that: elsewhere the release of the round's end orders all kinds of memory.
static void finish_writes(void)
{
#if defined __SSE__
    __builtin_ia32_sfence();
#endif
}

// ---- halves ---------------------------------------------------------------------------------------------------------

#if defined __x86_64__
enum { LINE_HALVES = 32 }; // of a line of the caches

// Whole lines, past the caches: a line that is written in parts goes to the card in parts.
__attribute__((target("avx2,f16c"))) static void write_lines(uint16_t *to, const float *from, size_t lines)
{
    for (size_t i = 0; i < lines * LINE_HALVES; i += LINE_HALVES / 2) {
        __m128i low = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
        __m128i high = _mm256_cvtps_ph(_mm256_loadu_ps(from + i + 8), _MM_FROUND_TO_NEAREST_INT);
        _mm256_stream_si256((__m256i *)(void *)(to + i), _mm256_set_m128i(high, low));
    }
}

bool hl_halves_are_fast(void)
{
    return hl_cpu_features() & HL_CPU_F16C;
}

// How many of the halves were written: all whole lines, where the memory begins with one.
static size_t write_fast(uint16_t *to, const float *from, size_t count)
{
    if ((uintptr_t)to % (2 * LINE_HALVES) != 0 || !hl_halves_are_fast()) return 0;
    write_lines(to, from, count / LINE_HALVES);
    return count / LINE_HALVES * LINE_HALVES;
}
#elif defined __aarch64__
bool hl_halves_are_fast(void)
{
    return true;
}

// Every such processor converts them, and compilers make vectors of this.
static size_t write_fast(uint16_t *to, const float *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        __fp16 half = (__fp16)from[i];
        memcpy(&to[i], &half, sizeof half);
    }
    return count;
}
#else
bool hl_halves_are_fast(void)
{
    return false;
}

static size_t write_fast(uint16_t *to, const float *from, size_t count)
{
    (void)to;
    (void)from;
    (void)count;
    return 0;
}
#endif

static void write_halves(uint16_t *to, const float *from, size_t count)
{
    for (size_t i = write_fast(to, from, count); i < count; i++) to[i] = hl_half_from_float(from[i]);
}

// ---- copies ---------------------------------------------------------------------------------------------------------

static void copy_piece(void *arg, int64_t item, int worker)
{
    const struct copy *copy = arg;
    (void)worker;
    size_t start = (size_t)item * copy->piece, left = copy->bytes - start,
           bytes = left < copy->piece ? left : copy->piece;
    const void *from = copy->from + start;
    if (copy->halves)
        write_halves((void *)(copy->to + start / 2), from, bytes / sizeof(float));
    else
        memcpy(copy->to + start, from, bytes);
    finish_writes();
}

// Half of the processors at most, so that the others have theirs, and one thread where that leaves one.
static int suitable_threads(void)
{
    int half = hl_processors() / 2;
#if defined(__SANITIZE_THREAD__)
    half = 1; // as in hl_threads_run_once: drivers have been loaded
#endif
    return half < MAX_THREADS ? half : MAX_THREADS;
}

void hl_copier_begin(struct hl_copier *copier, int threads)
{
    copier->threads = hl_threads_create(threads);
    copier->is_ready = true;
}

static void run(struct hl_copier *copier, struct copy *copy, bool shares)
{
    if (shares && !copier->is_ready) hl_copier_begin(copier, suitable_threads());
    if (!shares || !copier->threads) copy->piece = copy->bytes;
    if (copy->bytes == 0) return;
    int64_t pieces = (int64_t)((copy->bytes + copy->piece - 1) / copy->piece);
    hl_threads_run(copier->threads, pieces, copy_piece, copy);
}

void hl_copier_copy(struct hl_copier *copier, void *to, const void *from, size_t bytes)
{
    run(copier, &(struct copy){.to = to, .from = from, .bytes = bytes, .piece = PIECE}, bytes >= HL_LARGE_COPY);
}

static void send(struct hl_copier *copier, struct copy *copy)
{
    const uint64_t now = hl_nanoseconds(), before = copier->sent;
    copy->piece = SEND_PIECE;
    copier->sent = now;
    run(copier, copy, copy->bytes >= HL_LARGE_SEND && before > 0 && now - before < SOON);
}

void hl_copier_send(struct hl_copier *copier, void *to, const void *from, size_t bytes)
{
    send(copier, &(struct copy){.to = to, .from = from, .bytes = bytes});
}

void hl_copier_send_halves(struct hl_copier *copier, void *to, const float *from, size_t count)
{
    const void *bytes = from;
    send(copier, &(struct copy){.to = to, .from = bytes, .bytes = count * sizeof *from, .halves = true});
}

static void do_nothing(void *arg, int64_t item, int worker)
{
    (void)arg;
    (void)item;
    (void)worker;
}

void hl_copier_wake(struct hl_copier *copier)
{
    hl_threads_run(copier->threads, 2, do_nothing, NULL); // a thread looks for work before it sleeps again
}

void hl_copier_end(struct hl_copier *copier)
{
    hl_threads_destroy(copier->threads);
    *copier = (struct hl_copier){0};
}
