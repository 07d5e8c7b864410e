// SPDX-License-Identifier: Apache-2.0
// See file.h: POSIX systems, which map files.
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"

bool hl_file_open(struct hl_file *file, const char *path, const struct hl_reporter *reporter)
{
    *file = (struct hl_file){.descriptor = -1};
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 || fstat(descriptor, &status) != 0) {
        hl_report(reporter, "Could not open '%s'. %s", path, strerror(errno));
        goto fail;
    }
    if (!S_ISREG(status.st_mode)) {
        hl_report(reporter, "cannot read %s: it is not a regular file", path);
        goto fail;
    }
    if ((uintmax_t)status.st_size > SIZE_MAX) {
        hl_report(reporter, "cannot map %s: %ju bytes do not fit into this machine's address space", path,
                  (uintmax_t)status.st_size);
        goto fail;
    }
    file->size = (size_t)status.st_size;
    if (file->size > 0) {
        void *data = mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (data == MAP_FAILED) {
            hl_report(reporter, "cannot map %s: %s", path, strerror(errno));
            goto fail;
        }
        file->data = data;
        file->mapped = true;
    }
    file->descriptor = descriptor;
    return true;

fail:
    if (descriptor >= 0) close(descriptor);
    *file = (struct hl_file){.descriptor = -1};
    return false;
}

void hl_file_close(struct hl_file *file)
{
    if (file->mapped) munmap((void *)(uintptr_t)file->data, file->size);
    if (file->descriptor >= 0) close(file->descriptor);
    *file = (struct hl_file){.descriptor = -1};
}

// ---- files that are kept ------------------------------------------------------------------------

// NULL where a file may be read, else what is wrong with it.
static const char *check_kept(const struct stat *status, size_t most)
{
    if (!S_ISREG(status->st_mode)) return "it is not a regular file";
    if (status->st_uid != geteuid()) return "another user owns it";
    if (status->st_mode & (S_IWGRP | S_IWOTH)) return "other users may write it";
    if (status->st_size == 0) return "it is empty";
    return (uintmax_t)status->st_size > most ? "it is too large" : NULL;
}

// Less than size: the file ends there, or *why.
static size_t read_all(int descriptor, unsigned char *bytes, size_t size, const char **why)
{
    size_t done = 0;
    while (done < size) {
        ssize_t count = read(descriptor, bytes + done, size - done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) *why = strerror(errno);
        if (count <= 0) break;
        done += (size_t)count;
    }
    return done;
}

// Opens a file that may be read, with what is known of it. -1: as hl_file_read_kept gives NULL.
static int open_kept(const char *path, size_t most, struct stat *status, const char **why)
{
    // Opening a pipe that nobody writes would wait for ever.
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    *why = NULL;
    if (descriptor < 0) {
        if (errno != ENOENT) *why = errno == ELOOP ? "it is a link" : strerror(errno);
        return -1;
    }
    *why = fstat(descriptor, status) == 0 ? check_kept(status, most) : strerror(errno);
    if (!*why) return descriptor;
    close(descriptor);
    return -1;
}

bool hl_file_map_kept(struct hl_file *file, const char *path, size_t most, const char **why)
{
    struct stat status;
    *file = (struct hl_file){.descriptor = open_kept(path, most, &status, why)};
    if (file->descriptor < 0) return false;
    void *data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file->descriptor, 0);
    if (data == MAP_FAILED) {
        *why = strerror(errno);
        hl_file_close(file);
        return false;
    }
    file->data = data;
    file->size = (size_t)status.st_size;
    file->mapped = true;
    return true;
}

void *hl_file_read_kept(const char *path, size_t most, size_t *size, const char **why)
{
    struct stat status;
    int descriptor = open_kept(path, most, &status, why);
    if (descriptor < 0) return NULL;
    unsigned char *bytes = malloc((size_t)status.st_size);
    if (!bytes) *why = "out of memory";
    if (bytes) {
        *size = read_all(descriptor, bytes, (size_t)status.st_size, why);
        if (!*why && *size < (size_t)status.st_size) *why = "it became shorter while it was read";
    }
    close(descriptor);
    if (!*why) return bytes;
    free(bytes);
    return NULL;
}

static bool write_all(int descriptor, const struct hl_file_piece *piece)
{
    const unsigned char *bytes = piece->bytes;
    size_t size = piece->size;
    while (size > 0) {
        ssize_t count = write(descriptor, bytes, size);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        bytes += count;
        size -= (size_t)count;
    }
    return true;
}

