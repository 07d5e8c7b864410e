// SPDX-License-Identifier: Apache-2.0
// A thread pool that works in rounds. Each thread has a share of a round's items, which lie together: in a network the
// same thread then has the same rows of one layer after the other, and finds them in its cache. A thread that is done
// with its own share takes from those of others, so that nobody waits for one that still sleeps or that the system has
// not scheduled yet. The caller returns when all items are done. In a network, rounds follow each other within
// microseconds, and waking a sleeping thread takes as long as a small layer. So workers poll for a while before they
// sleep.
//
// Between processors, a line of memory that several write costs more than a small item. So each worker writes to a line
// of its own, unless it steals; the caller writes one line for each round, and nobody counts who enters or leaves. A
// worker that comes late finds every item of its round taken.
#include "base/threads.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"

typedef void item_function(void *arg, int64_t item, int worker);

// Processors fetch lines of 64 bytes in pairs.
enum { LINE = 128 };

// A word has the number of a round, from 1 on, and a count of items, which a round has MAX_ITEMS of at most. Numbers
// of 48 bits last for years.
enum { COUNT_BITS = 16, MAX_ITEMS = (1 << COUNT_BITS) - 1 };
struct share {
    _Alignas(LINE) atomic_ullong taken; // items of the share that somebody has taken
    atomic_ullong done;                 // items of any share that its worker has done
};

struct worker {
    struct hl_threads *threads;
    int number;
    struct hl_thread thread;
};

struct hl_threads {
    int count;      // workers, and the caller
    unsigned forks; // of the process that has the workers: one that it forks inherits this struct but no threads
    bool delay_is_known;
    // What the round is: read whole if `round` is the same before and after.
    _Alignas(LINE) atomic_ullong round; // 0 while the rest changes
    _Atomic(item_function *) work;
    _Atomic(void *) arg;
    atomic_llong first;
    atomic_int items;
    _Alignas(LINE) atomic_int asleep; // workers that wait for `begins`
    atomic_bool ending;
    struct hl_mutex mutex;
    struct hl_condition begins;
    struct share shares[HL_MAX_THREADS];
    struct worker workers[HL_MAX_THREADS - 1];
};

// A round as one thread knows it.
struct round {
    uint64_t number;
    item_function *work;
    void *arg;
    int64_t first; // item
    int items;
    int done; // by this thread
};

// How often a thread polls before it sleeps. With a pause in each poll this takes 0.1 to 0.3 ms, as long as the serial
// work between two rounds. (4000 polls without a pause took two microseconds, and MobileNet v1 float with two threads
// 6.8 ms instead of 5.7 ms.)
enum { POLLS = 5000 };

// Tells the processor that this thread is polling.
static void pause_polling(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("isb");
#endif
}

// Stack of threads that run compilers: some C libraries give a thread 128 KiB only.
enum { DEEP_STACK = 8 << 20 };

// Takes an item of the owner's share. Returns its number in the round, or -1 where none is left.
static int take(struct hl_threads *threads, const struct round *round, int owner)
{
    const int first = round->items * owner / threads->count, end = round->items * (owner + 1) / threads->count;
    const uint64_t none = round->number << COUNT_BITS, all = none + (uint64_t)(end - first);
    atomic_ullong *taken = &threads->shares[owner].taken;
    unsigned long long seen = atomic_load_explicit(taken, memory_order_relaxed);
    for (;;) {
        const uint64_t now = seen > none ? seen : none; // an earlier round's count stands for none
        if (now >= all) return -1;                      // a later round's, too: this one is over
        if (atomic_compare_exchange_weak_explicit(taken, &seen, now + 1, memory_order_acq_rel, memory_order_relaxed))
            return first + (int)(now - none);
    }
}

// Does items of the owner's share until none is left.
static void empty_share(struct hl_threads *threads, struct round *round, int owner, int worker)
{
    for (int item; (item = take(threads, round, owner)) >= 0;) {
        round->work(round->arg, round->first + item, worker);
        round->done++;
        atomic_store_explicit(&threads->shares[worker].done, (round->number << COUNT_BITS) + (uint64_t)round->done,
                              memory_order_release);
    }
}

static void take_part(struct hl_threads *threads, struct round *round, int worker)
{
    for (int i = worker; i < threads->count; i++) empty_share(threads, round, i, worker);
    for (int i = 0; i < worker; i++) empty_share(threads, round, i, worker);
}

