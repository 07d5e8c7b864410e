// SPDX-License-Identifier: Apache-2.0
// A file's bytes in memory, read-only. In: a path. Out: a mapping where the system has one, else a
// copy.
#ifndef HALITE_BASE_FILE_H
#define HALITE_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/report.h"

struct hl_file {
    const void *data; // page-aligned where mapped
    size_t size;
    int descriptor; // open until hl_file_close; -1 where the bytes are a copy
    bool mapped;
};

// A file without bytes succeeds with size 0. On failure one message with path and cause, and *file
// is empty.
bool hl_file_open(struct hl_file *file, const char *path, const struct hl_reporter *reporter);
void hl_file_close(struct hl_file *file);

#endif
