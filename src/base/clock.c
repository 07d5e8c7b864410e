// SPDX-License-Identifier: Apache-2.0
// The system's clocks. C11's timespec_get is Windows' calendar clock alone: Android has it since version 10 only.
#include "base/clock.h"

#include <time.h>

#if defined(_WIN32)
#include <windows.h>

uint64_t hl_calendar_nanoseconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t hl_nanoseconds(void)
{
    LARGE_INTEGER ticks, frequency;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&frequency);
    uint64_t count = (uint64_t)ticks.QuadPart, second = (uint64_t)frequency.QuadPart;
    return count / second * 1000000000u + count % second * 1000000000u / second;
}

void hl_sleep(double seconds)
{
    if (seconds > 0) Sleep((DWORD)(seconds * 1000 + 0.999));
}

#else
#include <errno.h>

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t hl_calendar_nanoseconds(void)
{
    return read_clock(CLOCK_REALTIME);
}

uint64_t hl_nanoseconds(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

void hl_sleep(double seconds)
{
    if (!(seconds > 0)) return;
    struct timespec left = {.tv_sec = (time_t)seconds};
    left.tv_nsec = (long)(1e9 * (seconds - (double)left.tv_sec));
    while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
}

#endif
