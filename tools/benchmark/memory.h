// SPDX-License-Identifier: Apache-2.0
// How much memory this process has: at its most so far, and watched by a thread while something runs.
#ifndef HALITE_TOOLS_BENCHMARK_MEMORY_H
#define HALITE_TOOLS_BENCHMARK_MEMORY_H

#include <stdbool.h>

#include "periodic.h"
#include "text.h"

// MB (2^20 bytes) of physical memory, at its most since the process began.
double hl_memory_most(void);

struct hl_memory_watch {
    struct hl_periodic periodic;
    double most; // MB seen by the thread
};

// False without a thread; then hl_memory_watch_stop gives 0.
bool hl_memory_watch_start(struct hl_memory_watch *watch, int interval_ms);
double hl_memory_watch_stop(struct hl_memory_watch *watch);

// What the system says of this process's memory, on Linux: three lines, else nothing.
void hl_memory_status(struct hl_text *text);

#endif
