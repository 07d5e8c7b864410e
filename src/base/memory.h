// SPDX-License-Identifier: Apache-2.0
// Memory as the system gives it: blocks at an alignment, and how much of it the machine has.
#ifndef HALITE_BASE_MEMORY_H
#define HALITE_BASE_MEMORY_H

#include <stddef.h>

// `bytes` bytes at a multiple of `alignment`, a power of two that is at least sizeof(void *). NULL without memory. Only
// hl_aligned_free may free the block; it takes NULL.
void *hl_aligned_alloc(size_t alignment, size_t bytes);
void hl_aligned_free(void *block);

// Bytes of memory that the machine has; 0 where the system does not tell.
size_t hl_physical_memory(void);

#endif
