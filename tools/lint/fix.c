// SPDX-License-Identifier: Apache-2.0
// halite lint --fix: what the rules hold for safe, done. See lint.h.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "diff/models.h"
#include "lint/lint.h"
#include "message.h"

// One round. *count: findings that went; 0: the file is as it was.
static bool fix_once(struct hl_model_file *file, int *count)
{
    const struct hl_model_options none = {.threads = -1};
    struct hl_lint lint;
    struct hl_text bytes = {0}, error = {0};
    hl_lint_open(&lint, file, &none, 0, false);
    hl_lint_check_all(&lint);
    *count = lint.edit_count;
    bool ok = *count == 0 || hl_rewrite_model(file->model, &lint.edits, &bytes, &error);
    hl_lint_close(&lint);
    if (!ok) hl_error("lint", file->path, "cannot be written anew: it %s", error.data);
    hl_text_free(&error);
    if (!ok || *count == 0) {
        hl_text_free(&bytes);
        return ok;
    }
    const char *path = file->path;
    hl_model_file_close(file);
    return hl_model_file_open_bytes(file, "lint", path, bytes.data, bytes.length);
}

// Writes the file beside its place, and puts it there once its outputs were found equal.
static bool write_checked(const struct hl_model_file *file, const char *path, const char *target)
{
    char *beside = NULL;
    int different = -1;
    FILE *stream = hl_file_open_beside(target, &beside);
    if (stream == NULL) {
        hl_error("lint", target, "cannot be written: %s", strerror(errno));
        return false;
    }
    bool ok = fwrite(file->model->file_bytes, 1, file->model->file_size, stream) == file->model->file_size;
    ok = (fclose(stream) == 0) && ok;
    if (!ok) hl_error("lint", target, "cannot be written: %s", strerror(errno));
    ok = ok && hl_diff_same_outputs("lint", path, beside, &different);
    if (ok && different >= 0) {
        hl_error("lint", target, "is not written: output %d would differ from that of %s", different, path);
        ok = false;
    }
    if (ok && !hl_file_move(beside, target)) {
        hl_error("lint", target, "cannot be written: %s", strerror(errno));
        ok = false;
    }
    if (!ok) hl_file_remove(beside);
    free(beside);
    return ok;
}

bool hl_lint_fix(const char *path, const char *target, int *count)
{
    enum { MAX_ROUNDS = 32 };
    struct hl_model_file file;
    bool ok = hl_model_file_open(&file, "lint", path);
    *count = 0;
    for (int round = 0, went = 1; ok && went > 0 && round < MAX_ROUNDS; round++) {
        ok = fix_once(&file, &went);
        *count += ok ? went : 0;
    }
    ok = ok && (*count == 0 || write_checked(&file, path, target));
    hl_model_file_close(&file);
    return ok;
}
