// SPDX-License-Identifier: Apache-2.0
// Time: the time that passes, the date, and sleep. All in nanoseconds.
#ifndef HALITE_BASE_CLOCK_H
#define HALITE_BASE_CLOCK_H

#include <stdint.h>

// Since some moment in the past. Nobody sets this clock back.
uint64_t hl_nanoseconds(void);
// The same in seconds.
static inline double hl_seconds(void)
{
    return 1e-9 * (double)hl_nanoseconds();
}
// Since the beginning of 1970, as the machine's calendar has it, which people may set.
uint64_t hl_calendar_nanoseconds(void);
// Returns after at least so many seconds, at once where they are not positive.
void hl_sleep(double seconds);

#endif
