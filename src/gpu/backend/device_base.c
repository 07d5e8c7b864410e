// SPDX-License-Identifier: Apache-2.0
// See device_base.h.
#include "gpu/backend/device_base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "gpu/backend/wait.h"

enum { MESSAGE_BYTES = 6400 }; // a compiler's log is the longest

bool gpu_device_exists(const char *api, int index, int count, const char *why, const struct hl_reporter *reporter)
{
    if (index >= 0 && index < count) return true;
    hl_report(reporter, "%s has %d devices, none with number %d%s%s", api, count, index, why ? ": " : "",
              why ? why : "");
    return false;
}

bool gpu_device_fail(const struct gpu_device_base *base, const char *format, ...)
{
    char text[MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    hl_report(&base->reporter, "%s on %s: %s", base->api, base->caps.name, text);
    return false;
}

void *gpu_device_no_memory(const struct gpu_device_base *base, const char *purpose)
{
    gpu_device_fail(base, "out of memory for %s", purpose);
    return NULL;
}

bool gpu_device_is_alive(const struct gpu_device_base *base, const char *action)
{
    return !base->lost ||
           gpu_device_fail(base, "cannot %s: the device was lost earlier; delete the delegate and create it anew",
                           action);
}

// Work of a GPU that takes minutes is nobody's: drivers with a watchdog end it after 2 to 10 seconds. The kernels of a
// software device share processors with everything else, and those of a large model have taken minutes there.
#define SECOND UINT64_C(1000000000)
static const uint64_t limit_of_gpu = 120 * SECOND, limit_of_software = 3600 * SECOND;
#undef SECOND

const struct gpu_caps *gpu_device_caps(const struct gpu_device *device)
{
    return &((const struct gpu_device_base *)device)->caps;
}

void gpu_device_set_wait_limit(struct gpu_device *device, uint64_t nanoseconds)
{
    ((struct gpu_device_base *)device)->wait_limit = nanoseconds;
}

uint64_t gpu_device_wait_limit(const struct gpu_device_base *base)
{
    if (base->wait_limit > 0) return base->wait_limit;
    return base->caps.software ? limit_of_software : limit_of_gpu;
}

// A card's work takes less than its driver needs to wake a thread; a battery or a software device has better uses for
// the processor.
uint64_t gpu_device_wait_spin(const struct gpu_device_base *base)
{
    return base->caps.software ? 0 : base->caps.integrated ? 100000 : 2000000;
}

bool gpu_device_abandon(struct gpu_device_base *base)
{
    base->lost = base->is_abandoned = true;
    return gpu_device_fail(base,
                           "a run has not ended in %.3g s, the limit of option wait_limit_ms, and what it uses stays "
                           "allocated" GPU_DEVICE_IS_LOST ", with a higher limit if runs may take so long",
                           1e-9 * (double)gpu_device_wait_limit(base));
}

bool gpu_device_wait(struct gpu_device_base *base, bool (*is_busy)(void *about), void *about)
{
    struct gpu_wait_desc desc = {is_busy, about, gpu_device_wait_spin(base), gpu_device_wait_limit(base)};
    return gpu_wait_until_done(&desc) || gpu_device_abandon(base);
}

void gpu_device_end(struct gpu_device_base *base)
{
    hl_copier_end(&base->copier);
    gpu_program_cache_free(&base->program_cache);
}

struct gpu_lent *gpu_device_lend(struct gpu_device_base *base, const struct gpu_lent *desc)
{
    struct gpu_lent *lent = malloc(sizeof *lent);
    if (!lent) return NULL;
    *lent = *desc;
    lent->next = base->lent;
    base->lent = lent;
    memset(lent->memory, 0, lent->bytes);
    return lent;
}

const struct gpu_lent *gpu_device_lent_at(const struct gpu_device_base *base, const void *at, size_t bytes)
{
    for (const struct gpu_lent *lent = base->lent; lent; lent = lent->next) {
        uintptr_t before = (uintptr_t)at - (uintptr_t)lent->memory;
        if (before <= lent->bytes && bytes <= lent->bytes - before) return lent;
    }
    return NULL;
}

void gpu_device_take_back(struct gpu_device_base *base, struct gpu_lent *lent)
{
    struct gpu_lent **link = &base->lent;
    while (*link != lent) link = &(*link)->next;
    *link = lent->next;
    free(lent);
}

void gpu_device_copy(struct gpu_device_base *base, void *to, const void *from, size_t bytes)
{
    if (to != from) hl_copier_copy(&base->copier, to, from, bytes); // a tensor may lie in the buffer itself
}

void gpu_device_send(struct gpu_device_base *base, void *to, const void *from, size_t bytes)
{
    hl_copier_send(&base->copier, to, from, bytes);
}

void gpu_device_send_halves(struct gpu_device_base *base, void *to, const float *from, size_t count)
{
    hl_copier_send_halves(&base->copier, to, from, count);
}

void gpu_device_expect_copy(struct gpu_device_base *base, size_t bytes)
{
    if (bytes >= HL_LARGE_COPY) hl_copier_wake(&base->copier);
}

bool gpu_device_has_range(const struct gpu_device_base *base, size_t buffer_bytes, size_t offset, size_t bytes,
                          const char *action)
{
    return (offset <= buffer_bytes && bytes <= buffer_bytes - offset) ||
           gpu_device_fail(base, "%s %zu bytes at %zu of a buffer of %zu bytes", action, bytes, offset, buffer_bytes);
}

bool gpu_device_allows_buffer(const struct gpu_device_base *base, size_t bytes)
{
    return (bytes > 0 && bytes <= base->caps.max_buffer) ||
           gpu_device_fail(base, "a buffer of %zu bytes is wanted, the device allows 1 to %zu", bytes,
                           base->caps.max_buffer);
}

bool gpu_device_allows_group(const struct gpu_device_base *base, const char *kernel, const int group[3], size_t most)
{
    size_t wanted = (size_t)group[0] * (size_t)group[1] * (size_t)group[2];
    return wanted <= most ||
           gpu_device_fail(base, "kernel %s in work-groups of %zu, but the device takes it only in groups of up to %zu",
                           kernel, wanted, most);
}

bool gpu_device_allows_groups(const struct gpu_device_base *base, const char *kernel, const int groups[3])
{
    for (int i = 0; i < 3; i++)
        if (groups[i] < 1 || groups[i] > base->caps.max_groups[i])
            return gpu_device_fail(base, "kernel %s with %d work-groups on axis %d, the device takes 1 to %d", kernel,
                                   groups[i], i, base->caps.max_groups[i]);
    return true;
}

bool gpu_device_compile(struct gpu_device *device, const struct gpu_compiler *compiler,
                        const struct gpu_program_desc *descs, int count, struct gpu_program **programs)
{
    const struct gpu_device_base *base = (const struct gpu_device_base *)device;
    for (int i = 0; i < count; i++) programs[i] = NULL;
    if (!gpu_device_is_alive(base, "compile a kernel")) return false;
    char *compilations = calloc((size_t)count + 1, compiler->bytes);
    if (!compilations) return gpu_device_no_memory(base, "programs");
    int begun = 0;
    bool ok = true;
    for (; begun < count && ok; begun++)
        ok = compiler->begin(device, &descs[begun], compilations + (size_t)begun * compiler->bytes);
    if (ok && !compiler->serial) hl_threads_run_once(count, compiler->compile, compilations);
    for (int i = 0; ok && compiler->serial && i < count; i++) compiler->compile(compilations, i, 0);
    for (int i = 0; i < begun; i++)
        ok = (programs[i] = compiler->end(compilations + (size_t)i * compiler->bytes, ok)) && ok;
    free(compilations);
    return ok;
}

bool gpu_device_load_programs(struct gpu_device *device, const void *bytes, size_t size)
{
    struct gpu_device_base *base = (struct gpu_device_base *)device;
    return gpu_program_cache_open(&base->program_cache, bytes, size) ||
           gpu_device_fail(base, "the cached programs are not as they were written");
}

bool gpu_device_save_programs(struct gpu_device *device, void **bytes, size_t *size)
{
    struct gpu_device_base *base = (struct gpu_device_base *)device;
    return gpu_program_cache_close(&base->program_cache, bytes, size) ||
           gpu_device_no_memory(base, "the program cache");
}
