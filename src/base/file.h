// SPDX-License-Identifier: Apache-2.0
// Files. In: a path. Out: a file's bytes, read-only: a mapping where the system has one, else a copy. And files that
// the library keeps for itself, which others may change, cut or replace at any time.
#ifndef HALITE_BASE_FILE_H
#define HALITE_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

// A copy of the bytes of a file that this user keeps: a regular file, no link, that nobody else owns or may write, of 1
// to `most` bytes. malloc'ed. NULL: *why says what is wrong with it, and is NULL where there is no such file. *why is
// overwritten by the next call of this thread.
void *hl_file_read_kept(const char *path, size_t most, size_t *size, const char **why);
// The same as a mapping, which hl_file_close ends. Another program of this user may still change the bytes: whoever
// trusts them checks them first. False: as NULL above.
bool hl_file_map_kept(struct hl_file *file, const char *path, size_t most, const char **why);
// Puts bytes in place of a file, or makes it, for this user alone. Whoever reads it meanwhile, or writes it too, sees
// all of one version; so does the next reader when this process dies. On failure, as above, the old file stays.
bool hl_file_write_kept(const char *path, const void *bytes, size_t size, const char **why);
// The same of several pieces, one after the other.
struct hl_file_piece {
    const void *bytes;
    size_t size;
};
bool hl_file_write_pieces(const char *path, const struct hl_file_piece *pieces, size_t count, const char **why);
// The name, in a folder of kept files, of what was measured on a device of an API.
enum { HL_FILE_NAME_BYTES = 200 };
void hl_file_tuned_name(char name[HL_FILE_NAME_BYTES], const char *api, const char *device);
// Replaces each character of a file's name that some system does not take, or that means something to it.
void hl_file_clean_name(char *name);
// Notes that a kept file is used now, for hl_file_shrink_folder.
void hl_file_note_use(const char *path);
// Removes kept files from a folder, those first that were used the longest ago, until the others have `most` bytes
// together. Kept files are regular files of this user whose names end in `ending` and whose first bytes are the eight
// of `magic`; nothing else is touched, nor is the file `spared`, whose bytes count. Returns how many were removed. What
// cannot be read or removed stays.
int hl_file_shrink_folder(const char *folder, const char *ending, const char magic[8], uint64_t most,
                          const char *spared);

#endif
