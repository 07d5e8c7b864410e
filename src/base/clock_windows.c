// SPDX-License-Identifier: Apache-2.0
// See clock.h: Windows, by the performance counter and the precise system time.
#include "base/clock.h"

#include <windows.h>

uint64_t hl_calendar_nanoseconds(void)
{
    FILETIME now; // in units of 100 ns since the beginning of 1601
    GetSystemTimePreciseAsFileTime(&now);
    return (((uint64_t)now.dwHighDateTime << 32 | now.dwLowDateTime) - 116444736000000000u) * 100;
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
