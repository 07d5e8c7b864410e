// SPDX-License-Identifier: Apache-2.0
// See weights_file.h. A file is a head, an index with an entry for each name, and the blocks, each at a cache line.
#include "runtime/weights_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/file.h"

enum {
    LINE = 64,
    MAX_ENTRIES = 1 << 16,
};
static const size_t max_bytes = SIZE_MAX / 4;

struct head {
    char magic[8];
    struct hl_weights_identity identity;
    uint32_t entries, entry_size;
    uint64_t size;           // of the file
    struct hl_digest index;  // sum of the entries
    struct hl_digest before; // sum of the head up to here
};
static const char magic[8] = {'H', 'a', 'l', 'i', 't', 'e', 'W', 'C'}; // no terminating zero

struct entry {
    struct hl_digest name, sum;
    uint64_t offset, size;
};

struct hl_weights_file {
    struct hl_file file;
    int users;
    const struct entry *entries;
    uint32_t count;
    bool *damaged; // for each entry
};

void hl_weights_identify(struct hl_weights_identity *identity, const char *level)
{
    memset(identity, 0, sizeof *identity);
    // HALITE_KERNELS, from CMakeLists.txt, is a fingerprint of the sources that decide how weights are packed.
    snprintf(identity->text, sizeof identity->text, "library %s %s\nCPU level %s\npointers of %zu bytes\n",
             HALITE_VERSION, HALITE_KERNELS, level, sizeof(void *));
}

static struct hl_digest sum_of(const void *data, size_t size)
{
    struct hl_digest sum = {{0}};
    hl_digest_add(&sum, data, size);
    return sum;
}

static const char *difference(const struct hl_weights_identity *have, const struct hl_weights_identity *want)
{
    const char *line = want->text;
    for (size_t i = 0; i < sizeof want->text && have->text[i] == want->text[i]; i++)
        if (want->text[i] == '\n') line = want->text + i + 1;
    return *line == 'C' ? "it was packed for another CPU level" : "it is of another version of the library";
}

// ---- reading --------------------------------------------------------------------------------------

// NULL where the head and the index are right.
static const char *check(struct hl_weights_file *file, const struct hl_weights_identity *identity, bool *foreign)
{
    const char *bytes = file->file.data;
    const size_t size = file->file.size;
    struct head head;
    *foreign = size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0;
    if (*foreign) return "it is something else, and is left alone";
    if (size < sizeof head) return "it is damaged";
    memcpy(&head, bytes, sizeof head);
    if (memcmp(&head.identity, identity, sizeof *identity) != 0) return difference(&head.identity, identity);
    const struct hl_digest before = sum_of(&head, offsetof(struct head, before));
    if (!hl_digest_equal(&head.before, &before) || head.size != size || head.entry_size != sizeof(struct entry) ||
        head.entries > MAX_ENTRIES)
        return "it is damaged";
    const size_t index = head.entries * sizeof(struct entry), begin = sizeof head + index;
    if (begin > size) return "it is damaged";
    const struct hl_digest sum = sum_of(bytes + sizeof head, index);
    if (!hl_digest_equal(&head.index, &sum)) return "it is damaged";
    file->entries = (const struct entry *)(const void *)(bytes + sizeof head);
    file->count = head.entries;
    for (uint32_t i = 0; i < file->count; i++) {
        const struct entry *entry = &file->entries[i];
        if (entry->offset % LINE != 0 || entry->offset < begin || entry->offset > size ||
            entry->size > size - entry->offset)
            return "it is damaged";
    }
    return NULL;
}

struct hl_weights_file *hl_weights_file_open(const char *path, const struct hl_weights_identity *identity,
                                             const char **why, bool *foreign)
{
    *foreign = false;
    struct hl_weights_file *file = calloc(1, sizeof *file);
    if (!file) {
        *why = "out of memory";
        return NULL;
    }
    file->users = 1;
    file->file.descriptor = -1;
    if (hl_file_map_kept(&file->file, path, max_bytes, why)) {
        *why = check(file, identity, foreign);
        if (!*why) file->damaged = calloc((size_t)file->count + 1, sizeof *file->damaged);
        if (!*why && !file->damaged) *why = "out of memory";
        if (!*why) return file;
    }
    hl_weights_file_drop(file);
    return NULL;
}

