// SPDX-License-Identifier: Apache-2.0
// See output_file.h. The file beside has the target's name and an ending of its own, so that it lies on the same file
// system and its owner is seen where a killed program leaves it.
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

bool hl_output_is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

// Makes a file beside the target, which is a file or nothing yet; with the target's permissions where it is there.
static bool open_beside(struct hl_output *output, const struct stat *old)
{
    struct hl_text name = {0};
    hl_text_add(&name, "%s.%ld.part", output->target, (long)getpid());
    int descriptor = open(name.data, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (descriptor >= 0 && old != NULL && fchmod(descriptor, old->st_mode & 0777) != 0) {
        close(descriptor);
        unlink(name.data);
        descriptor = -1;
    }
    output->file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    output->beside = name.data;
    if (output->file != NULL) return true;
    if (descriptor >= 0) {
        close(descriptor);
        unlink(name.data);
    }
    free(output->beside);
    output->beside = NULL;
    return false;
}

bool hl_output_open(struct hl_output *output, const char *path, struct hl_text *error)
{
    *output = (struct hl_output){0};
    if (hl_output_is_standard(path)) {
        output->file = stdout;
        return true;
    }
    struct stat old;
    bool there = lstat(path, &old) == 0;
    output->target = hl_alloc_string(path);
    bool replaced = !there || (S_ISREG(old.st_mode) && access(path, W_OK) == 0);
    // Without a right to make files in the folder the file itself may still be written.
    if (!replaced || !open_beside(output, there ? &old : NULL)) output->file = fopen(path, "wb");
    if (output->file != NULL) return true;
    hl_text_add(error, "cannot be written: %s", strerror(errno));
    free(output->target);
    return false;
}

bool hl_output_close(struct hl_output *output, struct hl_text *error)
{
    bool standard = output->file == stdout, ok = !ferror(output->file);
    int code = errno;
    if ((standard ? fflush(stdout) : fclose(output->file)) != 0) {
        code = ok ? errno : code;
        ok = false;
    }
    if (ok && output->beside != NULL && rename(output->beside, output->target) != 0) {
        code = errno;
        ok = false;
    }
    if (!ok) {
        struct stat info;
        const char *made = output->beside != NULL ? output->beside : output->target;
        if (made != NULL && stat(made, &info) == 0 && S_ISREG(info.st_mode)) remove(made); // never a device
        hl_text_add(error, "cannot be written: %s", strerror(code));
    }
    free(output->target);
    free(output->beside);
    *output = (struct hl_output){0};
    return ok;
}

bool hl_output_check(const char *command, const char *path)
{
    if (hl_output_is_standard(path)) return true;
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

bool hl_output_write(const char *command, const char *path, const char *bytes, size_t count)
{
    struct hl_text error = {0};
    struct hl_output output;
    bool ok = hl_output_open(&output, path, &error);
    if (ok && count > 0) fwrite(bytes, 1, count, output.file);
    ok = ok && hl_output_close(&output, &error);
    if (!ok) hl_error(command, hl_output_is_standard(path) ? "standard output" : path, "%s", error.data);
    hl_text_free(&error);
    return ok;
}
