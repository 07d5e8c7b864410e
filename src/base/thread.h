// SPDX-License-Identifier: Apache-2.0
// One thread, and a condition that threads wait for under a mutex. (For work in equal items there is threads.h.)
#ifndef HALITE_BASE_THREAD_H
#define HALITE_BASE_THREAD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/mutex.h"

struct hl_condition {
#if defined(_WIN32)
    CONDITION_VARIABLE condition;
#else
    pthread_cond_t condition;
#endif
};

bool hl_condition_init(struct hl_condition *condition);
void hl_condition_destroy(struct hl_condition *condition);
// The caller holds the mutex, which is free while it waits. It may return without cause: ask again what was waited for.
void hl_condition_wait(struct hl_condition *condition, struct hl_mutex *mutex);
// The same for so many seconds at most. False where they are over.
bool hl_condition_wait_for(struct hl_condition *condition, struct hl_mutex *mutex, double seconds);
void hl_condition_signal(struct hl_condition *condition);    // wakes one that waits
void hl_condition_broadcast(struct hl_condition *condition); // wakes all

struct hl_thread {
#if defined(_WIN32)
    HANDLE thread;
#else
    pthread_t thread;
#endif
    void (*run)(void *arg);
    void *arg;
};

// Calls run(arg) on a thread of its own; the struct stays where it is until hl_thread_join. False where the system has
// none to give.
bool hl_thread_start(struct hl_thread *thread, void (*run)(void *arg), void *arg);
// The same with a stack of at least so many bytes; 0: what the system gives a thread.
bool hl_thread_start_deep(struct hl_thread *thread, size_t stack, void (*run)(void *arg), void *arg);
void hl_thread_join(struct hl_thread *thread);
// Returns whether the caller runs on this thread.
bool hl_thread_is_current(const struct hl_thread *thread);
// Lets another thread have the processor.
void hl_thread_yield(void);
// How many forks lie between the first process and this one: a process that another forks inherits its memory but no
// threads. It costs no system call (getpid in its place took MobileNet v2 uint8 with four threads from 1.76 to 1.92
// ms). The first call begins to count.
unsigned hl_thread_forks(void);

#endif
