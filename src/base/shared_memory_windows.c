// SPDX-License-Identifier: Apache-2.0
// See shared_memory.h: Windows has such memory, but not by a descriptor that a driver takes.
#include "base/shared_memory.h"

bool hl_shared_memory_open(struct hl_shared_memory *memory, size_t size, const char **why)
{
    (void)size;
    *memory = (struct hl_shared_memory){.descriptor = -1};
    *why = "this system has no memory with a descriptor";
    return false;
}

void hl_shared_memory_close(struct hl_shared_memory *memory)
{
    *memory = (struct hl_shared_memory){.descriptor = -1};
}
