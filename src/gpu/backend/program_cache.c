// SPDX-License-Identifier: Apache-2.0
// See program_cache.h. Each program takes its key and its size, 8 bytes each in the machine's byte order, and then the
// binary.
#include "gpu/backend/program_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/grow.h"

enum { MAX_PROGRAMS = 4096 };

struct prefix {
    uint64_t key, size;
};

void gpu_program_cache_free(struct gpu_program_cache *cache)
{
    for (int i = 0; i < cache->count; i++) free(cache->programs[i].binary);
    free(cache->programs);
    free(cache->waiting);
    *cache = (struct gpu_program_cache){.open = false};
}

static struct gpu_cached_program *find(const struct gpu_program_cache *cache, uint64_t key)
{
    for (int i = 0; i < cache->count; i++)
        if (cache->programs[i].key == key) return &cache->programs[i];
    return NULL;
}

static struct gpu_cached_program *append(struct gpu_program_cache *cache, uint64_t key)
{
    if (cache->count == MAX_PROGRAMS) return NULL;
    struct gpu_cached_program *programs = hl_grow(cache->programs, cache->count, &cache->capacity, sizeof *programs);
    if (!programs) return NULL;
    cache->programs = programs;
    cache->programs[cache->count] = (struct gpu_cached_program){.key = key};
    return &cache->programs[cache->count++];
}

// Reads the program at the start of `bytes`. Returns how many bytes it takes; 0: refused.
static size_t read_program(struct gpu_program_cache *cache, const unsigned char *bytes, size_t left)
{
    struct prefix prefix;
    if (left < sizeof prefix) return 0;
    memcpy(&prefix, bytes, sizeof prefix);
    if (prefix.size == 0 || prefix.size > left - sizeof prefix || find(cache, prefix.key)) return 0;
    struct gpu_cached_program *program = append(cache, prefix.key);
    if (!program || !(program->binary = malloc((size_t)prefix.size))) return 0;
    program->size = (size_t)prefix.size;
    memcpy(program->binary, bytes + sizeof prefix, program->size);
    return sizeof prefix + program->size;
}

bool gpu_program_cache_open(struct gpu_program_cache *cache, const void *bytes, size_t size)
{
    gpu_program_cache_free(cache);
    cache->open = true;
    for (size_t at = 0, step; bytes && at < size; at += step) {
        step = read_program(cache, (const unsigned char *)bytes + at, size - at);
        if (step > 0) continue;
        gpu_program_cache_free(cache);
        cache->open = true;
        return false;
    }
    return true;
}

const void *gpu_program_cache_find(struct gpu_program_cache *cache, uint64_t key, size_t *size)
{
    struct gpu_cached_program *program = cache->open ? find(cache, key) : NULL;
    if (!program) return NULL;
    *size = program->size;
    return program->binary;
}

void gpu_program_cache_add(struct gpu_program_cache *cache, uint64_t key, void *binary, size_t size)
{
    struct gpu_cached_program *program = size > 0 ? find(cache, key) : NULL;
    if (!program && size > 0) program = append(cache, key);
    if (!program) {
        free(binary);
        return;
    }
    free(program->binary);
    *program = (struct gpu_cached_program){key, binary, size};
    cache->changed = true;
}

void gpu_program_cache_postpone(struct gpu_program_cache *cache, void *program, uint64_t key)
{
    struct gpu_waiting_program *grown =
        hl_grow(cache->waiting, cache->waiting_count, &cache->waiting_capacity, sizeof *grown);
    if (!grown) return;
    cache->waiting = grown;
    grown[cache->waiting_count++] = (struct gpu_waiting_program){program, key};
}

void gpu_program_cache_forget(struct gpu_program_cache *cache, const void *program)
{
    for (int i = 0; i < cache->waiting_count; i++)
        if (cache->waiting[i].program == program) cache->waiting[i--] = cache->waiting[--cache->waiting_count];
}

bool gpu_program_cache_close(struct gpu_program_cache *cache, void **bytes, size_t *size)
{
    bool ok = true;
    *bytes = NULL;
    *size = 0;
    for (int i = 0; i < cache->count; i++)
        ok = ok && hl_add_size(*size, sizeof(struct prefix), size) && hl_add_size(*size, cache->programs[i].size, size);
    if (cache->changed && ok && *size > 0) {
        unsigned char *at = *bytes = malloc(*size);
        ok = at != NULL;
        for (int i = 0; i < cache->count && ok; i++) {
            const struct gpu_cached_program *program = &cache->programs[i];
            struct prefix prefix = {program->key, program->size};
            memcpy(at, &prefix, sizeof prefix);
            memcpy(at + sizeof prefix, program->binary, program->size);
            at += sizeof prefix + program->size;
        }
    }
    gpu_program_cache_free(cache);
    return ok;
}
