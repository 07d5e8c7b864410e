// SPDX-License-Identifier: Apache-2.0
// Files and folders, read with messages that say what is wrong. In: a path. Out: the file's bytes, or one call of
// `visit` per file below a folder, in sorted order.
#ifndef HALITE_TOOLS_FILES_H
#define HALITE_TOOLS_FILES_H

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text.h"

// Deeper folders are refused.
enum { HL_FILES_DEPTH = 64 };

// Folders that were looked into. Links make loops, and few of them make more paths than can be walked.
struct hl_files_seen {
    struct hl_files_folder {
        dev_t device;
        ino_t inode;
    } * folders;
    size_t count;
};

// The most that is read of a file of numbers: 4 GiB, or what a machine of 32 bits may hold.
#define HL_FILES_MOST (SIZE_MAX > UINT32_MAX ? (size_t)(UINT64_C(4) << 30) : (size_t)1 << 30)

static inline bool hl_files_is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

// Why no file can be made in this folder; NULL: it can.
static inline const char *hl_files_folder_problem(const char *folder)
{
    struct stat info;
    if (stat(folder, &info) != 0 || access(folder, W_OK | X_OK) != 0) return strerror(errno);
    return S_ISDIR(info.st_mode) ? NULL : strerror(ENOTDIR);
}

static inline bool hl_files_ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);
    return length > tail && strcmp(name + length - tail, ending) == 0;
}

// Notes a folder. True where it was noted before.
static inline bool hl_files_seen(struct hl_files_seen *seen, const char *folder)
{
    struct stat info;
    if (stat(folder, &info) != 0) return false; // reading it will fail, and say why
    for (size_t i = 0; i < seen->count; i++)
        if (seen->folders[i].device == info.st_dev && seen->folders[i].inode == info.st_ino) return true;
    seen->folders = hl_alloc_grow(seen->folders, seen->count + 1, sizeof *seen->folders);
    seen->folders[seen->count++] = (struct hl_files_folder){info.st_dev, info.st_ino};
    return false;
}

static inline bool hl_files_below(const char *folder, const char *ending, int depth, struct hl_files_seen *seen,
                                  void (*visit)(void *user_data, const char *path), void *user_data,
                                  struct hl_text *failed)
{
    if (hl_files_seen(seen, folder)) return true;
    struct dirent **entries = NULL;
    int count = depth > HL_FILES_DEPTH ? -1 : scandir(folder, &entries, NULL, alphasort);
    if (count < 0) {
        if (depth > HL_FILES_DEPTH) errno = ELOOP;
        hl_text_clear(failed);
        hl_text_add(failed, "%s", folder);
        return false;
    }
    bool ok = true;
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        size_t length = strlen(folder);
        struct hl_text path = {0};
        hl_text_add(&path, "%s%s%s", folder, length > 0 && folder[length - 1] == '/' ? "" : "/", name);
        if (ok && strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
            if (hl_files_is_folder(path.data))
                ok = hl_files_below(path.data, ending, depth + 1, seen, visit, user_data, failed);
            else if (hl_files_ends_with(name, ending))
                visit(user_data, path.data);
        }
        hl_text_free(&path);
        free(entries[i]);
    }
    free(entries);
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

// Adds a file's bytes to `content`. False on failure, with the reason in `error`: "cannot be opened: No such file or
// directory". An empty file is none.
static inline bool hl_files_read(const char *path, size_t limit, struct hl_text *content, struct hl_text *error)
{
    if (hl_files_is_folder(path)) {
        hl_text_add(error, "is a folder, not a file");
        return false;
    }
    FILE *file = fopen(path, "rb");
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
    fclose(file);
    return !failed;
}

#endif
