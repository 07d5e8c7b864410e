// SPDX-License-Identifier: Apache-2.0
// See path.h: Windows, by the functions for UTF-16 of its C library, which set errno.
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <limits.h>
#include <process.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <windows.h>

#include "base/path_system.h"
#include "base/wide_windows.h"

const char *hl_path_name(const char *path)
{
    const char *name = path;
    for (; *path; path++)
        if (*path == '/' || *path == '\\' || *path == ':') name = path + 1;
    return name;
}

bool hl_path_look(const char *path, struct hl_path_facts *facts)
{
    struct _stat64 status;
    *facts = (struct hl_path_facts){0};
    wchar_t *wide = hl_wide_join(path, "");
    bool ok = wide && _wstat64(wide, &status) == 0;
    free(wide);
    if (!ok) return false;
    facts->kind = status.st_mode & _S_IFDIR ? HL_PATH_FOLDER : status.st_mode & _S_IFREG ? HL_PATH_FILE : HL_PATH_OTHER;
    facts->size = status.st_size;
    facts->modified = status.st_mtime;
    return true;
}

static bool may(const char *path, int what)
{
    wchar_t *wide = hl_wide_join(path, "");
    bool ok = wide && _waccess(wide, what) == 0;
    free(wide);
    return ok;
}

bool hl_path_may_read(const char *path)
{
    return may(path, 4);
}

bool hl_path_may_write(const char *path)
{
    return may(path, 2);
}

char *hl_path_absolute(const char *path)
{
    wchar_t *wide = hl_wide_join(path, "");
    wchar_t *whole = wide && _waccess(wide, 0) == 0 ? _wfullpath(NULL, wide, 0) : NULL;
    char *narrow = whole ? hl_wide_narrow(whole) : NULL;
    for (char *at = narrow; at && *at; at++)
        if (*at == '\\') *at = '/';
    free(wide);
    free(whole);
    return narrow;
}

char **hl_folder_list(const char *folder, size_t *count)
{
    struct hl_names names = {0};
    struct _wfinddata64_t found;
    wchar_t *pattern = hl_wide_join(folder, "/*");
    intptr_t search = pattern ? _wfindfirst64(pattern, &found) : -1;
    bool ok = search != -1;
    free(pattern);
    if (ok) do {
            char *name = hl_wide_narrow(found.name);
            ok = name && hl_names_add(&names, name);
            free(name);
        } while (ok && _wfindnext64(search, &found) == 0);
    if (search != -1) _findclose(search);
    return hl_names_finish(&names, ok, count);
}

bool hl_folder_may_make(const char *folder)
{
    return hl_path_is_folder(folder) && hl_path_may_write(folder);
}

bool hl_folder_make(const char *folder)
{
    wchar_t *wide = hl_wide_join(folder, "");
    bool ok = wide && (_wmkdir(wide) == 0 || hl_path_is_folder(folder));
    free(wide);
    return ok;
}

// Where the system keeps temporary files. The environment as C's getenv gives it is in the code page.
static char *temporary_folder(void)
{
    static const wchar_t *const variables[] = {L"TMPDIR", L"TEMP", L"TMP"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const wchar_t *value = _wgetenv(variables[i]);
        if (value && *value) return hl_wide_narrow(value);
    }
    return hl_path_join(".", "", "");
}

char *hl_folder_make_temporary(const char *name)
{
    char *where = temporary_folder(), *start = where ? hl_path_join(where, "/", name) : NULL, *made = NULL;
    free(where);
    for (int i = 0; start && !made && i < 1000; i++) {
        char ending[48];
        snprintf(ending, sizeof ending, ".%d.%d", _getpid(), i);
        wchar_t *wide = hl_wide_join(start, ending);
        bool ok = wide && _wmkdir(wide) == 0, taken = wide && errno == EEXIST;
        free(wide);
        if (ok) made = hl_path_join(start, ending, "");
        if (!taken) break;
    }
    free(start);
    return made;
}

bool hl_folder_remove(const char *folder)
{
    wchar_t *wide = hl_wide_join(folder, "");
    bool ok = wide && _wrmdir(wide) == 0;
    free(wide);
    return ok;
}

FILE *hl_file_stream(const char *path, const char *mode)
{
    wchar_t *wide = hl_wide_join(path, ""), *wide_mode = hl_wide_join(mode, "");
    FILE *file = wide && wide_mode ? _wfopen(wide, wide_mode) : NULL;
    free(wide);
    free(wide_mode);
    return file;
}

FILE *hl_file_open_beside(const char *path, char **beside)
{
    char ending[32];
    snprintf(ending, sizeof ending, ".%d.part", _getpid());
    *beside = hl_path_join(path, ending, "");
    // Exclusively: C's mode "x" is younger than the C library that all versions of Windows have.
    wchar_t *wide = *beside ? hl_wide_join(*beside, "") : NULL;
    int number = wide ? _wopen(wide, _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY, _S_IREAD | _S_IWRITE) : -1;
    FILE *file = number >= 0 ? _fdopen(number, "wb") : NULL;
    free(wide);
    if (file) return file;
    if (number >= 0) _close(number);
    free(*beside);
    *beside = NULL;
    return NULL;
}

bool hl_file_remove(const char *path)
{
    wchar_t *wide = hl_wide_join(path, "");
    bool ok = wide && _wunlink(wide) == 0;
    free(wide);
    return ok;
}

bool hl_file_move(const char *from, const char *to)
{
    wchar_t *source = hl_wide_join(from, ""), *target = hl_wide_join(to, "");
    bool ok = source && target && MoveFileExW(source, target, MOVEFILE_REPLACE_EXISTING);
    if (source && target && !ok) errno = GetLastError() == ERROR_FILE_NOT_FOUND ? ENOENT : EACCES;
    free(source);
    free(target);
    return ok;
}

bool hl_file_cut(FILE *file, size_t size)
{
    return _chsize_s(_fileno(file), (long long)size) == 0;
}

bool hl_file_read_part(int number, uint64_t offset, void *bytes, size_t size, size_t *got)
{
    *got = 0;
    if (_lseeki64(number, (long long)offset, SEEK_SET) < 0) return false;
    while (*got < size) {
        size_t left = size - *got;
        int more = _read(number, (char *)bytes + *got, left < INT_MAX ? (unsigned)left : INT_MAX);
        if (more <= 0) return more == 0;
        *got += (size_t)more;
    }
    return true;
}

// C's tmpfile makes it in the root of the drive, where few may write.
FILE *hl_file_temporary(void)
{
    char *folder = hl_folder_make_temporary("halite-stdin");
    wchar_t *path = folder ? hl_wide_join(folder, ".bytes") : NULL;
    int flags = _O_RDWR | _O_CREAT | _O_EXCL | _O_BINARY | _O_TEMPORARY;
    int number = path ? _wopen(path, flags, _S_IREAD | _S_IWRITE) : -1;
    FILE *file = number >= 0 ? _fdopen(number, "w+b") : NULL;
    if (number >= 0 && !file) _close(number);
    if (folder) hl_folder_remove(folder); // its name was that of nobody else, and the file's is longer
    free(folder);
    free(path);
    return file;
}

// A seek in a pipe may claim that it went well.
bool hl_stdin_is_file(void)
{
    return GetFileType((HANDLE)_get_osfhandle(_fileno(stdin))) == FILE_TYPE_DISK;
}

bool hl_stdin_take(FILE *file)
{
    return _dup2(_fileno(file), _fileno(stdin)) == 0;
}
