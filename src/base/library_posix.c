// SPDX-License-Identifier: Apache-2.0
// See library.h: POSIX systems.
#if defined(__linux__) || defined(__EMSCRIPTEN__)
#define _GNU_SOURCE // dladdr, which other systems declare without being asked
#endif
#include "base/library.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/auxv.h>
#endif

#if defined __APPLE__
#define ENDING ".dylib"
#else
#define ENDING ".so"
#endif
const struct hl_library_files hl_library_files = {.prefix = "lib", .ending = ENDING, .folder = "../lib/"};

struct hl_library *hl_library_open(const char *name)
{
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

// RTLD_NOLOAD finds what is loaded, by the name that it was loaded with. The program itself has none.
struct hl_library *hl_library_of(void (*function)(void))
{
    Dl_info info;
    void *address, *handle = NULL;
    memcpy(&address, &function, sizeof address);
    if (address && dladdr(address, &info) && info.dli_fname) handle = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    return handle ? handle : dlopen(NULL, RTLD_NOW);
}

const char *hl_library_error(void)
{
    const char *text = dlerror();
    return text ? text : "no reason is known";
}

void hl_library_close(struct hl_library *library)
{
    dlclose(library);
}

bool hl_library_find(struct hl_library *library, const char *name, void *pointer, size_t size)
{
    void *symbol = dlsym((void *)library, name);
    assert(size == sizeof symbol);
    memcpy(pointer, &symbol, size);
    return symbol != NULL;
}

// What secure_getenv looks at, which is no part of POSIX.
static bool has_rights_of_another(void)
{
#if defined(__linux__)
    return getauxval(AT_SECURE) != 0;
#else
    return false;
#endif
}

const char *hl_library_named(const char *variable)
{
    const char *path = getenv(variable);
    return path && *path && !has_rights_of_another() ? path : NULL;
}
