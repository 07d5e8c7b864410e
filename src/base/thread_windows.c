// SPDX-License-Identifier: Apache-2.0
// See thread.h: Windows' threads, slim locks and condition variables.
#include "base/thread.h"

#include "base/threads.h"

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

bool hl_thread_start_deep(struct hl_thread *thread, size_t stack, void (*run)(void *arg), void *arg)
{
    thread->run = run;
    thread->arg = arg;
    // Reserved: memory is committed as the stack grows.
    thread->thread = CreateThread(NULL, stack, run_thread, thread, STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
    return thread->thread != NULL;
}

bool hl_thread_start(struct hl_thread *thread, void (*run)(void *arg), void *arg)
{
    return hl_thread_start_deep(thread, 0, run, arg);
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

void hl_thread_yield(void)
{
    SwitchToThread();
}

unsigned hl_thread_forks(void)
{
    return 0;
}

int hl_processors(void)
{
    DWORD count = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS); // 64 in a group
    return count > 0 ? (int)count : 1;
}
