// SPDX-License-Identifier: Apache-2.0
// Packed weights that interpreters share. In: a block of bytes that a kernel has packed and will not change again. Out:
// that block, or an equal one that another kernel packed before. What is equal is found by comparing all bytes, so it
// does not matter from which model, interpreter or operator the blocks come. A cache with a file also finds blocks by
// their names, before anybody packs them: a name is the fingerprint of everything that the block is made from.
#ifndef HALITE_RUNTIME_WEIGHTS_H
#define HALITE_RUNTIME_WEIGHTS_H

#include <stddef.h>

#include "base/hash.h"
#include "halite/halite.h"
#include "runtime/subgraph.h"
#include "runtime/weights_file.h"

struct hl_weights {
    const char *data; // cache lines; what hl_weights_create made is zeroed
    size_t size;
    // The cache's own:
    void *memory;                 // what data lies in; NULL: the file
    struct hl_weights_file *file; // which must stay as long; NULL: memory
    HaliteWeightsCache *cache;
    struct hl_weights *next;       // in the cache's list
    struct hl_digest sum;          // of the data
    int users;                     // 0: nobody else can see it
    struct hl_weights_name *names; // under which the file has it or will have it
};

// The cache of the interpreter's options; NULL: none.
HaliteWeightsCache *hl_weights_cache_of(const TfLiteContext *context);
// Whether that cache knows blocks by their names. The first time it opens its file, which must have been packed for the
// same CPU level, and reports why it cannot be used.
bool hl_weights_knows_names(const TfLiteContext *context, const char *level);

// A block of the caller's own, to be filled through *room. NULL without memory.
struct hl_weights *hl_weights_create(HaliteWeightsCache *cache, size_t size, char **room);
// The block of a name in that cache, with one more user. NULL: there is none. May be called by several threads at once,
// as may all that follow.
struct hl_weights *hl_weights_find(const TfLiteContext *context, const struct hl_digest *name, size_t size);
// Names a block of the caller's own, or one that it is about to share.
void hl_weights_set_name(struct hl_weights *weights, const struct hl_digest *name);
// Gives an equal block in place of one that is filled, and destroys that, or the block itself. The bytes must not
// change from now on.
struct hl_weights *hl_weights_share(struct hl_weights *weights);
// Takes NULL. The memory goes with the last user.
void hl_weights_release(struct hl_weights *weights);

// Writes the file of that cache where blocks with names are not in it yet; reports once why it cannot.
void hl_weights_save(const TfLiteContext *context);

// One more owner of the cache, and one less: it goes with the last one. Both take NULL.
HaliteWeightsCache *hl_weights_cache_keep(HaliteWeightsCache *cache);
void hl_weights_cache_drop(HaliteWeightsCache *cache);

#endif
