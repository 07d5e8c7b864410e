// SPDX-License-Identifier: Apache-2.0
// See path.h: POSIX, and Windows through the functions of that family that its C library has. WASI, which has no
// temporary files, has none of it: the tools are not built there.
#include "base/path.h"

#if !defined(__wasi__)

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if defined(_WIN32)
#include <direct.h>
#include <io.h>
#include <process.h>
#include <windows.h>
#else
#include <dirent.h>
#include <unistd.h>
#endif

// ---- what both have -----------------------------------------------------------------------------

bool hl_path_is_folder(const char *path)
{
    struct hl_path_facts facts;
    return hl_path_look(path, &facts) && facts.kind == HL_PATH_FOLDER;
}

const char *hl_path_name(const char *path)
{
    const char *name = path;
    for (; *path; path++)
#if defined(_WIN32)
        if (*path == '/' || *path == '\\') name = path + 1;
#else
        if (*path == '/') name = path + 1;
#endif
    return name;
}

static char *join(const char *first, const char *second, const char *third)
{
    char *text = malloc(strlen(first) + strlen(second) + strlen(third) + 1);
    if (text) strcat(strcat(strcpy(text, first), second), third);
    return text;
}

struct names {
    char **items;
    size_t count, capacity;
};

static bool add_name(struct names *names, const char *name)
{
    if (!strcmp(name, ".") || !strcmp(name, "..")) return true;
    if (names->count == names->capacity) {
        size_t capacity = names->capacity ? 2 * names->capacity : 16;
        char **larger = realloc(names->items, capacity * sizeof *larger);
        if (!larger) return false;
        names->items = larger;
        names->capacity = capacity;
    }
    names->items[names->count] = join(name, "", "");
    return names->items[names->count++];
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void hl_folder_free(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++) free(names[i]);
    free(names);
}

// Sorts them; a folder without any has a list as well.
static char **finish_names(struct names *names, bool ok, size_t *count)
{
    if (ok && !names->items) names->items = calloc(1, sizeof *names->items);
    if (!ok || !names->items) {
        int code = errno;
        hl_folder_free(names->items, names->count);
        errno = code ? code : ENOMEM;
        return NULL;
    }
    qsort(names->items, names->count, sizeof *names->items, compare_names);
    *count = names->count;
    return names->items;
}

static const char *first_set(const char *const *variables, const char *otherwise)
{
    for (; *variables; variables++) {
        const char *value = getenv(*variables);
        if (value && *value) return value;
    }
    return otherwise;
}

static bool move_to_file(FILE *from, FILE *to)
{
    char block[65536];
    for (size_t count; (count = fread(block, 1, sizeof block, from)) > 0;)
        if (fwrite(block, 1, count, to) != count) return false;
    return !ferror(from) && fflush(to) == 0;
}

bool hl_stdin_rewind(void)
{
    clearerr(stdin);
    if (fseek(stdin, 0, SEEK_SET) == 0) return true;
    FILE *file = tmpfile();
    bool ok = file && move_to_file(stdin, file);
#if defined(_WIN32)
    ok = ok && _dup2(_fileno(file), _fileno(stdin)) == 0;
#else
    ok = ok && dup2(fileno(file), STDIN_FILENO) >= 0;
#endif
    int code = errno;
    if (file) fclose(file);
    errno = code;
    clearerr(stdin);
    return ok && fseek(stdin, 0, SEEK_SET) == 0;
}

#if defined(_WIN32)
// ---- Windows ------------------------------------------------------------------------------------

bool hl_path_look(const char *path, struct hl_path_facts *facts)
{
    struct _stat64 status;
    *facts = (struct hl_path_facts){0};
    if (_stat64(path, &status) != 0) return false;
    facts->kind = status.st_mode & _S_IFDIR ? HL_PATH_FOLDER : status.st_mode & _S_IFREG ? HL_PATH_FILE : HL_PATH_OTHER;
    facts->size = status.st_size;
    facts->modified = status.st_mtime;
    return true;
}

bool hl_path_may_read(const char *path)
{
    return _access(path, 4) == 0;
}

bool hl_path_may_write(const char *path)
{
    return _access(path, 2) == 0;
}

char **hl_folder_list(const char *folder, size_t *count)
{
    struct names names = {0};
    struct _finddata_t found;
    char *pattern = join(folder, "/*", "");
    intptr_t search = pattern ? _findfirst(pattern, &found) : -1;
    bool ok = search != -1;
    free(pattern);
    if (ok) do {
            ok = add_name(&names, found.name);
        } while (ok && _findnext(search, &found) == 0);
    if (search != -1) _findclose(search);
    return finish_names(&names, ok, count);
}

bool hl_folder_may_make(const char *folder)
{
    return hl_path_is_folder(folder) && hl_path_may_write(folder);
}

