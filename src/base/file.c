// SPDX-License-Identifier: Apache-2.0
// What file.h has beside the calls of each system.
#include "base/file.h"

bool hl_file_write_kept(const char *path, const void *bytes, size_t size, const char **why)
{
    return hl_file_write_pieces(path, &(struct hl_file_piece){bytes, size}, 1, why);
}
