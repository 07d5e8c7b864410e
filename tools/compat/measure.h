// SPDX-License-Identifier: Apache-2.0
// A model timed on the CPU and on GPUs in every precision and with more and more parts of the graph there, with how far
// its outputs are from the CPU's.
#ifndef HALITE_TOOLS_COMPAT_MEASURE_H
#define HALITE_TOOLS_COMPAT_MEASURE_H

#include <stdbool.h>

#include "text.h"

struct hl_compat_times {
    int count;
    struct hl_compat_time {
        char name[80];        // "CPU", or "opencl:0/f16s", or "opencl:0/f16s, 2 parts"
        struct hl_text flags; // what asks for it: "--device opencl:0 --precision f16s"
        int partitions;       // of the graph on the device; 0 on the CPU
        double seconds;       // median; negative: it does not run there
        double difference;    // largest, as a part of the output's largest value, of integers of their range
    } * items;
};

struct hl_compat_plan {
    const char *model;
    const char *const *devices; // names, `count` of them
    int count;
    int partitions; // that the graph has for a GPU
    int runs;       // timed ones, of each setting
};

// The CPU first, then each device in each precision; the same random inputs for all. False after a message where the
// CPU cannot run it.
bool hl_compat_measure(struct hl_compat_times *times, const struct hl_compat_plan *plan);
void hl_compat_times_free(struct hl_compat_times *times);

// Index of the fastest within the bound, -1 without measurements.
int hl_compat_best(const struct hl_compat_times *times, double bound);
void hl_compat_print(const struct hl_compat_times *times, double bound);

#endif
