// SPDX-License-Identifier: Apache-2.0
// See grow.h.
#include "base/grow.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

enum { FIRST_CAPACITY = 32 };

void *hl_grow(void *items, int count, int *capacity, size_t item_bytes)
{
    if (count < *capacity) return items;
    if (*capacity > INT_MAX / 2) return NULL;
    int wanted = *capacity ? *capacity * 2 : FIRST_CAPACITY;
    if ((size_t)wanted > SIZE_MAX / item_bytes) return NULL;
    void *larger = realloc(items, (size_t)wanted * item_bytes);
    if (larger) *capacity = wanted;
    return larger;
}