bool hl_file_write_pieces(const char *path, const struct hl_file_piece *pieces, size_t count, const char **why)
{
    static const char suffix[] = ".XXXXXX";
    size_t length = strlen(path);
    char *beside = malloc(length + sizeof suffix);
    if (!beside) {
        *why = "out of memory";
        return false;
    }
    memcpy(beside, path, length);
    memcpy(beside + length, suffix, sizeof suffix);
    int descriptor = mkstemp(beside); // readable and writable by this user only
    bool made = descriptor >= 0, ok = made;
    for (size_t i = 0; i < count && ok; i++) ok = write_all(descriptor, &pieces[i]);
    ok = ok && fsync(descriptor) == 0;
    int error = errno;
    if (made && close(descriptor) != 0 && ok) {
        ok = false;
        error = errno;
    }
    if (ok && rename(beside, path) != 0) {
        ok = false;
        error = errno;
    }
    if (!ok && made) unlink(beside);
    free(beside);
    *why = ok ? NULL : strerror(error);
    return ok;
}

// ---- a folder of kept files ---------------------------------------------------------------------

void hl_file_note_use(const char *path)
{
    utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
}

struct kept_file {
    char *path;
    uint64_t bytes;
    struct timespec used;
};

// Fills in what is known of a kept file. False: it is none.
static bool look_at(struct kept_file *file, const char magic[8])
{
    struct stat status;
    unsigned char first[8];
    const char *why = NULL;
    int descriptor = open_kept(file->path, SIZE_MAX, &status, &why);
    if (descriptor < 0) return false;
    bool own =
        read_all(descriptor, first, sizeof first, &why) == sizeof first && memcmp(first, magic, sizeof first) == 0;
    close(descriptor);
    file->bytes = (uint64_t)status.st_size;
#if defined __APPLE__
    file->used = status.st_mtimespec;
#else
    file->used = status.st_mtim;
#endif
    return own;
}

static int later_first(const void *a, const void *b)
{
    const struct kept_file *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec) return x->used.tv_sec < y->used.tv_sec ? 1 : -1;
    if (x->used.tv_nsec != y->used.tv_nsec) return x->used.tv_nsec < y->used.tv_nsec ? 1 : -1;
    return strcmp(x->path, y->path);
}

static char *join(const char *folder, const char *name)
{
    size_t room = strlen(folder) + strlen(name) + 2;
    char *path = malloc(room);
    if (path) snprintf(path, room, "%s/%s", folder, name);
    return path;
}

// The kept files of a folder, malloc'ed.
static struct kept_file *list_kept(const char *folder, const char *ending, const char magic[8], int *count)
{
    struct kept_file *files = NULL;
    int capacity = 0;
    DIR *list = opendir(folder);
    *count = 0;
    for (struct dirent *entry; list && (entry = readdir(list));) {
        size_t length = strlen(entry->d_name), end = strlen(ending);
        if (length < end || strcmp(entry->d_name + length - end, ending) != 0) continue;
        struct kept_file *grown = hl_grow(files, *count, &capacity, sizeof *files);
        if (!grown) break;
        files = grown;
        files[*count] = (struct kept_file){.path = join(folder, entry->d_name)};
        if (files[*count].path && look_at(&files[*count], magic))
            ++*count;
        else
            free(files[*count].path);
    }
    if (list) closedir(list);
    return files;
}

int hl_file_shrink_folder(const char *folder, const char *ending, const char magic[8], uint64_t most,
                          const char *spared)
{
    int count, removed = 0;
    struct kept_file *files = list_kept(folder, ending, magic, &count);
    uint64_t sum = 0;
    if (count > 0) qsort(files, (size_t)count, sizeof *files, later_first);
    for (int i = 0; i < count; i++)
        if (strcmp(files[i].path, spared) == 0) sum += files[i].bytes;
    for (int i = 0; i < count; i++) {
        if (strcmp(files[i].path, spared) == 0) continue;
        bool fits = sum <= most && files[i].bytes <= most - sum;
        if (!fits && unlink(files[i].path) == 0)
            removed++;
        else
            sum += files[i].bytes;
    }
    for (int i = 0; i < count; i++) free(files[i].path);
    free(files);
    return removed;
}
