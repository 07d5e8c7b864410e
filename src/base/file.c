// SPDX-License-Identifier: Apache-2.0
// What file.h has beside the calls of each system.
#include "base/file.h"

#include <stdio.h>
#include <string.h>

bool hl_file_write_kept(const char *path, const void *bytes, size_t size, const char **why)
{
    return hl_file_write_pieces(path, &(struct hl_file_piece){bytes, size}, 1, why);
}

void hl_file_clean_name(char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    for (; *name; name++)
        if (!strchr(plain, *name)) *name = '_';
}

void hl_file_tuned_name(char name[HL_FILE_NAME_BYTES], const char *api, const char *device)
{
    snprintf(name, HL_FILE_NAME_BYTES, "tuned_%.16s_%.150s.txt", api, device);
    hl_file_clean_name(name);
}
