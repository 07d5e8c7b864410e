// SPDX-License-Identifier: Apache-2.0
// See library.h: Windows, whose names of libraries end with .dll.
#include "base/library.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "base/wide_windows.h"

const struct hl_library_files hl_library_files = {.prefix = "", .ending = ".dll", .folder = ""};

struct hl_library *hl_library_open(const char *name)
{
    wchar_t *wide = hl_wide_join(name, "");
    HMODULE module = wide ? LoadLibraryW(wide) : NULL;
    DWORD code = wide ? GetLastError() : ERROR_INVALID_NAME;
    free(wide);
    SetLastError(code);
    return (struct hl_library *)module;
}

struct hl_library *hl_library_of(void (*function)(void))
{
    HMODULE module = NULL;
    LPCWSTR address;
    memcpy(&address, &function, sizeof address);
    GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, address, &module);
    return (struct hl_library *)module;
}

const char *hl_library_error(void)
{
    return hl_wide_error(GetLastError());
}

void hl_library_close(struct hl_library *library)
{
    FreeLibrary((HMODULE)library);
}

bool hl_library_find(struct hl_library *library, const char *name, void *pointer, size_t size)
{
    FARPROC symbol = GetProcAddress((HMODULE)library, name);
    assert(size == sizeof symbol);
    memcpy(pointer, &symbol, size);
    return symbol != NULL;
}

const char *hl_library_named(const char *variable)
{
    const char *path = getenv(variable);
    return path && *path ? path : NULL;
}
