// SPDX-License-Identifier: Apache-2.0
// See weights.h. A cache is a list of the blocks that kernels use now; a model has tens to hundreds of them. It keeps
// none that nobody uses, so it never grows beyond what its interpreters need.
#include "runtime/weights.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mutex.h"
#include "runtime/interpreter.h"

enum { LINE = 64 };
enum fill { OPEN, SOFT, HARD };

struct HaliteWeightsCache {
    struct hl_mutex mutex; // guards what follows, and `next` and `users` of the blocks
    int owners;            // the application, interpreters, blocks
    enum fill fill;
    struct hl_weights *first;
    size_t bytes;
};

HaliteWeightsCache *HaliteWeightsCacheCreate(void)
{
    HaliteWeightsCache *cache = calloc(1, sizeof *cache);
    if (!cache || !hl_mutex_init(&cache->mutex)) {
        free(cache);
        return NULL;
    }
    cache->owners = 1;
    return cache;
}

HaliteWeightsCache *hl_weights_cache_keep(HaliteWeightsCache *cache)
{
    if (!cache) return NULL;
    hl_mutex_lock(&cache->mutex);
    cache->owners++;
    hl_mutex_unlock(&cache->mutex);
    return cache;
}

void hl_weights_cache_drop(HaliteWeightsCache *cache)
{
    if (!cache) return;
    hl_mutex_lock(&cache->mutex);
    int left = --cache->owners;
    hl_mutex_unlock(&cache->mutex);
    if (left > 0) return;
    hl_mutex_destroy(&cache->mutex);
    free(cache);
}

void HaliteWeightsCacheDelete(HaliteWeightsCache *cache)
{
    hl_weights_cache_drop(cache);
}

size_t HaliteWeightsCacheGetBytes(HaliteWeightsCache *cache)
{
    if (!cache) return 0;
    hl_mutex_lock(&cache->mutex);
    size_t bytes = cache->bytes;
    hl_mutex_unlock(&cache->mutex);
    return bytes;
}

bool HaliteWeightsCacheFinalize(HaliteWeightsCache *cache, bool hard)
{
    if (!cache) return false;
    hl_mutex_lock(&cache->mutex);
    bool first = cache->fill == OPEN;
    if (first) cache->fill = hard ? HARD : SOFT;
    hl_mutex_unlock(&cache->mutex);
    return first;
}

// ---- blocks -------------------------------------------------------------------------------------

HaliteWeightsCache *hl_weights_cache_of(const TfLiteContext *context)
{
    return hl_subgraph_of(context)->interpreter->options->weights_cache;
}

struct hl_weights *hl_weights_create(HaliteWeightsCache *cache, size_t size)
{
    struct hl_weights *weights = malloc(sizeof *weights);
    void *memory = size <= SIZE_MAX - LINE ? calloc(1, size + LINE) : NULL;
    if (!weights || !memory) {
        free(weights);
        free(memory);
        return NULL;
    }
    *weights = (struct hl_weights){
        .data = (char *)memory + LINE - (uintptr_t)memory % LINE,
        .size = size,
        .memory = memory,
        .cache = hl_weights_cache_keep(cache),
    };
    return weights;
}

static void destroy(struct hl_weights *weights)
{
    hl_weights_cache_drop(weights->cache);
    free(weights->memory);
    free(weights);
}

// Holds the mutex. The fingerprint only saves comparisons: it proves nothing.
static struct hl_weights *find_equal(const HaliteWeightsCache *cache, const struct hl_weights *weights)
{
    struct hl_weights *at = cache->fill == HARD ? NULL : cache->first;
    while (at && (at->hash != weights->hash || at->size != weights->size ||
                  memcmp(at->data, weights->data, weights->size) != 0))
        at = at->next;
    return at;
}

struct hl_weights *hl_weights_share(struct hl_weights *weights)
{
    HaliteWeightsCache *cache = weights->cache;
    weights->hash = hl_hash(0, weights->data, weights->size);
    hl_mutex_lock(&cache->mutex);
    struct hl_weights *equal = find_equal(cache, weights);
    if (equal) {
        equal->users++;
    } else if (cache->fill == OPEN) {
        weights->users = 1;
        weights->next = cache->first;
        cache->first = weights;
        cache->bytes += weights->size;
    }
    hl_mutex_unlock(&cache->mutex);
    if (!equal) return weights;
    destroy(weights);
    return equal;
}

void hl_weights_release(struct hl_weights *weights)
{
    if (!weights) return;
    HaliteWeightsCache *cache = weights->cache;
    hl_mutex_lock(&cache->mutex);
    bool listed = weights->users > 0, last = !listed || --weights->users == 0;
    if (listed && last) {
        struct hl_weights **at = &cache->first;
        while (*at != weights) at = &(*at)->next;
        *at = weights->next;
        cache->bytes -= weights->size;
    }
    hl_mutex_unlock(&cache->mutex);
    if (last) destroy(weights);
}
