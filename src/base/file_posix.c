// SPDX-License-Identifier: Apache-2.0
// See file.h: POSIX systems, which map files.
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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
        if (errno != ENOENT) *why = strerror(errno);
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
