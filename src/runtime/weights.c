// SPDX-License-Identifier: Apache-2.0
// See weights.h. A cache is a list of the blocks that kernels use now; a model has tens to hundreds of them. It keeps
// none that nobody uses, so it never grows beyond what its interpreters need. What only the file has is mapped.
#include "runtime/weights.h"

#include <stdlib.h>
#include <string.h>

#include "base/mutex.h"
#include "runtime/interpreter.h"

enum { LINE = 64 };
enum fill { OPEN, SOFT, HARD };

struct hl_weights_name {
    struct hl_digest digest;
    struct hl_weights_name *next; // of the same block
};

struct HaliteWeightsCache {
    struct hl_mutex mutex; // guards what follows, and `next`, `users` and `names` of the blocks
    int owners;            // the application, interpreters, blocks
    enum fill fill;
    struct hl_weights *first;
    size_t bytes, packed;

    char *path; // NULL: no file
    struct hl_weights_identity identity;
    bool opened;                  // the file has been looked for
    bool unwritable;              // and must stay as it is
    bool changed;                 // a block has a name that is not in the file
    struct hl_weights_file *file; // NULL: none that can be used
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

HaliteWeightsCache *HaliteWeightsCacheCreateWithFile(const char *path)
{
    HaliteWeightsCache *cache = path && *path ? HaliteWeightsCacheCreate() : NULL;
    if (!cache) return NULL;
    const size_t size = strlen(path) + 1;
    cache->path = malloc(size);
    if (cache->path) return memcpy(cache->path, path, size) ? cache : NULL;
    HaliteWeightsCacheDelete(cache);
    return NULL;
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
    hl_weights_file_drop(cache->file);
    hl_mutex_destroy(&cache->mutex);
    free(cache->path);
    free(cache);
}

void HaliteWeightsCacheDelete(HaliteWeightsCache *cache)
{
    hl_weights_cache_drop(cache);
}

static size_t read_counter(HaliteWeightsCache *cache, const size_t *counter)
{
    hl_mutex_lock(&cache->mutex);
    const size_t value = *counter;
    hl_mutex_unlock(&cache->mutex);
    return value;
}

size_t HaliteWeightsCacheGetBytes(HaliteWeightsCache *cache)
{
    return cache ? read_counter(cache, &cache->bytes) : 0;
}

size_t HaliteWeightsCacheGetPackedBytes(HaliteWeightsCache *cache)
{
    return cache ? read_counter(cache, &cache->packed) : 0;
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

struct hl_weights *hl_weights_create(HaliteWeightsCache *cache, size_t size, char **room)
{
    struct hl_weights *weights = malloc(sizeof *weights);
    void *memory = size <= SIZE_MAX - LINE ? calloc(1, size + LINE) : NULL;
    if (!weights || !memory) {
        free(weights);
        free(memory);
        return NULL;
    }
    *room = (char *)memory + LINE - (uintptr_t)memory % LINE;
    *weights = (struct hl_weights){
        .data = *room,
        .size = size,
        .memory = memory,
        .cache = hl_weights_cache_keep(cache),
    };
    hl_mutex_lock(&cache->mutex);
    cache->packed += size;
    hl_mutex_unlock(&cache->mutex);
    return weights;
}

static void destroy(struct hl_weights *weights)
{
    while (weights->names) {
        struct hl_weights_name *name = weights->names;
        weights->names = name->next;
        free(name);
    }
    hl_weights_cache_drop(weights->cache);
    free(weights->memory);
    free(weights);
}

void hl_weights_set_name(struct hl_weights *weights, const struct hl_digest *name)
{
    struct hl_weights_name *own = malloc(sizeof *own);
    if (!own) return; // nobody will find it
    *own = (struct hl_weights_name){*name, weights->names};
    weights->names = own;
}

static bool has_name(const struct hl_weights *weights, const struct hl_digest *name)
{
    const struct hl_weights_name *at = weights->names;
    while (at && !hl_digest_equal(&at->digest, name)) at = at->next;
    return at != NULL;
}

// Holds the mutex. The fingerprint only saves comparisons: it proves nothing.
static struct hl_weights *find_equal(const HaliteWeightsCache *cache, const struct hl_weights *weights)
{
    struct hl_weights *at = cache->fill == HARD ? NULL : cache->first;
    while (at && (!hl_digest_equal(&at->sum, &weights->sum) || at->size != weights->size ||
                  memcmp(at->data, weights->data, weights->size) != 0))
        at = at->next;
    return at;
}

// Holds the mutex.
static void list(HaliteWeightsCache *cache, struct hl_weights *weights)
{
    weights->users = 1;
    weights->next = cache->first;
    cache->first = weights;
    cache->bytes += weights->size;
}

// Moves the names of a block to an equal one.
static void move_names(struct hl_weights *from, struct hl_weights *to)
{
    while (from->names) {
        struct hl_weights_name *name = from->names;
        from->names = name->next;
        if (has_name(to, &name->digest)) {
            free(name);
            continue;
        }
        name->next = to->names;
        to->names = name;
    }
}

struct hl_weights *hl_weights_share(struct hl_weights *weights)
{
    HaliteWeightsCache *cache = weights->cache;
    hl_digest_add(&weights->sum, weights->data, weights->size);
    hl_mutex_lock(&cache->mutex);
    struct hl_weights *equal = find_equal(cache, weights);
    if (cache->fill == OPEN && weights->names) cache->changed = true;
    if (equal) {
        equal->users++;
        move_names(weights, equal);
    } else if (cache->fill == OPEN) {
        list(cache, weights);
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
    if (last) hl_weights_file_drop(weights->file);
    hl_mutex_unlock(&cache->mutex);
    if (last) destroy(weights);
}

// ---- the file -----------------------------------------------------------------------------------

// Holds the mutex.
static void open_file(HaliteWeightsCache *cache, const struct hl_reporter *reporter)
{
    const char *why;
    cache->file = hl_weights_file_open(cache->path, &cache->identity, &why, &cache->unwritable);
    if (!cache->file && why)
        hl_report(reporter, "packed weights in %s are ignored, and packed anew: %s", cache->path, why);
}

static const struct hl_reporter *reporter_of(const TfLiteContext *context)
{
    return &hl_subgraph_of(context)->interpreter->options->reporter;
}

bool hl_weights_knows_names(const TfLiteContext *context, const char *level)
{
    HaliteWeightsCache *cache = hl_weights_cache_of(context);
    if (!cache || !cache->path) return false;
    hl_mutex_lock(&cache->mutex);
    if (!cache->opened) {
        hl_weights_identify(&cache->identity, level);
        open_file(cache, reporter_of(context));
        cache->opened = true;
    }
    const bool usable = cache->fill != HARD && (cache->file || !cache->unwritable);
    hl_mutex_unlock(&cache->mutex);
    return usable;
}

// Holds the mutex. A block for what the file has.
static struct hl_weights *map_block(HaliteWeightsCache *cache, const struct hl_digest *name, size_t size,
                                    const struct hl_reporter *reporter)
{
    bool damaged;
    struct hl_digest sum;
    const void *data = hl_weights_file_find(cache->file, name, size, &sum, &damaged);
    if (damaged) hl_report(reporter, "packed weights in %s are damaged, and packed anew", cache->path);
    struct hl_weights *weights = data ? malloc(sizeof *weights) : NULL;
    if (!weights) return NULL;
    cache->owners++;
    *weights = (struct hl_weights){
        .data = data,
        .size = size,
        .file = hl_weights_file_keep(cache->file),
        .cache = cache,
        .sum = sum,
    };
    hl_weights_set_name(weights, name);
    list(cache, weights);
    return weights;
}

struct hl_weights *hl_weights_find(const TfLiteContext *context, const struct hl_digest *name, size_t size)
{
    HaliteWeightsCache *cache = hl_weights_cache_of(context);
    hl_mutex_lock(&cache->mutex);
    struct hl_weights *weights = cache->first;
    while (weights && (weights->size != size || !has_name(weights, name))) weights = weights->next;
    if (weights)
        weights->users++;
    else
        weights = map_block(cache, name, size, reporter_of(context));
    hl_mutex_unlock(&cache->mutex);
    return weights;
}

static size_t count_names(const HaliteWeightsCache *cache)
{
    size_t count = 0;
    for (const struct hl_weights *at = cache->first; at; at = at->next)
        for (const struct hl_weights_name *name = at->names; name; name = name->next) count++;
    return count;
}

// Drops from the first `count` items, which are the old file's, those that are in use, for they come once more, and all
// others where they are more than what is in use: nobody has asked for them.
static size_t keep_unused(const HaliteWeightsCache *cache, struct hl_weights_item *items, size_t count)
{
    size_t left = 0, bytes = 0;
    for (size_t i = 0; i < count; i++) {
        const struct hl_weights *at = cache->first;
        while (at && (at->size != items[i].size || !has_name(at, &items[i].name))) at = at->next;
        if (at) continue;
        bytes += items[i].size;
        items[left++] = items[i];
    }
    return bytes > cache->bytes ? 0 : left;
}

// Holds the mutex.
static const char *write_file(HaliteWeightsCache *cache)
{
    const char *why = "out of memory";
    size_t count;
    struct hl_weights_item *items = hl_weights_file_items(cache->file, count_names(cache), &count);
    if (!items) return why;
    count = keep_unused(cache, items, count);
    for (const struct hl_weights *at = cache->first; at; at = at->next)
        for (const struct hl_weights_name *name = at->names; name; name = name->next)
            items[count++] = (struct hl_weights_item){name->digest, at->sum, at->data, at->size};
    const bool ok = hl_weights_file_write(cache->path, &cache->identity, items, count, &why);
    free(items);
    return ok ? NULL : why;
}

void hl_weights_save(const TfLiteContext *context)
{
    HaliteWeightsCache *cache = hl_weights_cache_of(context);
    const struct hl_reporter *reporter = reporter_of(context);
    if (!cache || !cache->path) return;
    hl_mutex_lock(&cache->mutex);
    if (cache->changed && !cache->unwritable) {
        const char *why = write_file(cache);
        if (why) {
            hl_report(reporter, "packed weights cannot be kept in %s: %s", cache->path, why);
            cache->unwritable = true;
        } else { // what nobody uses now is in the new one alone
            hl_weights_file_drop(cache->file);
            open_file(cache, reporter);
        }
        cache->changed = false;
    }
    hl_mutex_unlock(&cache->mutex);
}
