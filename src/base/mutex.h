// SPDX-License-Identifier: Apache-2.0
// A lock, and a function that runs once in a process: the system's own, under one name.
#ifndef HALITE_BASE_MUTEX_H
#define HALITE_BASE_MUTEX_H

#include <stdbool.h>

#if defined(_WIN32)
#include <windows.h>

struct hl_mutex {
    SRWLOCK lock;
};

static inline bool hl_mutex_init(struct hl_mutex *mutex)
{
    InitializeSRWLock(&mutex->lock);
    return true;
}
static inline void hl_mutex_destroy(struct hl_mutex *mutex)
{
    (void)mutex;
}
static inline void hl_mutex_lock(struct hl_mutex *mutex)
{
    AcquireSRWLockExclusive(&mutex->lock);
}
static inline void hl_mutex_unlock(struct hl_mutex *mutex)
{
    ReleaseSRWLockExclusive(&mutex->lock);
}

struct hl_once {
    SRWLOCK lock;
    bool done;
};
#define HL_ONCE_INIT        \
    {                       \
        SRWLOCK_INIT, false \
    }
static inline void hl_once(struct hl_once *once, void (*function)(void))
{
    AcquireSRWLockExclusive(&once->lock);
    if (!once->done) function();
    once->done = true;
    ReleaseSRWLockExclusive(&once->lock);
}

#else
#include <pthread.h>

struct hl_mutex {
    pthread_mutex_t lock;
};

// False without memory.
static inline bool hl_mutex_init(struct hl_mutex *mutex)
{
    return pthread_mutex_init(&mutex->lock, NULL) == 0;
}
static inline void hl_mutex_destroy(struct hl_mutex *mutex)
{
    pthread_mutex_destroy(&mutex->lock);
}
static inline void hl_mutex_lock(struct hl_mutex *mutex)
{
    pthread_mutex_lock(&mutex->lock);
}
static inline void hl_mutex_unlock(struct hl_mutex *mutex)
{
    pthread_mutex_unlock(&mutex->lock);
}

struct hl_once {
    pthread_once_t once;
};
#define HL_ONCE_INIT      \
    {                     \
        PTHREAD_ONCE_INIT \
    }
static inline void hl_once(struct hl_once *once, void (*function)(void))
{
    pthread_once(&once->once, function);
}

#endif
#endif
