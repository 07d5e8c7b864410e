// SPDX-License-Identifier: Apache-2.0
// Memory that is handed out piece by piece and taken back as a whole. In: sizes. Out: zeroed,
// aligned pieces that live until hl_arena_clear. A limit bounds the sum of all pieces, so that
// small input cannot ask for much memory.
#ifndef HALITE_BASE_ARENA_H
#define HALITE_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct hl_arena_block;

struct hl_arena {
    struct hl_arena_block *blocks; // the newest first
    size_t used;                   // bytes handed out
    size_t limit;
    bool limit_reached; // a request failed because of the limit, not because memory ran out
};

void hl_arena_init(struct hl_arena *arena, size_t limit);
// alignment is a power of two, at most 4096. NULL when memory or the limit is exhausted; never NULL
// for 0 bytes otherwise.
void *hl_arena_alloc(struct hl_arena *arena, size_t size, size_t alignment);
// count * size bytes, the product checked.
void *hl_arena_array(struct hl_arena *arena, size_t count, size_t size, size_t alignment);
// Frees every piece; the arena may be used again.
void hl_arena_clear(struct hl_arena *arena);

#endif
