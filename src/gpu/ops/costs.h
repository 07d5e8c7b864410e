// SPDX-License-Identifier: Apache-2.0
// The arithmetic that the models of a device share, by which kernels of convolutions are chosen.
#ifndef HALITE_GPU_OPS_COSTS_H
#define HALITE_GPU_OPS_COSTS_H

#include <stdint.h>

static inline int64_t gpu_divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static inline int64_t gpu_larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

// What three kinds of work take that go on at the same time: the longest, and a third of the others.
static inline int64_t gpu_overlapped(int64_t a, int64_t b, int64_t c)
{
    int64_t longest = gpu_larger(gpu_larger(a, b), c);
    return longest + (a + b + c - longest) / 3;
}

#endif
