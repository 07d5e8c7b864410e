// SPDX-License-Identifier: Apache-2.0
// The clocks of POSIX systems. C11's timespec_get is not among them: Android has it since version 10 only.
#include "base/clock.h"

#include <errno.h>
#include <time.h>

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
