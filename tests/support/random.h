// SPDX-License-Identifier: Apache-2.0
// Random numbers for tests: one stream for each program, which is the same in every run. In: bounds. Out: numbers; a
// test may set `seed` to begin the stream anew.
#ifndef HALITE_TESTS_SUPPORT_RANDOM_H
#define HALITE_TESTS_SUPPORT_RANDOM_H

#include <stdint.h>

static uint32_t seed = 1;

// In [0, below); below is at most 2^24.
static inline int pick(int below)
{
    seed = seed * 1664525 + 1013904223;
    return (int)((seed >> 8) % (uint32_t)below);
}

#endif
