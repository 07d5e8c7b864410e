// SPDX-License-Identifier: Apache-2.0
// See kept.h. The bytes: for each program its key and its size, 8 bytes each in the machine's order, and the binary.
#include "gpu/backend/kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

enum { MAX_PROGRAMS = 4096 };

struct prefix {
    uint64_t key, size;
};

void gpu_kept_free(struct gpu_kept *kept)
{
    for (int i = 0; i < kept->count; i++) free(kept->programs[i].binary);
    free(kept->programs);
    *kept = (struct gpu_kept){.open = false};
}

static struct gpu_kept_program *find(const struct gpu_kept *kept, uint64_t key)
{
    for (int i = 0; i < kept->count; i++)
        if (kept->programs[i].key == key) return &kept->programs[i];
    return NULL;
}

static struct gpu_kept_program *append(struct gpu_kept *kept, uint64_t key)
{
    if (kept->count == MAX_PROGRAMS) return NULL;
    if (kept->count == kept->capacity) {
        int capacity = kept->capacity * 2 + 32;
        struct gpu_kept_program *programs = realloc(kept->programs, (size_t)capacity * sizeof *programs);
        if (!programs) return NULL;
        kept->programs = programs;
        kept->capacity = capacity;
    }
    kept->programs[kept->count] = (struct gpu_kept_program){.key = key};
    return &kept->programs[kept->count++];
}

// One program at the beginning of the bytes; the number of bytes that it takes, 0: refused.
static size_t read_program(struct gpu_kept *kept, const unsigned char *bytes, size_t left)
{
    struct prefix prefix;
    if (left < sizeof prefix) return 0;
    memcpy(&prefix, bytes, sizeof prefix);
    if (prefix.size == 0 || prefix.size > left - sizeof prefix || find(kept, prefix.key)) return 0;
    struct gpu_kept_program *program = append(kept, prefix.key);
    if (!program || !(program->binary = malloc((size_t)prefix.size))) return 0;
    program->size = (size_t)prefix.size;
    memcpy(program->binary, bytes + sizeof prefix, program->size);
    return sizeof prefix + program->size;
}

bool gpu_kept_open(struct gpu_kept *kept, const void *bytes, size_t size)
{
    gpu_kept_free(kept);
    kept->open = true;
    for (size_t at = 0, step; bytes && at < size; at += step) {
        step = read_program(kept, (const unsigned char *)bytes + at, size - at);
        if (step > 0) continue;
        gpu_kept_free(kept);
        kept->open = true;
        return false;
    }
    return true;
}

const void *gpu_kept_find(struct gpu_kept *kept, uint64_t key, size_t *size)
{
    struct gpu_kept_program *program = kept->open ? find(kept, key) : NULL;
    if (!program) return NULL;
    program->used = true;
    *size = program->size;
    return program->binary;
}

void gpu_kept_add(struct gpu_kept *kept, uint64_t key, void *binary, size_t size)
{
    struct gpu_kept_program *program = size > 0 ? find(kept, key) : NULL;
    if (!program && size > 0) program = append(kept, key);
    if (!program) {
        free(binary);
        return;
    }
    free(program->binary);
    *program = (struct gpu_kept_program){key, binary, size, true};
    kept->changed = true;
}

bool gpu_kept_close(struct gpu_kept *kept, void **bytes, size_t *size)
{
    bool changed = kept->changed, ok = true;
    *bytes = NULL;
    *size = 0;
    for (int i = 0; i < kept->count; i++) {
        if (!kept->programs[i].used)
            changed = true;
        else
            ok = ok && hl_add_size(*size, sizeof(struct prefix), size) &&
                 hl_add_size(*size, kept->programs[i].size, size);
    }
    if (changed && ok && *size > 0) {
        unsigned char *at = *bytes = malloc(*size);
        ok = at != NULL;
        for (int i = 0; i < kept->count && ok; i++) {
            const struct gpu_kept_program *program = &kept->programs[i];
            struct prefix prefix = {program->key, program->size};
            if (!program->used) continue;
            memcpy(at, &prefix, sizeof prefix);
            memcpy(at + sizeof prefix, program->binary, program->size);
            at += sizeof prefix + program->size;
        }
    }
    gpu_kept_free(kept);
    return ok;
}