struct hl_weights_file *hl_weights_file_keep(struct hl_weights_file *file)
{
    if (file) file->users++;
    return file;
}

void hl_weights_file_drop(struct hl_weights_file *file)
{
    if (!file || --file->users > 0) return;
    hl_file_close(&file->file);
    free(file->damaged);
    free(file);
}

const void *hl_weights_file_find(struct hl_weights_file *file, const struct hl_digest *name, size_t size,
                                 struct hl_digest *sum, bool *damaged)
{
    *damaged = false;
    for (uint32_t i = 0; file && i < file->count; i++) {
        const struct entry *entry = &file->entries[i];
        if (entry->size != size || file->damaged[i] || !hl_digest_equal(&entry->name, name)) continue;
        const char *data = (const char *)file->file.data + entry->offset;
        *sum = sum_of(data, size);
        if (hl_digest_equal(&entry->sum, sum)) return data;
        *damaged = file->damaged[i] = true;
    }
    return NULL;
}

// ---- writing --------------------------------------------------------------------------------------

struct hl_weights_item *hl_weights_file_items(const struct hl_weights_file *file, size_t room, size_t *count)
{
    const size_t own = file ? file->count : 0;
    struct hl_weights_item *items = own + room > 0 ? calloc(own + room, sizeof *items) : NULL;
    *count = 0;
    for (size_t i = 0; items && i < own; i++) {
        const struct entry *entry = &file->entries[i];
        if (!file->damaged[i])
            items[(*count)++] =
                (struct hl_weights_item){entry->name, entry->sum, (const char *)file->file.data + entry->offset,
                                         (size_t)entry->size};
    }
    return items;
}

// Gives each entry its offset and lists what is to be written. *size is 0 where that is too much.
static size_t lay_out(const struct hl_weights_item *items, size_t count, struct entry *entries,
                      struct hl_file_piece *pieces, size_t *size)
{
    static const char zeros[LINE];
    size_t at = sizeof(struct head) + count * sizeof *entries, used = 0;
    for (size_t i = 0; i < count; i++) {
        const bool again = i > 0 && items[i].data == items[i - 1].data && items[i].size == items[i - 1].size;
        const size_t gap = again ? 0 : (LINE - at % LINE) % LINE;
        entries[i] =
            (struct entry){items[i].name, items[i].sum, again ? entries[i - 1].offset : at + gap, items[i].size};
        if (again) continue;
        pieces[used++] = (struct hl_file_piece){zeros, gap};
        pieces[used++] = (struct hl_file_piece){items[i].data, items[i].size};
        if (!hl_add_size(at + gap, items[i].size, &at) || at > max_bytes) {
            *size = 0;
            return 0;
        }
    }
    *size = at;
    return used;
}

static bool write_file(const char *path, const struct hl_weights_identity *identity,
                       const struct hl_weights_item *items, size_t count, struct entry *entries,
                       struct hl_file_piece *pieces, const char **why)
{
    struct head head = {
        .identity = *identity,
        .entries = (uint32_t)count,
        .entry_size = sizeof *entries,
    };
    size_t size, used = 2 + lay_out(items, count, entries, pieces + 2, &size);
    *why = "it would be too large";
    if (size == 0) return false;
    memcpy(head.magic, magic, sizeof magic);
    head.size = size;
    head.index = sum_of(entries, count * sizeof *entries);
    head.before = sum_of(&head, offsetof(struct head, before));
    pieces[0] = (struct hl_file_piece){&head, sizeof head};
    pieces[1] = (struct hl_file_piece){entries, count * sizeof *entries};
    return hl_file_write_pieces(path, pieces, used, why);
}

bool hl_weights_file_write(const char *path, const struct hl_weights_identity *identity,
                           const struct hl_weights_item *items, size_t count, const char **why)
{
    *why = "it would have too many blocks";
    if (count > MAX_ENTRIES) return false;
    struct entry *entries = calloc(count + 1, sizeof *entries);
    struct hl_file_piece *pieces = calloc(2 * count + 2, sizeof *pieces);
    *why = "out of memory";
    bool ok = entries && pieces && write_file(path, identity, items, count, entries, pieces, why);
    free(entries);
    free(pieces);
    return ok;
}
