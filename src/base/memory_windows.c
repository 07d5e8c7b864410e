// SPDX-License-Identifier: Apache-2.0
// See memory.h: Windows.
#include "base/memory.h"

#include <malloc.h>
#include <stdint.h>
#include <windows.h>

void *hl_aligned_alloc(size_t alignment, size_t bytes)
{
    return _aligned_malloc(bytes, alignment);
}

void hl_aligned_free(void *block)
{
    _aligned_free(block);
}

size_t hl_physical_memory(void)
{
    MEMORYSTATUSEX status = {.dwLength = sizeof status};
    if (!GlobalMemoryStatusEx(&status)) return 0;
    return status.ullTotalPhys > SIZE_MAX ? SIZE_MAX : (size_t)status.ullTotalPhys;
}
