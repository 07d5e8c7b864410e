// SPDX-License-Identifier: Apache-2.0
// See tuning_file.h.
#include "gpu/delegate/tuning_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"

enum { MAX_BYTES = 8 << 20, IDENTITY_BYTES = 512 };
static const char first_line[] = "Halite tuning 1\n";
static const char sum_line[] = "sum 0123456789abcdef\n"; // of this length, at the end

struct place {
    char path[4096];
    char identity[IDENTITY_BYTES];
};

// False: the folder's name is too long.
static bool find_place(const struct gpu_engine *engine, struct place *place)
{
    const struct gpu_caps *caps = engine->info.backend->caps(engine->device);
    const char *api = engine->info.backend->name;
    char name[HL_FILE_NAME_BYTES];
    hl_file_tuned_name(name, api, caps->name);
    int length = snprintf(place->path, sizeof place->path, "%s/%s", engine->options.serialization_dir, name);
    snprintf(place->identity, sizeof place->identity, "%sbackend %s\ndevice %s\ndriver %s\nlibrary %s\n", first_line,
             api, caps->name, caps->driver, HALITE_VERSION);
    return length > 0 && (size_t)length < sizeof place->path;
}

const char *gpu_tuning_file_check(char *text, const char *identity, const char **why)
{
    size_t length = strlen(text), sum_length = sizeof sum_line - 1, own = strlen(identity);
    char sum[sizeof sum_line];
    *why = "it is not one of these files";
    if (strncmp(text, first_line, sizeof first_line - 1) != 0) return NULL;
    *why = "it is damaged";
    if (length < sum_length) return NULL;
    char *end = text + length - sum_length;
    snprintf(sum, sizeof sum, "sum %016llx\n", (unsigned long long)hl_hash(0, text, (size_t)(end - text)));
    if (strcmp(end, sum) != 0) return NULL;
    *why = "it is of another device, driver or version of the library";
    if ((size_t)(end - text) < own || memcmp(text, identity, own) != 0) return NULL;
    *end = 0;
    return text + own;
}

void gpu_tuning_file_load(struct gpu_engine *engine)
{
    struct gpu_tuning *tuning = &engine->tuning;
    struct place place;
    const char *why = NULL;
    size_t size = 0;
    *tuning = (struct gpu_tuning){.tries = engine->options.tune};
    if (!engine->options.serialization_dir || !find_place(engine, &place)) return;
    unsigned char *bytes = hl_file_read_kept(place.path, MAX_BYTES, &size, &why);
    char *text = bytes ? malloc(size + 1) : NULL;
    const char *rows = NULL;
    if (text) {
        memcpy(text, bytes, size);
        text[size] = 0;
        rows = gpu_tuning_file_check(text, place.identity, &why);
        if (rows && !gpu_tuning_parse(tuning, rows)) {
            gpu_tuning_free(tuning);
            tuning->tries = engine->options.tune;
            why = "it is damaged";
            rows = NULL;
        }
    }
    if (!rows && why)
        hl_report(&engine->reporter, "measured blocks in %s are ignored: %s; halite tune measures them anew",
                  place.path, why);
    free(text);
    free(bytes);
}

void gpu_tuning_file_save(struct gpu_engine *engine)
{
    struct gpu_tuning *tuning = &engine->tuning;
    struct place place;
    if (!tuning->changed || !find_place(engine, &place)) return;
    struct hl_text text = {0};
    const char *why = "out of memory";
    hl_text_append(&text, "%s", place.identity);
    gpu_tuning_print(tuning, &text);
    if (text.data) hl_text_append(&text, "sum %016llx\n", (unsigned long long)hl_hash(0, text.data, text.length));
    tuning->changed = text.failed || !hl_file_write_kept(place.path, text.data, text.length, &why);
    if (tuning->changed) hl_report(&engine->reporter, "measured blocks cannot be kept in %s: %s", place.path, why);
    hl_text_free(&text);
}
