// SPDX-License-Identifier: Apache-2.0
// Bump allocation out of blocks from calloc, which grow with the arena: n bytes cost about log n
// calls. Large pieces get a block of their own, of which the system hands out zeroed pages only as
// they are touched.
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/checked.h"

enum { first_block = 4096, largest_step = 1 << 20 };

struct hl_arena_block {
    struct hl_arena_block *next;
    size_t size, used; // of the bytes behind this header
};

void hl_arena_init(struct hl_arena *arena, size_t limit)
{
    *arena = (struct hl_arena){.limit = limit};
}

// Finds room in a block; NULL where the rest is too small.
static void *take(struct hl_arena_block *block, size_t size, size_t alignment)
{
    unsigned char *start = (unsigned char *)(block + 1);
    size_t misplaced = ((uintptr_t)start + block->used) & (alignment - 1);
    size_t gap = misplaced ? alignment - misplaced : 0;
    size_t room = block->size - block->used;
    if (gap > room || size > room - gap) return NULL;
    void *piece = start + block->used + gap;
    block->used += gap + size;
    return piece;
}

void *hl_arena_alloc(struct hl_arena *arena, size_t size, size_t alignment)
{
    if (size > arena->limit - arena->used) {
        arena->limit_reached = true;
        return NULL;
    }
    void *piece = arena->blocks ? take(arena->blocks, size, alignment) : NULL;
    if (!piece) {
        size_t block_size, whole;
        if (!hl_add_size(size, alignment, &block_size)) return NULL;
        size_t step = arena->used < first_block ? first_block : arena->used < largest_step ? arena->used : largest_step;
        if (block_size < step) block_size = step;
        if (!hl_add_size(block_size, sizeof(struct hl_arena_block), &whole)) return NULL;
        struct hl_arena_block *block = calloc(1, whole);
        if (!block) return NULL;
        block->size = block_size;
        block->next = arena->blocks;
        arena->blocks = block;
        piece = take(block, size, alignment);
    }
    arena->used += size;
    return piece;
}

void *hl_arena_array(struct hl_arena *arena, size_t count, size_t size, size_t alignment)
{
    size_t bytes;
    if (!hl_mul_size(count, size, &bytes)) {
        arena->limit_reached = true;
        return NULL;
    }
    return hl_arena_alloc(arena, bytes, alignment);
}

void hl_arena_clear(struct hl_arena *arena)
{
    while (arena->blocks) {
        struct hl_arena_block *block = arena->blocks;
        arena->blocks = block->next;
        free(block);
    }
    hl_arena_init(arena, arena->limit);
}
