// SPDX-License-Identifier: Apache-2.0
// What lies at a path, what a folder holds, and files that take another's place. In: paths. Out: facts, names, streams.
// Functions that fail set errno, as C's own do.
#ifndef HALITE_BASE_PATH_H
#define HALITE_BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum hl_path_kind {
    HL_PATH_FILE,
    HL_PATH_FOLDER,
    HL_PATH_OTHER, // a device or a pipe
};

struct hl_path_facts {
    enum hl_path_kind kind; // of what a link leads to
    bool is_link;           // the path itself is one; known where nothing is behind it as well
    int64_t size;           // bytes
    int64_t modified;       // seconds since the beginning of 1970
    uint64_t number[2];     // two paths with the same numbers lead to the same file; zeros where the system has none
};

// False where nothing is there, or nothing that this user may see.
bool hl_path_look(const char *path, struct hl_path_facts *facts);
bool hl_path_is_folder(const char *path);
bool hl_path_may_read(const char *path);
bool hl_path_may_write(const char *path);
// The last part of a path: the name of a file without its folders.
const char *hl_path_name(const char *path);

// The same path from the root, without links where the system can tell; the caller frees it. NULL where nothing is
// there. Its parts are separated by "/" on every system.
char *hl_path_absolute(const char *path);

// The names in a folder, sorted by their bytes, without "." and ".."; *count of them. NULL where it cannot be read.
// hl_folder_free frees them.
char **hl_folder_list(const char *folder, size_t *count);
void hl_folder_free(char **names, size_t count);
// May this user make files there?
bool hl_folder_may_make(const char *folder);
// Makes a folder, unless it is there already; the folder that it lies in is there.
bool hl_folder_make(const char *folder);
// Makes a folder that nobody else has, whose name begins so, where the system keeps what lasts as long as a program.
// The caller frees the path. NULL where it cannot be made.
char *hl_folder_make_temporary(const char *name);
bool hl_folder_remove(const char *folder); // an empty one

// C's fopen, for paths in UTF-8 on every system.
FILE *hl_file_stream(const char *path, const char *mode);
// A new file beside `path`, to be moved to its place when it is complete, with that file's permissions where there is
// one. *beside is its path, which the caller frees. NULL where it cannot be made.
FILE *hl_file_open_beside(const char *path, char **beside);
bool hl_file_remove(const char *path);
// Puts a file in the place of another, or where none is.
bool hl_file_move(const char *from, const char *to);
// Cuts a file that is open for writing, whose buffer is empty.
bool hl_file_cut(FILE *file, size_t size);
// Reads up to `size` bytes at `offset` of a file that some other program has opened under this number; *got of them.
bool hl_file_read_part(int number, uint64_t offset, void *bytes, size_t size, size_t *got);
// Begins standard input anew. What comes from a pipe is put into a file first, so that it can be read several times.
bool hl_stdin_rewind(void);

#endif
