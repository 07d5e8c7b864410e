// SPDX-License-Identifier: Apache-2.0
// See disk_cache.h. A file is a head, the identity's text, and the bytes that the backend's cache_save gave.
#include "gpu/delegate/disk_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/file.h"
#include "base/hash.h"

enum {
    FORMAT = 1,
    MAX_BYTES = 1 << 28,  // of a cache file
    NAME_CHARACTERS = 64, // of the model's name that become part of the file name
};

struct head {
    char magic[8];
    uint32_t format, identity_size;
    uint64_t payload_size;
    uint64_t sum; // hash of the two parts that follow
};
static const char magic[8] = {'H', 'a', 'l', 'i', 't', 'e', 'G', 'P'}; // no terminating zero

static uint64_t sum_of(const struct head *head, const void *identity, const void *payload)
{
    return hl_hash(hl_hash(0, identity, head->identity_size), payload, (size_t)head->payload_size);
}

// ---- the identity of a file ----------------------------------------------------------------------

// A hash of everything that programs depend on: kernels, their constants and work-groups. It also covers the params,
// which tell models apart.
static uint64_t hash_of(const struct gpu_plan *plan)
{
    uint64_t hash = 0;
    for (int s = 0; s < plan->step_count; s++) {
        const struct gpu_plan_step *step = &plan->steps[s];
        hash = hl_hash(hash, step->kernel->name, strlen(step->kernel->name));
        hash = hl_hash(hash, step->kernel->body, strlen(step->kernel->body));
        hash =
            hl_hash(hash, step->constants, (size_t)gpu_kernel_constant_count(step->kernel) * sizeof *step->constants);
        hash = hl_hash(hash, step->params, (size_t)gpu_kernel_param_count(step->kernel) * sizeof *step->params);
        hash = hl_hash(hash, step->group, sizeof step->group);
        hash = hl_hash(hash, step->groups, sizeof step->groups);
    }
    return hash;
}

// The lines that an update changes come last and are left out of the file's name, so that the new file replaces the
// old one.
static bool describe(struct gpu_disk_cache *cache, const struct gpu_engine *engine, const struct gpu_plan *plan)
{
    const struct gpu_options *options = &engine->options;
    const struct gpu_caps *caps = engine->info.backend->caps(engine->device);
    const char *token = options->model_token;
    int lasting =
        snprintf(cache->identity, sizeof cache->identity, "backend %s\ndevice %s\nprecision %d\nmodel %.*s %016llx\n",
                 engine->info.backend->name, caps->name, (int)engine->precision, NAME_CHARACTERS, token,
                 (unsigned long long)hl_hash(0, token, strlen(token)));
    int all = snprintf(cache->identity + lasting, sizeof cache->identity - (size_t)lasting,
                       "graph %016llx\ndriver %s\nlibrary %s\n", (unsigned long long)hash_of(plan), caps->driver,
                       HALITE_VERSION);
    size_t graph_line = sizeof "graph 0123456789abcdef"; // the 0 stands for the end of the line
    uint64_t fingerprint = hl_hash(0, cache->identity, (size_t)lasting + graph_line);

    size_t room = strlen(options->serialization_dir) + NAME_CHARACTERS + 32;
    cache->path = all > 0 ? malloc(room) : NULL;
    if (!cache->path) return false;
    int name = snprintf(cache->path, room, "%s/", options->serialization_dir);
    snprintf(cache->path + name, room - (size_t)name, "%.*s_%llu.bin", NAME_CHARACTERS, token,
             (unsigned long long)fingerprint);
    hl_file_clean_name(cache->path + name);
    return true;
}

// ---- a file's bytes -----------------------------------------------------------------------------

// Names the first line of the identity that differs.
static const char *difference(const char *have, size_t have_size, const char *want)
{
    static const char *const lines[][2] = {{"backend ", "it is of another backend"},
                                           {"device ", "it is of another device"},
                                           {"precision ", "it is of another precision"},
                                           {"model ", "it is of another model"},
                                           {"graph ", "it is of another graph"},
                                           {"driver ", "the driver has changed"}};
    size_t at = 0, line = 0;
    while (at < have_size && want[at] && have[at] == want[at]) {
        if (want[at] == '\n') line = at + 1;
        at++;
    }
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (strncmp(want + line, lines[i][0], strlen(lines[i][0])) == 0) return lines[i][1];
    return "it is of another version of the library";
}

