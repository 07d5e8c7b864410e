// SPDX-License-Identifier: Apache-2.0
// See programs.h.
#include "gpu/plan/programs.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

// How many programs that nobody holds stay: those of ten networks, because the networks in docs/performance.md have 12
// to 61 each.
enum { MAX_RELEASED = 512 };

struct gpu_pooled_program {
    struct gpu_program_desc desc; // its constants are the array below
    int constants[GPU_KERNEL_CONSTANTS + GPU_EPILOGUE_STAGES];
    struct gpu_program *program; // NULL while the call that needs it first runs
    int holders;
    int64_t released; // the clock when the last holder released it
};

static size_t constant_bytes(const struct gpu_kernel *kernel)
{
    return (size_t)gpu_kernel_constant_count(kernel) * sizeof(int);
}

static struct gpu_pooled_program *find(const struct gpu_program_pool *pool, const struct gpu_program_desc *desc)
{
    for (int i = 0; i < pool->count; i++) {
        struct gpu_pooled_program *entry = &pool->programs[i];
        const struct gpu_program_desc *own = &entry->desc;
        if (own->kernel == desc->kernel && own->precision == desc->precision && own->floats == desc->floats &&
            memcmp(own->group, desc->group, sizeof own->group) == 0 &&
            memcmp(entry->constants, desc->constants, constant_bytes(own->kernel)) == 0)
            return entry;
    }
    return NULL;
}

static struct gpu_pooled_program *append(struct gpu_program_pool *pool, const struct gpu_program_desc *desc)
{
    struct gpu_pooled_program *grown = hl_grow(pool->programs, pool->count, &pool->capacity, sizeof *grown);
    if (!grown) return NULL;
    pool->programs = grown;
    struct gpu_pooled_program *entry = &grown[pool->count++];
    *entry = (struct gpu_pooled_program){.desc = *desc};
    memcpy(entry->constants, desc->constants, constant_bytes(desc->kernel));
    return entry;
}

// Compiles the programs from entry `first` on, in one call, because that may compile them in parallel.
static bool compile(struct gpu_program_pool *pool, int first)
{
    int count = pool->count - first;
    if (count == 0) return true;
    struct gpu_program_desc *descs = calloc((size_t)count, sizeof *descs);
    struct gpu_program **made = calloc((size_t)count, sizeof *made);
    bool ok = descs && made;
    if (!ok) hl_report(pool->reporter, "TfLiteGpuDelegate Init: out of memory");
    for (int i = 0; i < count && ok; i++) {
        descs[i] = pool->programs[first + i].desc;
        descs[i].constants = pool->programs[first + i].constants;
    }
    ok = ok && pool->backend->programs_create(pool->device, descs, count, made);
    for (int i = 0; i < count && made; i++) pool->programs[first + i].program = made[i];
    free(descs);
    free(made);
    return ok;
}

static void destroy_from(struct gpu_program_pool *pool, int first)
{
    while (pool->count > first) pool->backend->program_destroy(pool->device, pool->programs[--pool->count].program);
}

bool gpu_programs_hold(struct gpu_program_pool *pool, const struct gpu_program_desc *descs, int count,
                       struct gpu_program **programs)
{
    int first = pool->count;
    bool ok = true;
    for (int i = 0; i < count && ok; i++)
        if (!find(pool, &descs[i]) && !append(pool, &descs[i])) {
            hl_report(pool->reporter, "TfLiteGpuDelegate Init: out of memory");
            ok = false;
        }
    if (!ok || !compile(pool, first)) {
        destroy_from(pool, first);
        return false;
    }
    for (int i = 0; i < count; i++) {
        struct gpu_pooled_program *entry = find(pool, &descs[i]);
        entry->holders++;
        programs[i] = entry->program;
    }
    return true;
}

// Destroys the programs that nobody has held for the longest, as long as there are too many of them.
static void shrink(struct gpu_program_pool *pool)
{
    for (;;) {
        int released = 0, oldest = -1;
        for (int i = 0; i < pool->count; i++) {
            const struct gpu_pooled_program *entry = &pool->programs[i];
            if (entry->holders > 0) continue;
            released++;
            if (oldest < 0 || entry->released < pool->programs[oldest].released) oldest = i;
        }
        if (released <= MAX_RELEASED) return;
        pool->backend->program_destroy(pool->device, pool->programs[oldest].program);
        pool->programs[oldest] = pool->programs[--pool->count];
    }
}

void gpu_programs_release(struct gpu_program_pool *pool, struct gpu_program *const *programs, int count)
{
    pool->clock++;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < pool->count; k++) {
            struct gpu_pooled_program *entry = &pool->programs[k];
            if (entry->program != programs[i]) continue;
            entry->released = pool->clock;
            entry->holders--;
            break;
        }
    shrink(pool);
}

void gpu_programs_destroy(struct gpu_program_pool *pool)
{
    destroy_from(pool, 0);
    free(pool->programs);
    *pool = (struct gpu_program_pool){.backend = NULL};
}
