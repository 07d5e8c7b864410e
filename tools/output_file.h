// SPDX-License-Identifier: Apache-2.0
// Files that the command writes: complete, or as they were before. A file is written beside its place and then renamed,
// so that a full disk does not cost what was there. "-" is standard output; devices, pipes and what links lead to are
// written as they are.
#ifndef HALITE_TOOLS_OUTPUT_FILE_H
#define HALITE_TOOLS_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "text.h"

struct hl_output {
    FILE *file;            // to write to
    char *target, *beside; // beside is renamed to target; NULL: the file is in its place already
};

// False on failure, with the reason in `error`; nothing is to be closed then.
bool hl_output_open(struct hl_output *output, const char *path, struct hl_text *error);

// Puts the file in its place. False, with the file that was there before as it was, where something could not be
// written (a full disk shows here).
bool hl_output_close(struct hl_output *output, struct hl_text *error);

// Before long work whose result goes there: is it a folder, or in a folder that is not there? Leaves nothing behind.
// False after a message of this command.
bool hl_output_check(const char *command, const char *path);

// A whole file. False after a message of this command.
bool hl_output_write(const char *command, const char *path, const char *bytes, size_t count);

// Is this path the word for standard output?
bool hl_output_is_standard(const char *path);

#endif
