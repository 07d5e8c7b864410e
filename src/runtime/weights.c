// SPDX-License-Identifier: Apache-2.0
// See weights.h. A cache is a list of the blocks that kernels use now; a model has tens to hundreds of them. It keeps
// none that nobody uses, so it never grows beyond what its interpreters need. What only the file has is mapped.
//
// A model's own cache is there for every interpreter, so it must cost a first one nothing: names are made from where
// constants lie, not from their bytes, and what shall be compared is told apart by how it begins. (MobileNet v1 float:
// fingerprints of 17 MB before and 17 after packing would add 5 ms to AllocateTensors.)
#include "runtime/weights.h"

#include <stdlib.h>
#include <string.h>

#include "base/mutex.h"
#include "runtime/interpreter.h"

enum {
    LINE = 64,
    BEGINNING = 4096, // bytes of a block's sum in a model's cache
    MAX_NAMES = 64,   // of a block there: an interpreter is resized without end
};
enum fill { OPEN, SOFT, HARD };

struct hl_weights_name {
    struct hl_digest digest;
    struct hl_weights_name *next; // of the same block
};

struct HaliteWeightsCache {
    struct hl_model_companion companion; // first: of a model's own cache
    bool is_models;
    struct hl_mutex mutex; // guards what follows, and `next`, `id`, `users` and `names` of the blocks
    int owners;            // the application or the model, interpreters, blocks
    uint64_t last_id;
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

static void drop_companion(struct hl_model_companion *companion)
{
    hl_weights_cache_drop((HaliteWeightsCache *)companion);
}

static struct hl_model_companion *create_companion(void)
{
    HaliteWeightsCache *cache = HaliteWeightsCacheCreate();
    if (!cache) return NULL;
    cache->companion.destroy = drop_companion;
    cache->is_models = true;
    return &cache->companion;
}

HaliteWeightsCache *hl_weights_of_model(const TfLiteModel *model)
{
    return model->file_bytes ? (HaliteWeightsCache *)hl_model_companion(model, create_companion) : NULL;
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
    const struct TfLiteInterpreter *interpreter = hl_subgraph_of(context)->interpreter;
    HaliteWeightsCache *given = interpreter->options->weights_cache;
    return given ? given : hl_weights_of_model(interpreter->model);
}

static struct hl_weights_name *create_name(const struct hl_digest *digest)
{
    struct hl_weights_name *name = malloc(sizeof *name);
    if (name) *name = (struct hl_weights_name){.digest = *digest};
    return name;
}

struct hl_weights *hl_weights_create(HaliteWeightsCache *cache, size_t size, bool zeroed, const struct hl_digest *name,
                                     char **room)
{
    struct hl_weights *weights = malloc(sizeof *weights);
    struct hl_weights_name *own_name = name ? create_name(name) : NULL;
    const bool fits = size <= SIZE_MAX / 2;
    void *memory = fits && zeroed ? calloc(1, size + LINE) : fits ? malloc(size + LINE) : NULL;
    if (!weights || !memory || (name && !own_name)) {
        free(weights);
        free(own_name);
        free(memory);
        return NULL;
    }
    *room = (char *)memory + LINE - (uintptr_t)memory % LINE;
    *weights = (struct hl_weights){
        .data = *room,
        .size = size,
        .memory = memory,
        .cache = hl_weights_cache_keep(cache),
        .names = own_name,
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
    weights->id = ++cache->last_id;
    weights->next = cache->first;
    cache->first = weights;
    cache->bytes += weights->size;
}

static int names_of(const struct hl_weights *weights)
{
    int count = 0;
    for (const struct hl_weights_name *name = weights->names; name; name = name->next) count++;
    return count;
}

// Moves the names of a block to an equal one. In a model's cache those that come after MAX_NAMES are lost.
static void move_names(struct hl_weights *from, struct hl_weights *to)
{
    int count = to->cache->is_models ? names_of(to) : 0;
    while (from->names) {
        struct hl_weights_name *name = from->names;
        from->names = name->next;
        if (count >= MAX_NAMES || has_name(to, &name->digest)) {
            free(name);
            continue;
        }
        if (to->cache->is_models) count++;
        name->next = to->names;
        to->names = name;
    }
}

struct hl_weights *hl_weights_share(struct hl_weights *weights)
{
    HaliteWeightsCache *cache = weights->cache;
    const size_t beginning = weights->size < BEGINNING ? weights->size : BEGINNING;
    hl_digest_add(&weights->sum, weights->data, cache->is_models ? beginning : weights->size);
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

// Whether the cache has a file that blocks can be found in or written to.
static bool knows_file(HaliteWeightsCache *cache, const TfLiteContext *context, const char *level)
{
    if (!cache->path) return false;
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

bool hl_weights_find_name(const TfLiteContext *context, const TfLiteNode *node, const char *level,
                          struct hl_digest *name)
{
    HaliteWeightsCache *cache = hl_weights_cache_of(context);
    if (!cache) return false;
    if (!cache->is_models) return knows_file(cache, context, level) && hl_digest_node(context, node, NULL, name);
    hl_digest_add(name, level, strlen(level)); // which a program may change between two interpreters
    return hl_digest_node(context, node, cache, name);
}

uint64_t hl_weights_id(HaliteWeightsCache *cache, const void *data)
{
    hl_mutex_lock(&cache->mutex);
    const struct hl_weights *at = cache->first;
    while (at && at->data != data) at = at->next;
    const uint64_t id = at ? at->id : 0;
    hl_mutex_unlock(&cache->mutex);
    return id;
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
    struct hl_weights_name *own_name = weights ? create_name(name) : NULL;
    if (!own_name) {
        free(weights);
        return NULL;
    }
    cache->owners++;
    *weights = (struct hl_weights){
        .data = data,
        .size = size,
        .file = hl_weights_file_keep(cache->file),
        .cache = cache,
        .sum = sum,
        .names = own_name,
    };
    list(cache, weights);
    return weights;
}

struct hl_weights *hl_weights_find(HaliteWeightsCache *cache, const TfLiteContext *context,
                                   const struct hl_digest *name, size_t size)
{
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
    HaliteWeightsCache *cache = hl_subgraph_of(context)->interpreter->options->weights_cache;
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
