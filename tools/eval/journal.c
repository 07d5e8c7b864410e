// SPDX-License-Identifier: Apache-2.0
// See journal.h. The first line names the evaluation; a last line without its end was cut off and does not count.
#include "eval/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "files.h"

static const size_t file_limit = (size_t)1 << 30;

// The complete lines of an older journal go to `replay`, their bytes to `*kept`. True where there is none.
static bool replay_file(const char *path, const char *head, bool (*replay)(void *user_data, const char *line),
                        void *user_data, size_t *kept, struct hl_text *error)
{
    struct hl_text file = {0};
    *kept = 0;
    struct hl_path_facts facts;
    if (!hl_path_look(path, &facts)) return true;
    bool ok = hl_files_read(path, file_limit, &file, error);
    char *line = file.data, *end = line != NULL ? strchr(line, '\n') : NULL;
    if (ok && end != NULL) {
        *end = '\0';
        ok = strcmp(line, head) == 0;
        if (!ok)
            hl_text_add(error, "belongs to another evaluation (other flags, model or pictures); without --resume it is "
                               "dropped");
        while (ok && (line = end + 1, end = strchr(line, '\n')) != NULL) {
            *end = '\0';
            ok = replay(user_data, line);
            if (!ok)
                hl_text_add(error, "is damaged at byte %zu; remove it and start again", (size_t)(line - file.data));
        }
        if (ok) *kept = (size_t)(line - file.data);
    }
    hl_text_free(&file);
    return ok;
}

bool hl_journal_open(struct hl_journal *journal, const char *path, uint64_t fingerprint, bool resume,
                     bool (*replay)(void *user_data, const char *line), void *user_data, struct hl_text *error)
{
    struct hl_text name = {0}, why = {0};
    char head[64];
    size_t kept = 0;
    hl_text_add(&name, "%s.progress", path);
    snprintf(head, sizeof head, "halite evaluation 1 %016" PRIx64, fingerprint);
    bool ok = !resume || replay_file(name.data, head, replay, user_data, &kept, &why);
    if (ok) {
        journal->file = hl_file_stream(name.data, kept > 0 ? "r+b" : "wb");
        ok = journal->file != NULL && hl_file_cut(journal->file, kept) && fseek(journal->file, 0, SEEK_END) == 0;
        if (!ok) hl_text_add(&why, "cannot be written: %s", strerror(errno));
    }
    if (ok && kept == 0 && !hl_journal_add(journal, head)) {
        hl_text_add(&why, "cannot be written: %s", strerror(errno));
        ok = false;
    }
    if (!ok) hl_text_add(error, "%s: %s", name.data, why.data);
    journal->path = name.data;
    hl_text_free(&why);
    return ok;
}

bool hl_journal_add(struct hl_journal *journal, const char *line)
{
    if (journal->file == NULL) return true;
    if (fprintf(journal->file, "%s\n", line) > 0 && fflush(journal->file) == 0) return true;
    int code = errno; // of what failed, for the caller
    fclose(journal->file);
    journal->file = NULL;
    errno = code;
    return false;
}

void hl_journal_close(struct hl_journal *journal, bool complete)
{
    if (journal->file != NULL) fclose(journal->file);
    if (journal->path != NULL && complete) hl_file_remove(journal->path);
    free(journal->path);
    *journal = (struct hl_journal){0};
}
