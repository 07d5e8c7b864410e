// SPDX-License-Identifier: Apache-2.0
// What path.c and the file for the system (path_posix.c, path_windows.c) have from each other.
#ifndef HALITE_BASE_PATH_SYSTEM_H
#define HALITE_BASE_PATH_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// Three texts as one, malloc'ed; NULL without memory.
char *hl_path_join(const char *first, const char *second, const char *third);
// The value of the first environment variable of a list, which NULL ends, that is set and not empty.
const char *hl_first_set(const char *const *variables, const char *otherwise);

// The names in a folder while they are read. "." and ".." are left out.
struct hl_names {
    char **items;
    size_t count, capacity;
};
bool hl_names_add(struct hl_names *names, const char *name);
// Sorts them and gives them away; a folder without any has a list as well. Not ok: frees them, with errno as it is.
char **hl_names_finish(struct hl_names *names, bool ok, size_t *count);

// A new file for bytes, which is gone when it is closed.
FILE *hl_file_temporary(void);
// Can standard input begin anew?
bool hl_stdin_is_file(void);
// Standard input reads from this file's beginning from now on.
bool hl_stdin_take(FILE *file);

#endif
