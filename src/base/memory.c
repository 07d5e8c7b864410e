// SPDX-License-Identifier: Apache-2.0
// Aligned blocks and the size of the machine's memory, on POSIX systems and on Windows.
#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>

#if defined(_WIN32)
#include <malloc.h>
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

#else
#include <unistd.h>

#include "base/checked.h"

void *hl_aligned_alloc(size_t alignment, size_t bytes)
{
    void *block;
    return posix_memalign(&block, alignment, bytes) == 0 ? block : NULL;
}

void hl_aligned_free(void *block)
{
    free(block);
}

size_t hl_physical_memory(void)
{
#if defined(_SC_PHYS_PAGES)
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
    size_t bytes;
    if (pages > 0 && page > 0 && hl_mul_size((size_t)pages, (size_t)page, &bytes)) return bytes;
#endif
    return 0;
}

#endif
