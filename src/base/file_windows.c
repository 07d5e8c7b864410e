// SPDX-License-Identifier: Apache-2.0
// See file.h: Windows, which maps files. Files that are kept need rights that are asked for in another way there: none
// are.
#include "base/file.h"

#include <stdint.h>
#include <stdlib.h>
#include <windows.h>

#include "base/wide_windows.h"

// NULL, or why the file is not mapped.
static const char *map(struct hl_file *file, HANDLE handle)
{
    LARGE_INTEGER size;
    if (GetFileType(handle) != FILE_TYPE_DISK) return "it is not a regular file";
    if (!GetFileSizeEx(handle, &size)) return hl_wide_error(GetLastError());
    if ((uint64_t)size.QuadPart > SIZE_MAX) return "its bytes do not fit into this machine's address space";
    file->size = (size_t)size.QuadPart;
    if (file->size == 0) return NULL; // which Windows does not map
    HANDLE mapping = CreateFileMappingW(handle, NULL, PAGE_READONLY, 0, 0, NULL);
    if (!mapping) return hl_wide_error(GetLastError());
    file->data = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
    const char *why = file->data ? NULL : hl_wide_error(GetLastError());
    file->mapped = file->data != NULL;
    CloseHandle(mapping); // the view keeps it
    return why;
}

bool hl_file_open(struct hl_file *file, const char *path, const struct hl_reporter *reporter)
{
    *file = (struct hl_file){.descriptor = -1};
    wchar_t *wide = hl_wide_join(path, "");
    // Others may read, replace and delete the file meanwhile, as on POSIX systems.
    DWORD share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    HANDLE handle = wide ? CreateFileW(wide, GENERIC_READ, share, NULL, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL)
                         : INVALID_HANDLE_VALUE;
    DWORD code = wide ? GetLastError() : ERROR_INVALID_NAME;
    free(wide);
    if (handle == INVALID_HANDLE_VALUE) {
        hl_report(reporter, "Could not open '%s'. %s", path, hl_wide_error(code));
        return false;
    }
    const char *why = map(file, handle);
    CloseHandle(handle);
    if (!why) return true;
    hl_report(reporter, "cannot map %s: %s", path, why);
    *file = (struct hl_file){.descriptor = -1};
    return false;
}

void hl_file_close(struct hl_file *file)
{
    if (file->mapped) UnmapViewOfFile(file->data);
    *file = (struct hl_file){.descriptor = -1};
}

void *hl_file_read_kept(const char *path, size_t most, size_t *size, const char **why)
{
    (void)path, (void)most, (void)size;
    *why = NULL;
    return NULL;
}

bool hl_file_map_kept(struct hl_file *file, const char *path, size_t most, const char **why)
{
    (void)path, (void)most;
    *file = (struct hl_file){.descriptor = -1};
    *why = NULL;
    return false;
}

bool hl_file_write_pieces(const char *path, const struct hl_file_piece *pieces, size_t count, const char **why)
{
    (void)path, (void)pieces, (void)count;
    *why = "files are kept on POSIX systems only";
    return false;
}

void hl_file_note_use(const char *path)
{
    (void)path;
}

int hl_file_shrink_folder(const char *folder, const char *ending, const char magic[8], uint64_t most,
                          const char *spared)
{
    (void)folder, (void)ending, (void)magic, (void)most, (void)spared;
    return 0;
}
