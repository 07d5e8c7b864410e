// SPDX-License-Identifier: Apache-2.0
// Arrays that grow by one item at a time. In: an array from malloc or NULL, how many items are in use and for how many
// there is room. Out: the same array, or a larger copy, with room for one more. The room doubles, so that n items cost
// about log n copies.
#ifndef HALITE_BASE_GROW_H
#define HALITE_BASE_GROW_H

#include <stddef.h>

// The array that takes the place of `items`; NULL without memory, and then `items` and *capacity are as they were.
void *hl_grow(void *items, int count, int *capacity, size_t item_bytes);

#endif
