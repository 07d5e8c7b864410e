// SPDX-License-Identifier: Apache-2.0
// See thread.h: POSIX threads.
#include "base/thread.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/threads.h"

bool hl_condition_init(struct hl_condition *condition)
{
    return pthread_cond_init(&condition->condition, NULL) == 0;
}

void hl_condition_destroy(struct hl_condition *condition)
{
    pthread_cond_destroy(&condition->condition);
}

void hl_condition_wait(struct hl_condition *condition, struct hl_mutex *mutex)
{
    pthread_cond_wait(&condition->condition, &mutex->lock);
}

bool hl_condition_wait_for(struct hl_condition *condition, struct hl_mutex *mutex, double seconds)
{
    uint64_t until = hl_calendar_nanoseconds() + (uint64_t)(1e9 * seconds);
    struct timespec moment = {.tv_sec = (time_t)(until / 1000000000), .tv_nsec = (long)(until % 1000000000)};
    return pthread_cond_timedwait(&condition->condition, &mutex->lock, &moment) != ETIMEDOUT;
}

void hl_condition_signal(struct hl_condition *condition)
{
    pthread_cond_signal(&condition->condition);
}

void hl_condition_broadcast(struct hl_condition *condition)
{
    pthread_cond_broadcast(&condition->condition);
}

static void *run_thread(void *given)
{
    struct hl_thread *thread = given;
    thread->run(thread->arg);
    return NULL;
}

bool hl_thread_start_deep(struct hl_thread *thread, size_t stack, void (*run)(void *arg), void *arg)
{
    pthread_attr_t attributes;
    thread->run = run;
    thread->arg = arg;
    if (pthread_attr_init(&attributes) != 0) return false;
    bool ok = (stack == 0 || pthread_attr_setstacksize(&attributes, stack) == 0) &&
              pthread_create(&thread->thread, &attributes, run_thread, thread) == 0;
    pthread_attr_destroy(&attributes);
    return ok;
}

bool hl_thread_start(struct hl_thread *thread, void (*run)(void *arg), void *arg)
{
    return hl_thread_start_deep(thread, 0, run, arg);
}

void hl_thread_join(struct hl_thread *thread)
{
    pthread_join(thread->thread, NULL);
}

bool hl_thread_is_current(const struct hl_thread *thread)
{
    return pthread_equal(pthread_self(), thread->thread) != 0;
}

void hl_thread_yield(void)
{
    sched_yield();
}

static atomic_uint forks;

static void count_fork(void)
{
    atomic_fetch_add(&forks, 1);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, count_fork);
}

unsigned hl_thread_forks(void)
{
    static struct hl_once once = HL_ONCE_INIT;
    hl_once(&once, watch_forks);
    return atomic_load_explicit(&forks, memory_order_relaxed);
}

int hl_processors(void)
{
#if defined(_SC_NPROCESSORS_ONLN)
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors < 1 ? 1 : processors < INT_MAX ? (int)processors : INT_MAX;
#else
    return 1;
#endif
}
