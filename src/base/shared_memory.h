// SPDX-License-Identifier: Apache-2.0
// Memory that another process can map: what drivers in processes of their own read and write. In: a size. Out: a
// descriptor to pass on, and a mapping of all of it in this process.
#ifndef HALITE_BASE_SHARED_MEMORY_H
#define HALITE_BASE_SHARED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

struct hl_shared_memory {
    int descriptor; // -1: none
    size_t size;
    void *data; // zeros at first
};

// `size` is at least 1. On failure *why says what the system refused, until the next call of this thread, and *memory
// is empty.
bool hl_shared_memory_open(struct hl_shared_memory *memory, size_t size, const char **why);
void hl_shared_memory_close(struct hl_shared_memory *memory); // takes one that is empty

enum { HL_SHARED_READ = 1, HL_SHARED_WRITE = 2 }; // as in a call that hands the memory on

#endif