bool hl_folder_make(const char *folder)
{
    return _mkdir(folder) == 0 || hl_path_is_folder(folder);
}

char *hl_folder_make_temporary(const char *name)
{
    static const char *const variables[] = {"TMPDIR", "TEMP", "TMP", NULL};
    const char *where = first_set(variables, ".");
    for (int i = 0; i < 1000; i++) {
        char ending[48];
        snprintf(ending, sizeof ending, ".%d.%d", _getpid(), i);
        char *part = join(name, ending, ""), *path = part ? join(where, "/", part) : NULL;
        free(part);
        if (!path || _mkdir(path) == 0) return path;
        free(path);
        if (errno != EEXIST) break;
    }
    return NULL;
}

bool hl_folder_remove(const char *folder)
{
    return _rmdir(folder) == 0;
}

FILE *hl_file_open_beside(const char *path, char **beside)
{
    char ending[32];
    snprintf(ending, sizeof ending, ".%d.part", _getpid());
    *beside = join(path, ending, "");
    FILE *file = *beside ? fopen(*beside, "wxb") : NULL;
    if (file) return file;
    free(*beside);
    *beside = NULL;
    return NULL;
}

bool hl_file_move(const char *from, const char *to)
{
    if (MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING)) return true;
    errno = EACCES;
    return false;
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

#else
// ---- POSIX --------------------------------------------------------------------------------------

bool hl_path_look(const char *path, struct hl_path_facts *facts)
{
    struct stat status;
    *facts = (struct hl_path_facts){0};
    facts->is_link = lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
    if (stat(path, &status) != 0) return false;
    facts->kind = S_ISDIR(status.st_mode) ? HL_PATH_FOLDER : S_ISREG(status.st_mode) ? HL_PATH_FILE : HL_PATH_OTHER;
    facts->size = status.st_size;
    facts->modified = status.st_mtime;
    facts->number[0] = (uint64_t)status.st_dev;
    facts->number[1] = (uint64_t)status.st_ino;
    return true;
}

bool hl_path_may_read(const char *path)
{
    return access(path, R_OK) == 0;
}

bool hl_path_may_write(const char *path)
{
    return access(path, W_OK) == 0;
}

char **hl_folder_list(const char *folder, size_t *count)
{
    struct names names = {0};
    DIR *stream = opendir(folder);
    bool ok = stream != NULL;
    errno = ok ? 0 : errno;
    for (struct dirent *entry; ok && (entry = readdir(stream)) != NULL;) ok = add_name(&names, entry->d_name);
    ok = ok && errno == 0;
    int code = errno;
    if (stream) closedir(stream);
    errno = code;
    return finish_names(&names, ok, count);
}

bool hl_folder_may_make(const char *folder)
{
    if (access(folder, W_OK | X_OK) != 0) return false;
    if (hl_path_is_folder(folder)) return true;
    errno = ENOTDIR;
    return false;
}

bool hl_folder_make(const char *folder)
{
    return mkdir(folder, 0777) == 0 || hl_path_is_folder(folder);
}

char *hl_folder_make_temporary(const char *name)
{
    static const char *const variables[] = {"TMPDIR", NULL};
    char *start = join(first_set(variables, "/tmp"), "/", name), *path = start ? join(start, ".XXXXXX", "") : NULL;
    free(start);
    if (!path || mkdtemp(path)) return path;
    int code = errno;
    free(path);
    errno = code;
    return NULL;
}

bool hl_folder_remove(const char *folder)
{
    return rmdir(folder) == 0;
}

FILE *hl_file_open_beside(const char *path, char **beside)
{
    char ending[48];
    struct stat old;
    snprintf(ending, sizeof ending, ".%ld.part", (long)getpid());
    *beside = join(path, ending, "");
    int number = *beside ? open(*beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
    bool ok = number >= 0 && (lstat(path, &old) != 0 || fchmod(number, old.st_mode & 0777) == 0);
    FILE *file = ok ? fdopen(number, "wb") : NULL;
    if (file) return file;
    int code = errno;
    if (number >= 0) {
        close(number);
        unlink(*beside);
    }
    free(*beside);
    *beside = NULL;
    errno = code;
    return NULL;
}

bool hl_file_move(const char *from, const char *to)
{
    return rename(from, to) == 0;
}

bool hl_file_cut(FILE *file, size_t size)
{
    return ftruncate(fileno(file), (off_t)size) == 0;
}

bool hl_file_read_part(int number, uint64_t offset, void *bytes, size_t size, size_t *got)
{
    *got = 0;
    while (*got < size) {
        ssize_t more = pread(number, (char *)bytes + *got, size - *got, (off_t)(offset + *got));
        if (more < 0 && errno == EINTR) continue;
        if (more <= 0) return more == 0;
        *got += (size_t)more;
    }
    return true;
}

#endif
#endif // __wasi__
