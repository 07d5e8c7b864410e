// SPDX-License-Identifier: Apache-2.0
// See shared_memory.h. Android has a library of its own for it; other POSIX systems have named objects, whose name is
// given up as soon as they are open.
#include "base/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#if defined(__ANDROID__)
#include "base/library.h"

static int open_descriptor(size_t size)
{
    static const char *const libraries[][2] = {{"libandroid.so", "ASharedMemory_create"},
                                               {"libcutils.so", "ashmem_create_region"}};
    for (int i = 0; i < 2; i++) {
        int (*create)(const char *, size_t);
        struct hl_library *library = hl_library_open(libraries[i][0]); // the system's own: stays open
        if (library && hl_library_find(library, libraries[i][1], &create, sizeof create)) return create("halite", size);
    }
    errno = ENOSYS;
    return -1;
}

#else

static int open_named(void)
{
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        char name[64];
        snprintf(name, sizeof name, "/halite-%ld-%p-%u", (long)getpid(), (void *)name, attempt);
        int descriptor = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
        if (descriptor >= 0) shm_unlink(name);
        if (descriptor >= 0 || errno != EEXIST) return descriptor;
    }
    return -1;
}

static int open_descriptor(size_t size)
{
    int descriptor = open_named();
    if (descriptor < 0 || ftruncate(descriptor, (off_t)size) == 0) return descriptor;
    close(descriptor);
    return -1;
}

#endif

bool hl_shared_memory_open(struct hl_shared_memory *memory, size_t size, const char **why)
{
    *memory = (struct hl_shared_memory){.descriptor = open_descriptor(size)};
    if (memory->descriptor >= 0) {
        void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory->descriptor, 0);
        if (data != MAP_FAILED) {
            memory->data = data;
            memory->size = size;
            return true;
        }
        close(memory->descriptor);
    }
    *why = strerror(errno);
    memory->descriptor = -1;
    return false;
}

void hl_shared_memory_close(struct hl_shared_memory *memory)
{
    if (memory->data) {
        munmap(memory->data, memory->size);
        close(memory->descriptor);
    }
    *memory = (struct hl_shared_memory){.descriptor = -1};
}
