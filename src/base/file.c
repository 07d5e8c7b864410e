// SPDX-License-Identifier: Apache-2.0
// Files in memory: mmap on POSIX systems, a read into memory elsewhere.
#include "base/file.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
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
        hl_report(reporter, "cannot map %s: %ju bytes do not fit into this machine's address space",
                  path, (uintmax_t)status.st_size);
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

#else

bool hl_file_open(struct hl_file *file, const char *path, const struct hl_reporter *reporter)
{
    *file = (struct hl_file){.descriptor = -1};
    unsigned char *data = NULL;
    size_t size = 0, room = 0;
    const char *cause = NULL;
    FILE *stream = fopen(path, "rb");
    if (!stream) {
        hl_report(reporter, "Could not open '%s'. %s", path, strerror(errno));
        return false;
    }
    while (!cause && !feof(stream)) {
        if (size == room) {
            room = room ? room * 2 : 65536;
            unsigned char *larger = room > size ? realloc(data, room) : NULL;
            if (!larger) {
                cause = "out of memory";
                break;
            }
            data = larger;
        }
        size += fread(data + size, 1, room - size, stream);
        if (ferror(stream)) cause = strerror(errno);
    }
    fclose(stream);
    if (cause) {
        hl_report(reporter, "cannot read %s: %s", path, cause);
        free(data);
        return false;
    }
    file->data = data;
    file->size = size;
    return true;
}

void hl_file_close(struct hl_file *file)
{
    free((void *)(uintptr_t)file->data);
    *file = (struct hl_file){.descriptor = -1};
}

#endif