// Reads what the round of this number is. False where it is over.
static bool read_round(struct hl_threads *threads, uint64_t number, struct round *round)
{
    *round = (struct round){
        .number = number,
        .work = atomic_load_explicit(&threads->work, memory_order_acquire),
        .arg = atomic_load_explicit(&threads->arg, memory_order_acquire),
        .first = atomic_load_explicit(&threads->first, memory_order_acquire),
        .items = atomic_load_explicit(&threads->items, memory_order_acquire),
    };
    return atomic_load_explicit(&threads->round, memory_order_relaxed) == number;
}

// Waits until the current round is another one than `last`, and returns it.
static uint64_t wait_for_round(struct hl_threads *threads, uint64_t last)
{
    uint64_t round = 0;
    for (int i = 0; i < POLLS; i++) {
        round = atomic_load_explicit(&threads->round, memory_order_acquire);
        if (round != last && round != 0) return round;
        pause_polling();
    }
    hl_mutex_lock(&threads->mutex);
    atomic_fetch_add(&threads->asleep, 1); // the caller begins a round first and reads this later
    while ((round = atomic_load(&threads->round)) == last || round == 0)
        hl_condition_wait(&threads->begins, &threads->mutex);
    atomic_fetch_sub(&threads->asleep, 1);
    hl_mutex_unlock(&threads->mutex);
    return round;
}

static void run_worker(void *arg)
{
    struct worker *worker = arg;
    struct hl_threads *threads = worker->threads;
    struct round round;
    for (uint64_t number = 0;;) {
        number = wait_for_round(threads, number);
        if (atomic_load(&threads->ending)) return;
        if (read_round(threads, number, &round)) take_part(threads, &round, worker->number);
    }
}

// Lets the workers see a round.
static void begin_round(struct hl_threads *threads, struct round *round)
{
    round->number = atomic_load_explicit(&threads->round, memory_order_relaxed) + 1;
    atomic_store_explicit(&threads->round, 0, memory_order_relaxed);
    atomic_store_explicit(&threads->work, round->work, memory_order_release);
    atomic_store_explicit(&threads->arg, round->arg, memory_order_release);
    atomic_store_explicit(&threads->first, round->first, memory_order_release);
    atomic_store_explicit(&threads->items, round->items, memory_order_release);
    atomic_store(&threads->round, round->number);
    if (atomic_load(&threads->asleep) == 0) return;
    hl_mutex_lock(&threads->mutex);
    hl_condition_broadcast(&threads->begins);
    hl_mutex_unlock(&threads->mutex);
}

// Whether all items are done.
static bool is_done(const struct hl_threads *threads, const struct round *round)
{
    int done = round->done;
    for (int i = 1; i < threads->count; i++) {
        uint64_t word = atomic_load_explicit(&threads->shares[i].done, memory_order_acquire);
        if (word >> COUNT_BITS == round->number) done += (int)(word & MAX_ITEMS);
    }
    return done == round->items;
}

static void run_round(struct hl_threads *threads, struct round *round)
{
    begin_round(threads, round);
    take_part(threads, round, 0);
    for (int i = 0; !is_done(threads, round); i++)
        if (i < POLLS)
            pause_polling();
        else
            hl_thread_yield();
}

static bool is_inherited(const struct hl_threads *threads)
{
    return threads->forks != hl_thread_forks();
}

static struct hl_threads *create(int count, size_t stack)
{
    struct hl_threads *threads = count > 1 ? hl_aligned_alloc(LINE, sizeof *threads) : NULL;
    if (!threads) return NULL;
    memset(threads, 0, sizeof *threads);
    threads->forks = hl_thread_forks();
    if (count > HL_MAX_THREADS) count = HL_MAX_THREADS;
    if (!hl_mutex_init(&threads->mutex)) {
        hl_aligned_free(threads);
        return NULL;
    }
    if (!hl_condition_init(&threads->begins)) {
        hl_mutex_destroy(&threads->mutex);
        hl_aligned_free(threads);
        return NULL;
    }
    for (threads->count = 1; threads->count < count; threads->count++) {
        struct worker *worker = &threads->workers[threads->count - 1];
        worker->threads = threads;
        worker->number = threads->count;
        if (!hl_thread_start_deep(&worker->thread, stack, run_worker, worker)) break;
    }
    if (threads->count > 1) return threads;
    hl_threads_destroy(threads);
    return NULL;
}

