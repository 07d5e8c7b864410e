// SPDX-License-Identifier: Apache-2.0
// A thread pool that works in rounds. Workers wait until a round begins, enter it, take items until none are left, and
// leave. The caller closes the round when no items are left and then waits for the workers inside the round only, not
// for one that still sleeps or that the system has not scheduled yet. In a network, rounds follow each other within
// microseconds, and waking a sleeping thread takes as long as a small layer. So workers poll for a while before they
// sleep.
#include "base/threads.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/thread.h"

struct worker {
    struct hl_threads *threads;
    int number;
    struct hl_thread thread;
};

struct hl_threads {
    int count;      // workers, and the caller
    unsigned forks; // of the process that has the workers: one that it forks inherits this struct but no threads
    // These fields belong to the round; they stay valid until it is closed and no worker is inside.
    void (*work)(void *arg, int64_t item, int worker);
    void *arg;
    int64_t items;
    atomic_llong next; // item that the next thread takes
    atomic_bool open;
    atomic_int inside; // workers that are in the round
    atomic_uint round;
    atomic_bool ending;
    struct hl_mutex mutex;
    struct hl_condition begins;
    struct worker workers[HL_MAX_THREADS - 1];
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

static void take_items(struct hl_threads *threads, int worker)
{
    for (;;) {
        long long item = atomic_fetch_add_explicit(&threads->next, 1, memory_order_relaxed);
        if (item >= threads->items) return;
        threads->work(threads->arg, item, worker);
    }
}

// Waits until the current round is another one than `last`, and returns it.
static unsigned wait_for_round(struct hl_threads *threads, unsigned last)
{
    unsigned round = last;
    for (int i = 0; i < POLLS && round == last; i++) {
        pause_polling();
        round = atomic_load(&threads->round);
    }
    if (round != last) return round;
    hl_mutex_lock(&threads->mutex);
    while ((round = atomic_load(&threads->round)) == last) hl_condition_wait(&threads->begins, &threads->mutex);
    hl_mutex_unlock(&threads->mutex);
    return round;
}

static void run_worker(void *arg)
{
    struct worker *worker = arg;
    struct hl_threads *threads = worker->threads;
    for (unsigned round = 0;;) {
        round = wait_for_round(threads, round);
        if (atomic_load(&threads->ending)) return;
        atomic_fetch_add(&threads->inside, 1); // the caller closes the round first and reads this later
        if (atomic_load(&threads->open)) take_items(threads, worker->number);
        atomic_fetch_sub(&threads->inside, 1);
    }
}

static void begin_round(struct hl_threads *threads)
{
    hl_mutex_lock(&threads->mutex);
    atomic_fetch_add(&threads->round, 1);
    hl_condition_broadcast(&threads->begins);
    hl_mutex_unlock(&threads->mutex);
}

static bool is_inherited(const struct hl_threads *threads)
{
    return threads->forks != hl_thread_forks();
}

static struct hl_threads *create(int count, size_t stack)
{
    struct hl_threads *threads = count > 1 ? calloc(1, sizeof *threads) : NULL;
    if (!threads) return NULL;
    threads->forks = hl_thread_forks();
    if (count > HL_MAX_THREADS) count = HL_MAX_THREADS;
    if (!hl_mutex_init(&threads->mutex)) {
        free(threads);
        return NULL;
    }
    if (!hl_condition_init(&threads->begins)) {
        hl_mutex_destroy(&threads->mutex);
        free(threads);
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
        free(threads); // There is nobody to wait for, and a thread that is not here may hold the mutex.
        return;
    }
    atomic_store(&threads->ending, true);
    begin_round(threads);
    for (int i = 0; i + 1 < threads->count; i++) hl_thread_join(&threads->workers[i].thread);
    hl_condition_destroy(&threads->begins);
    hl_mutex_destroy(&threads->mutex);
    free(threads);
}

int hl_threads_count(const struct hl_threads *threads)
{
    return threads ? threads->count : 1;
}

void hl_threads_run(struct hl_threads *threads, int64_t items, void (*work)(void *arg, int64_t item, int worker),
                    void *arg)
{
    if (!threads || items < 2 || is_inherited(threads)) {
        for (int64_t item = 0; item < items; item++) work(arg, item, 0);
        return;
    }
    threads->work = work;
    threads->arg = arg;
    threads->items = items;
    atomic_store(&threads->next, 0);
    atomic_store(&threads->open, true);
    begin_round(threads);
    take_items(threads, 0);
    atomic_store(&threads->open, false);
    for (int i = 0; atomic_load(&threads->inside) > 0; i++)
        if (i < POLLS)
            pause_polling();
        else
            hl_thread_yield();
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
