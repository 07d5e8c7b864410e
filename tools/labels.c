// SPDX-License-Identifier: Apache-2.0
// Cuts a label file into lines. Carriage returns, a byte order mark and empty lines at the end are dropped; an empty
// line in the middle stays, for it counts.
#include "labels.h"

#include <stdlib.h>
#include <string.h>

#include "files.h"

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

bool hl_labels_load(const char *path, struct hl_labels *labels, struct hl_text *error)
{
    *labels = (struct hl_labels){0};
    if (!hl_files_read(path, file_limit, &labels->text, error)) goto fail;
    if (labels->text.length == 0) {
        hl_text_add(error, "is empty; a text file with one class name a line is wanted");
        goto fail;
    }
    if (memchr(labels->text.data, '\0', labels->text.length) != NULL) {
        hl_text_add(error, "is no text file; one class name a line is wanted");
        goto fail;
    }
    bool mark = strncmp(labels->text.data, "\xef\xbb\xbf", 3) == 0;
    split(labels, labels->text.data + (mark ? 3 : 0));
    if (labels->count > 0) return true;
    hl_text_add(error, "holds no class names, only empty lines");

fail:
    hl_labels_free(labels);
    return false;
}

void hl_labels_free(struct hl_labels *labels)
{
    free(labels->names);
    hl_text_free(&labels->text);
    *labels = (struct hl_labels){0};
}