struct hl_threads *hl_threads_create(int count)
{
    return create(count, 0);
}

void hl_threads_destroy(struct hl_threads *threads)
{
    if (!threads) return;
    if (is_inherited(threads)) {
        hl_aligned_free(threads); // There is nobody to wait for, and a thread that is not here may hold the mutex.
        return;
    }
    atomic_store(&threads->ending, true);
    begin_round(threads, &(struct round){.work = NULL});
    for (int i = 0; i + 1 < threads->count; i++) hl_thread_join(&threads->workers[i].thread);
    hl_condition_destroy(&threads->begins);
    hl_mutex_destroy(&threads->mutex);
    hl_aligned_free(threads);
}

int hl_threads_count(const struct hl_threads *threads)
{
    return threads ? threads->count : 1;
}

void hl_threads_run(struct hl_threads *threads, int64_t items, item_function *work, void *arg)
{
    if (!threads || items < 2 || is_inherited(threads)) {
        for (int64_t item = 0; item < items; item++) work(arg, item, 0);
        return;
    }
    for (int64_t first = 0; first < items; first += MAX_ITEMS) {
        int64_t left = items - first;
        run_round(threads, &(struct round){
                               .work = work,
                               .arg = arg,
                               .first = first,
                               .items = left < MAX_ITEMS ? (int)left : MAX_ITEMS,
                           });
    }
}

// ---- how long a round takes ---------------------------------------------------------------------

enum { TRIAL_WORK = 2000, TRIALS = 15, MOST_OF_WAITING = 300000 }; // nanoseconds, and rounds

static void wait_a_while(void *arg, int64_t item, int worker)
{
    (void)arg, (void)item, (void)worker;
    const uint64_t end = hl_nanoseconds() + TRIAL_WORK;
    while (hl_nanoseconds() < end) continue;
}

// Of a round with an item for each thread. Workers that come later than an item takes are not waited for: the caller
// does their items. So that is the most that counts, also where the system has stopped a thread in between.
static int try_delay(struct hl_threads *threads)
{
    const uint64_t begin = hl_nanoseconds();
    hl_threads_run(threads, threads->count, wait_a_while, NULL);
    const uint64_t took = hl_nanoseconds() - begin;
    return took < 2 * TRIAL_WORK ? (int)took - TRIAL_WORK : TRIAL_WORK;
}

static int compare_delays(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

// The lower quartile of some rounds, after those in which the system starts the workers.
static int measure_delay(struct hl_threads *threads)
{
    const uint64_t start = hl_nanoseconds();
    int delays[TRIALS];
    while (try_delay(threads) == TRIAL_WORK && hl_nanoseconds() - start < MOST_OF_WAITING) continue;
    for (int i = 0; i < TRIALS; i++) delays[i] = try_delay(threads);
    qsort(delays, TRIALS, sizeof *delays, compare_delays);
    return delays[TRIALS / 4] > 1 ? delays[TRIALS / 4] : 1;
}

int hl_threads_delay(struct hl_threads *threads)
{
    static atomic_int known[HL_MAX_THREADS + 1]; // 0: not measured
    if (!threads || is_inherited(threads)) return 0;
    atomic_int *least = &known[threads->count];
    int delay = atomic_load_explicit(least, memory_order_relaxed);
    if (threads->delay_is_known) return delay;
    threads->delay_is_known = true;
    const int found = measure_delay(threads);
    while ((delay == 0 || found < delay) &&
           !atomic_compare_exchange_weak_explicit(least, &delay, found, memory_order_relaxed, memory_order_relaxed))
        continue;
    return delay == 0 || found < delay ? found : delay;
}

void hl_threads_run_once(int64_t items, void (*work)(void *arg, int64_t item, int worker), void *arg)
{
    int processors = hl_processors(), count = processors < HL_MAX_PASSING ? processors : HL_MAX_PASSING;
#if defined(__SANITIZE_THREAD__)
    count = 1; // gcc 12's fails in one of 80 processes where a thread begins after a driver has loaded its libraries
#endif
    struct hl_threads *threads = create(items < count ? (int)items : count, DEEP_STACK);
    hl_threads_run(threads, items, work, arg);
    hl_threads_destroy(threads);
}
