// SPDX-License-Identifier: Apache-2.0
// Cuts a label file into lines. Carriage returns, a byte order mark and empty lines at the end are dropped; an empty
// line in the middle stays, for it counts.
#include "labels.h"

#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "packed_file.h"

static const size_t file_limit = (size_t)64 << 20;

static void split(struct hl_labels *labels, char *at)
{
    int capacity = 0;
    for (char *next; at != NULL; at = next) {
        next = strchr(at, '\n');
        if (next != NULL) *next++ = '\0';
        size_t length = strlen(at);
        if (length > 0 && at[length - 1] == '\r') at[length - 1] = '\0';
        if (labels->count == capacity) {
            capacity = capacity ? 2 * capacity : 64;
            labels->names = hl_alloc_grow(labels->names, (size_t)capacity, sizeof *labels->names);
        }
        labels->names[labels->count++] = at;
    }
    while (labels->count > 0 && labels->names[labels->count - 1][0] == '\0') labels->count--;
}

// Cuts labels->text, whose bytes came from somewhere, into names.
static bool cut(struct hl_labels *labels, struct hl_text *error)
{
    if (labels->text.length == 0) {
        hl_text_add(error, "is empty; a text file with one class name a line is wanted");
        return false;
    }
    if (memchr(labels->text.data, '\0', labels->text.length) != NULL) {
        hl_text_add(error, "is no text file; one class name a line is wanted");
        return false;
    }
    bool mark = strncmp(labels->text.data, "\xef\xbb\xbf", 3) == 0;
    split(labels, labels->text.data + (mark ? 3 : 0));
    if (labels->count == 0) hl_text_add(error, "holds no class names, only empty lines");
    return labels->count > 0;
}

bool hl_labels_load(const char *path, struct hl_labels *labels, struct hl_text *error)
{
    *labels = (struct hl_labels){0};
    bool ok = hl_files_read(path, file_limit, &labels->text, error) && cut(labels, error);
    if (!ok) hl_labels_free(labels);
    return ok;
}

bool hl_labels_load_packed(const TfLiteModel *model, struct hl_labels *labels)
{
    struct hl_text error = {0};
    *labels = (struct hl_labels){0};
    bool ok = hl_packed_file_read(model, "label", ".txt", &labels->text) && cut(labels, &error);
    if (!ok) hl_labels_free(labels);
    hl_text_free(&error);
    return ok;
}

void hl_labels_free(struct hl_labels *labels)
{
    free(labels->names);
    hl_text_free(&labels->text);
    *labels = (struct hl_labels){0};
}
