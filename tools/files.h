// SPDX-License-Identifier: Apache-2.0
// Files and folders, read with messages that say what is wrong. In: a path. Out: the file's bytes, or one call of
// `visit` per file below a folder, in sorted order.
#ifndef HALITE_TOOLS_FILES_H
#define HALITE_TOOLS_FILES_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "text.h"

// Deeper folders are refused.
enum { HL_FILES_DEPTH = 64 };

// Folders that were looked into. Links make loops, and few of them make more paths than can be walked.
struct hl_files_seen {
    struct hl_path_facts *folders;
    size_t count;
};

// The most that is read of a file of numbers: 4 GiB, or what a machine of 32 bits may hold.
#define HL_FILES_MOST (SIZE_MAX > UINT32_MAX ? (size_t)(UINT64_C(4) << 30) : (size_t)1 << 30)

static inline bool hl_files_ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);
    return length > tail && strcmp(name + length - tail, ending) == 0;
}

// The same whether letters (of ASCII) are small or capital; the ending has small ones.
static inline bool hl_files_ends_with_any_case(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);
    if (length <= tail) return false;
    for (name += length - tail; *ending != '\0'; name++, ending++)
        if ((*name >= 'A' && *name <= 'Z' ? *name - 'A' + 'a' : *name) != *ending) return false;
    return true;
}

// Notes a folder. True where it was noted before.
static inline bool hl_files_seen(struct hl_files_seen *seen, const char *folder)
{
    struct hl_path_facts facts;
    if (!hl_path_look(folder, &facts)) return false; // reading it will fail, and say why
    bool numbered = facts.number[0] != 0 || facts.number[1] != 0;
    for (size_t i = 0; numbered && i < seen->count; i++)
        if (memcmp(seen->folders[i].number, facts.number, sizeof facts.number) == 0) return true;
    seen->folders = hl_alloc_grow(seen->folders, seen->count + 1, sizeof *seen->folders);
    seen->folders[seen->count++] = facts;
    return false;
}

static inline bool hl_files_below(const char *folder, const char *ending, int depth, struct hl_files_seen *seen,
                                  void (*visit)(void *user_data, const char *path), void *user_data,
                                  struct hl_text *failed)
{
    if (hl_files_seen(seen, folder)) return true;
    size_t count = 0;
    char **names = depth > HL_FILES_DEPTH ? NULL : hl_folder_list(folder, &count);
    if (names == NULL) {
        if (depth > HL_FILES_DEPTH) errno = ELOOP;
        hl_text_clear(failed);
        hl_text_add(failed, "%s", folder);
        return false;
    }
    bool ok = true;
    for (size_t i = 0, length = strlen(folder); ok && i < count; i++) {
        struct hl_text path = {0};
        hl_text_add(&path, "%s%s%s", folder, length > 0 && folder[length - 1] == '/' ? "" : "/", names[i]);
        if (hl_path_is_folder(path.data))
            ok = hl_files_below(path.data, ending, depth + 1, seen, visit, user_data, failed);
        else if (hl_files_ends_with(names[i], ending))
            visit(user_data, path.data);
        hl_text_free(&path);
    }
    int code = errno;
    hl_folder_free(names, count);
    errno = code;
    return ok;
}

// One call for each file below the folder whose name ends so; each folder counts once, whatever links lead to it.
// False, with errno set, when a folder cannot be read; `failed` then holds its path.
static inline bool hl_files_each(const char *folder, const char *ending,
                                 void (*visit)(void *user_data, const char *path), void *user_data,
                                 struct hl_text *failed)
{
    struct hl_files_seen seen = {0};
    bool ok = hl_files_below(folder, ending, 0, &seen, visit, user_data, failed);
    int code = errno;
    free(seen.folders);
    errno = code;
    return ok;
}

// A file and its format. "-" is standard input or output, as text unless the format stands behind it: "-.npy". Gives
// the path; *name is what tells the format by its end.
static inline const char *hl_files_split_format(const char *value, const char **name)
{
    bool stream = value[0] == '-' && (value[1] == '\0' || (value[1] == '.' && strchr(value, '/') == NULL));
    *name = strcmp(value, "-") == 0 ? "-.txt" : value;
    return stream ? "-" : value;
}

// Is this path standard input? It can be read several times.
static inline bool hl_files_is_stdin(const char *path)
{
    return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdin") == 0;
}

// Adds a file's bytes to `content`. False on failure, with the reason in `error`: "cannot be opened: No such file or
// directory". An empty file is none.
static inline bool hl_files_read(const char *path, size_t limit, struct hl_text *content, struct hl_text *error)
{
    if (hl_path_is_folder(path)) {
        hl_text_add(error, "is a folder, not a file");
        return false;
    }
    bool standard = hl_files_is_stdin(path);
    FILE *file = !standard ? hl_file_stream(path, "rb") : hl_stdin_rewind() ? stdin : NULL;
    if (file == NULL) {
        hl_text_add(error, "cannot be opened: %s", strerror(errno));
        return false;
    }
    char block[65536];
    size_t count;
    while (content->length <= limit && (count = fread(block, 1, sizeof block, file)) > 0)
        hl_text_add_bytes(content, block, count);
    bool failed = ferror(file) != 0;
    if (failed)
        hl_text_add(error, "cannot be read: %s", strerror(errno));
    else if (content->length > limit)
        hl_text_add(error, "is larger than %zu %s, more than is read here", limit >> 20 > 0 ? limit >> 20 : limit,
                    limit >> 20 > 0 ? "MiB" : "bytes");
    failed = failed || content->length > limit;
    if (!standard) fclose(file);
    return !failed;
}

#endif