const void *gpu_disk_cache_check(const void *bytes, size_t size, const char *identity, size_t *payload_size,
                                 const char **why)
{
    struct head head;
    *why = "it is not one of these files";
    if (size < sizeof head) return NULL;
    memcpy(&head, bytes, sizeof head);
    if (memcmp(head.magic, magic, sizeof magic) != 0) return NULL;
    *why = "it is of another version of the library";
    if (head.format != FORMAT) return NULL;
    *why = "it is damaged";
    size_t left = size - sizeof head;
    if (head.identity_size > left || head.payload_size != left - head.identity_size || head.payload_size == 0)
        return NULL;
    const char *own = (const char *)bytes + sizeof head, *payload = own + head.identity_size;
    if (head.sum != sum_of(&head, own, payload)) return NULL;
    if (head.identity_size != strlen(identity) || memcmp(own, identity, head.identity_size) != 0) {
        *why = difference(own, head.identity_size, identity);
        return NULL;
    }
    *payload_size = (size_t)head.payload_size;
    return payload;
}

static bool write_file(const struct gpu_disk_cache *cache, const struct gpu_engine *engine, const void *payload,
                       size_t size, const char **why)
{
    struct head head = {.format = FORMAT, .identity_size = (uint32_t)strlen(cache->identity), .payload_size = size};
    memcpy(head.magic, magic, sizeof magic);
    head.sum = sum_of(&head, cache->identity, payload);
    size_t total;
    *why = "it would be too large";
    if (!hl_add_size(sizeof head + head.identity_size, size, &total) || total > MAX_BYTES) return false;
    unsigned char *bytes = malloc(total);
    *why = "out of memory";
    if (!bytes) return false;
    memcpy(bytes, &head, sizeof head);
    memcpy(bytes + sizeof head, cache->identity, head.identity_size);
    memcpy(bytes + sizeof head + head.identity_size, payload, size);
    bool ok = hl_file_write_kept(cache->path, bytes, total, why);
    free(bytes);
    if (ok && engine->options.cache_bytes < UINT64_MAX)
        hl_file_shrink_folder(engine->options.serialization_dir, ".bin", magic, engine->options.cache_bytes,
                              cache->path);
    return ok;
}

// ---- around a runner ----------------------------------------------------------------------------

void gpu_disk_cache_begin(struct gpu_disk_cache *cache, const struct gpu_engine *engine, const struct gpu_plan *plan)
{
    const struct hl_reporter *reporter = &engine->reporter;
    *cache = (struct gpu_disk_cache){.path = NULL};
    if (!engine->options.serialization_dir) return;
    if (!describe(cache, engine, plan)) {
        hl_report(reporter, "out of memory: compiled kernels are not kept");
        return;
    }
    const char *why;
    size_t size = 0, payload_size = 0;
    unsigned char *bytes = hl_file_read_kept(cache->path, MAX_BYTES, &size, &why);
    const void *payload = bytes ? gpu_disk_cache_check(bytes, size, cache->identity, &payload_size, &why) : NULL;
    if (payload) hl_file_note_use(cache->path);
    if (!payload && why) hl_report(reporter, "kept kernels in %s are ignored, and made anew: %s", cache->path, why);
    engine->info.backend->cache_load(engine->device, payload, payload_size);
    cache->open = true;
    free(bytes);
}

// False after a message of the device: what it has compiled is then not worth keeping.
static bool complete(const struct gpu_engine *engine, struct gpu_runner *runner)
{
    const struct gpu_backend *backend = engine->info.backend;
    return !backend->cache_waits || !backend->cache_waits(engine->device) || gpu_runner_rehearse(runner);
}

void gpu_disk_cache_end(struct gpu_disk_cache *cache, const struct gpu_engine *engine, struct gpu_runner *runner)
{
    void *payload = NULL;
    size_t size = 0;
    const char *why;
    bool good = runner && cache->open && complete(engine, runner);
    bool saved = cache->open && engine->info.backend->cache_save(engine->device, &payload, &size) && good;
    if (saved && payload && !write_file(cache, engine, payload, size, &why))
        hl_report(&engine->reporter, "kernels cannot be kept in %s: %s", cache->path, why);
    free(payload);
    free(cache->path);
    *cache = (struct gpu_disk_cache){.path = NULL};
}
