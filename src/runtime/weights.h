// SPDX-License-Identifier: Apache-2.0
// Packed weights that interpreters share. In: a block of bytes that a kernel has packed and will not change again. Out:
// that block, or an equal one that another kernel packed before. What is equal is found by comparing all bytes, so it
// does not matter from which model, interpreter or operator the blocks come. A cache with a file, and the one that each
// model has for its own interpreters, also find blocks by their names, before anybody packs them: a name is the
// fingerprint of everything that the block is made from.
#ifndef HALITE_RUNTIME_WEIGHTS_H
#define HALITE_RUNTIME_WEIGHTS_H

#include <stddef.h>

#include "base/hash.h"
#include "halite/halite.h"
#include "runtime/subgraph.h"
#include "runtime/weights_file.h"

struct hl_weights {
    const char *data; // cache lines
    size_t size;
    // The cache's own:
    void *memory;                 // what data lies in; NULL: the file
    struct hl_weights_file *file; // which must stay as long; NULL: memory
    HaliteWeightsCache *cache;
    struct hl_weights *next;       // in the cache's list
    struct hl_digest sum;          // of the data, or where the cache is a model's of how it begins
    uint64_t id;                   // that no other block of the cache has or will have; 0: nobody else can see it
    int users;                     // likewise
    struct hl_weights_name *names; // by which it is found
};

// The cache of a model, which lives as long as the model and holds what its interpreters share where their options give
// them no other. NULL: the model was built from no file, or memory was out when the first call was to make the cache.
HaliteWeightsCache *hl_weights_of_model(const TfLiteModel *model);
// The cache of the interpreter's options, else its model's; NULL: none.
HaliteWeightsCache *hl_weights_cache_of(const TfLiteContext *context);
// Adds to *name, which says how a block lies, what that cache tells blocks by: everything that this CPU level packs the
// node's from. False: the cache has no names, or not all of it is known. The first time the cache opens its file, which
// must have been packed for the same level, and reports why it cannot be used.
bool hl_weights_find_name(const TfLiteContext *context, const TfLiteNode *node, const char *level,
                          struct hl_digest *name);
// Adds everything that a kernel's preparation of this node depends on: operator, options, shapes, quantization,
// constants. own: the model's cache, where the fingerprint is for that alone; NULL: it is for other processes, too.
// False where not all of it is known, as with sparse constants.
bool hl_digest_node(const TfLiteContext *context, const TfLiteNode *node, HaliteWeightsCache *own,
                    struct hl_digest *digest);
// The id of the block whose data begins there; 0: there is none.
uint64_t hl_weights_id(HaliteWeightsCache *cache, const void *data);

// A block of the caller's own, to be filled through *room, and zeroed if the caller will not write all of it. name: by
// which others will find it once it is shared; NULL: it has none. Returns NULL without memory.
struct hl_weights *hl_weights_create(HaliteWeightsCache *cache, size_t size, bool zeroed, const struct hl_digest *name,
                                     char **room);
// The block of a name in the cache, with one more user. NULL: there is none. May be called by several threads at once,
// as may all that follow. What is wrong with the cache's file goes to the context's reporter.
struct hl_weights *hl_weights_find(HaliteWeightsCache *cache, const TfLiteContext *context,
                                   const struct hl_digest *name, size_t size);
// Gives an equal block in place of one that is filled, and destroys that, or the block itself. The bytes must not
// change from now on.
struct hl_weights *hl_weights_share(struct hl_weights *weights);
// Takes NULL. The memory goes with the last user.
void hl_weights_release(struct hl_weights *weights);

// Writes the file of the options' cache where blocks with names are not in it yet; reports once why it cannot.
void hl_weights_save(const TfLiteContext *context);

// One more owner of the cache, and one less: it goes with the last one. Both take NULL.
HaliteWeightsCache *hl_weights_cache_keep(HaliteWeightsCache *cache);
void hl_weights_cache_drop(HaliteWeightsCache *cache);

#endif
