// SPDX-License-Identifier: Apache-2.0
// The time that passes. In: nothing. Out: nanoseconds since some moment, which nobody sets back.
#ifndef HALITE_BASE_CLOCK_H
#define HALITE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t hl_nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
