// SPDX-License-Identifier: Apache-2.0
// See thread.h: POSIX threads, and those of Windows.
#include "base/thread.h"

#if defined(_WIN32)

bool hl_condition_init(struct hl_condition *condition)
{
    InitializeConditionVariable(&condition->condition);
    return true;
}

void hl_condition_destroy(struct hl_condition *condition)
{
    (void)condition;
}

void hl_condition_wait(struct hl_condition *condition, struct hl_mutex *mutex)
{
    SleepConditionVariableSRW(&condition->condition, &mutex->lock, INFINITE, 0);
}

bool hl_condition_wait_for(struct hl_condition *condition, struct hl_mutex *mutex, double seconds)
{
    return SleepConditionVariableSRW(&condition->condition, &mutex->lock, (DWORD)(seconds * 1000 + 0.999), 0);
}

void hl_condition_signal(struct hl_condition *condition)
{
    WakeConditionVariable(&condition->condition);
}

void hl_condition_broadcast(struct hl_condition *condition)
{
    WakeAllConditionVariable(&condition->condition);
}

static DWORD WINAPI run_thread(void *given)
{
    struct hl_thread *thread = given;
    thread->run(thread->arg);
    return 0;
}

bool hl_thread_start(struct hl_thread *thread, void (*run)(void *arg), void *arg)
{
    thread->run = run;
    thread->arg = arg;
    thread->thread = CreateThread(NULL, 0, run_thread, thread, 0, NULL);
    return thread->thread != NULL;
}

void hl_thread_join(struct hl_thread *thread)
{
    WaitForSingleObject(thread->thread, INFINITE);
    CloseHandle(thread->thread);
}

bool hl_thread_is_current(const struct hl_thread *thread)
{
    return GetThreadId(thread->thread) == GetCurrentThreadId();
}

#else
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/clock.h"

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

bool hl_thread_start(struct hl_thread *thread, void (*run)(void *arg), void *arg)
{
    thread->run = run;
    thread->arg = arg;
    return pthread_create(&thread->thread, NULL, run_thread, thread) == 0;
}

void hl_thread_join(struct hl_thread *thread)
{
    pthread_join(thread->thread, NULL);
}

bool hl_thread_is_current(const struct hl_thread *thread)
{
    return pthread_equal(pthread_self(), thread->thread) != 0;
}

#endif
