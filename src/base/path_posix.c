// SPDX-License-Identifier: Apache-2.0
// See path.h: POSIX systems.
#define _XOPEN_SOURCE 700 // realpath, mkdtemp
#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path_system.h"

const char *hl_path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

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

char *hl_path_absolute(const char *path)
{
    return realpath(path, NULL);
}

char **hl_folder_list(const char *folder, size_t *count)
{
    struct hl_names names = {0};
    DIR *stream = opendir(folder);
    bool ok = stream != NULL;
    errno = ok ? 0 : errno;
    for (struct dirent *entry; ok && (entry = readdir(stream)) != NULL;) ok = hl_names_add(&names, entry->d_name);
    ok = ok && errno == 0;
    int code = errno;
    if (stream) closedir(stream);
    errno = code;
    return hl_names_finish(&names, ok, count);
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
    char *start = hl_path_join(hl_first_set(variables, "/tmp"), "/", name),
         *path = start ? hl_path_join(start, ".XXXXXX", "") : NULL;
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
    *beside = hl_path_join(path, ending, "");
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

bool hl_file_remove(const char *path)
{
    return unlink(path) == 0;
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

FILE *hl_file_stream(const char *path, const char *mode)
{
    return fopen(path, mode);
}

FILE *hl_file_temporary(void)
{
    return tmpfile();
}

bool hl_stdin_is_file(void)
{
    return true; // a seek tells: none goes through a pipe
}

bool hl_stdin_take(FILE *file)
{
    return dup2(fileno(file), STDIN_FILENO) >= 0;
}
