// SPDX-License-Identifier: Apache-2.0
// Memory for command-line programs: these never return NULL. A program that cannot get a few bytes has one thing left
// to do, which is to say so and end with exit code 1. Large blocks whose size comes from a file use malloc and report.
#ifndef HALITE_TOOLS_ALLOC_H
#define HALITE_TOOLS_ALLOC_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void *hl_alloc_check(void *memory)
{
    if (memory == NULL) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

// count * size zeroed bytes; the caller frees.
static inline void *hl_alloc(size_t count, size_t size)
{
    return hl_alloc_check(calloc(count ? count : 1, size ? size : 1));
}

// Room for count elements; the old content stays, what is new is not zeroed.
static inline void *hl_alloc_grow(void *memory, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size) hl_alloc_check(NULL);
    size_t bytes = count * size;
    return hl_alloc_check(realloc(memory, bytes ? bytes : 1));
}

static inline char *hl_alloc_string(const char *string)
{
    size_t bytes = strlen(string) + 1;
    return memcpy(hl_alloc(bytes, 1), string, bytes);
}

#endif
