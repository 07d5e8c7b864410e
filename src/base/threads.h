// SPDX-License-Identifier: Apache-2.0
// A pool of threads. In: a function and a number of items. The threads share the items among them.
#ifndef HALITE_BASE_THREADS_H
#define HALITE_BASE_THREADS_H

#include <stdint.h>

struct hl_threads;

enum { HL_MAX_THREADS = 64 };

// Makes a pool of `count` threads, which include the thread that calls hl_threads_run; fewer where the system refuses
// more, and at most HL_MAX_THREADS. NULL where only one thread is left; all functions here take NULL.
struct hl_threads *hl_threads_create(int count);
void hl_threads_destroy(struct hl_threads *threads);
int hl_threads_count(const struct hl_threads *threads);

// Calls work(arg, item, worker) once for each item in [0, items) and returns when all are done. Workers have numbers in
// [0, hl_threads_count); one number is in use once at a time, so that it may choose scratch memory. Not to be called by
// two threads at a time, nor by work.
void hl_threads_run(struct hl_threads *threads, int64_t items, void (*work)(void *arg, int64_t item, int worker),
                    void *arg);

// Nanoseconds that a round takes longer than the work that each thread does in it, with workers that are awake: how
// late the others come, and how late their end is seen. Each pool measures it once, in 0.05 to 0.4 ms; it is the least
// that any pool of so many threads has found, because the processors may have had other work. 0 for one thread.
int hl_threads_delay(struct hl_threads *threads);

// The same once, by a thread for each processor that is online, HL_MAX_PASSING at most, which are gone when it
// returns. For long work: their stacks are deep enough for a compiler.
enum { HL_MAX_PASSING = 16 };
void hl_threads_run_once(int64_t items, void (*work)(void *arg, int64_t item, int worker), void *arg);

// Processors that are online, 1 where the system does not tell.
int hl_processors(void);

#endif
