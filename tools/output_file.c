// SPDX-License-Identifier: Apache-2.0
// See output_file.h. The file beside has the target's name and an ending of its own, so that it lies on the same file
// system and its owner is seen where a killed program leaves it.
#include "output_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "message.h"

bool hl_output_is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

bool hl_output_open(struct hl_output *output, const char *path, struct hl_text *error)
{
    *output = (struct hl_output){0};
    if (hl_output_is_standard(path)) {
        output->file = stdout;
        return true;
    }
    struct hl_path_facts old;
    bool there = hl_path_look(path, &old);
    output->target = hl_alloc_string(path);
    bool replaced = there ? old.kind == HL_PATH_FILE && !old.is_link && hl_path_may_write(path) : !old.is_link;
    if (replaced) output->file = hl_file_open_beside(path, &output->beside);
    // Without a right to make files in the folder the file itself may still be written.
    if (output->file == NULL) output->file = hl_file_stream(path, "wb");
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
    if (ok && output->beside != NULL && !hl_file_move(output->beside, output->target)) {
        code = errno;
        ok = false;
    }
    if (!ok) {
        struct hl_path_facts facts;
        const char *made = output->beside != NULL ? output->beside : output->target;
        if (made != NULL && hl_path_look(made, &facts) && facts.kind == HL_PATH_FILE)
            hl_file_remove(made); // never a device
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
    struct hl_path_facts facts;
    struct hl_text folder = {0};
    hl_text_add(&folder, "%.*s.", (int)(hl_path_name(path) - path), path);
    int code = 0;
    if (hl_path_look(path, &facts))
        code = facts.kind == HL_PATH_FOLDER ? EISDIR : 0;
    else if (!hl_path_look(folder.data, &facts))
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
