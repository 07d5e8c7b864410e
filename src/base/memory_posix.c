// SPDX-License-Identifier: Apache-2.0
// See memory.h: POSIX systems.
#include "base/memory.h"

#include <stdlib.h>
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
