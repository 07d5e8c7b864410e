// SPDX-License-Identifier: Apache-2.0
// Packed weights that interpreters share. In: a block of bytes that a kernel has packed and will not change again. Out:
// that block, or an equal one that another kernel packed before. What is equal is found by comparing all bytes, so it
// does not matter from which model, interpreter or operator the blocks come.
#ifndef HALITE_RUNTIME_WEIGHTS_H
#define HALITE_RUNTIME_WEIGHTS_H

#include <stddef.h>
#include <stdint.h>

#include "halite/halite.h"
#include "runtime/subgraph.h"

struct hl_weights {
    char *data; // cache lines; zeroed when created
    size_t size;
    // The cache's own:
    void *memory; // what data lies in
    HaliteWeightsCache *cache;
    struct hl_weights *next; // in the cache's list
    uint64_t hash;
    int users; // 0: nobody else can see it
};

// The cache of the interpreter's options; NULL: none.
HaliteWeightsCache *hl_weights_cache_of(const TfLiteContext *context);

// A block of the caller's own, to be filled. NULL without memory.
struct hl_weights *hl_weights_create(HaliteWeightsCache *cache, size_t size);
// Gives an equal block in place of one that is filled, and destroys that, or the block itself. The bytes must not
// change from now on. May be called by several threads at once, as may the next function.
struct hl_weights *hl_weights_share(struct hl_weights *weights);
// Takes NULL. The memory goes with the last user.
void hl_weights_release(struct hl_weights *weights);

// One more owner of the cache, and one less: it goes with the last one. Both take NULL.
HaliteWeightsCache *hl_weights_cache_keep(HaliteWeightsCache *cache);
void hl_weights_cache_drop(HaliteWeightsCache *cache);

#endif
