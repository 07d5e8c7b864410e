// SPDX-License-Identifier: Apache-2.0
// Files that the command writes: complete, or not there.
#ifndef HALITE_TOOLS_OUTPUT_FILE_H
#define HALITE_TOOLS_OUTPUT_FILE_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "message.h"
#include "text.h"

static inline FILE *hl_output_open(const char *path, struct hl_text *error)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) hl_text_add(error, "cannot be written: %s", strerror(errno));
    return file;
}

// Closes the file. False, after removing it, where something could not be written (a full disk shows here).
static inline bool hl_output_close(FILE *file, const char *path, struct hl_text *error)
{
    bool ok = !ferror(file);
    int code = errno;
    if (fclose(file) != 0) {
        code = ok ? errno : code;
        ok = false;
    }
    if (ok) return true;
    struct stat info;
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode)) remove(path); // never a device
    hl_text_add(error, "cannot be written: %s", strerror(code));
    return false;
}

// Before long work whose result goes there: is it a folder, or in a folder that is not there? Leaves nothing behind.
// False after a message of this command.
static inline bool hl_output_check(const char *command, const char *path)
{
    struct stat info;
    struct hl_text folder = {0};
    const char *slash = strrchr(path, '/');
    hl_text_add(&folder, "%.*s", slash != NULL ? (int)(slash - path + 1) : 1, slash != NULL ? path : ".");
    int code = 0;
    if (stat(path, &info) == 0)
        code = S_ISDIR(info.st_mode) ? EISDIR : 0;
    else if (stat(folder.data, &info) != 0)
        code = errno;
    if (code != 0) hl_error(command, path, "cannot be written: %s", strerror(code));
    hl_text_free(&folder);
    return code == 0;
}

// A whole file. False after a message of this command.
static inline bool hl_output_write(const char *command, const char *path, const char *bytes, size_t count)
{
    struct hl_text error = {0};
    FILE *file = hl_output_open(path, &error);
    if (file != NULL && count > 0) fwrite(bytes, 1, count, file);
    bool ok = file != NULL && hl_output_close(file, path, &error);
    if (!ok) hl_error(command, path, "%s", error.data);
    hl_text_free(&error);
    return ok;
}

#endif
