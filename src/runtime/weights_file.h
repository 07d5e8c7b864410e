// SPDX-License-Identifier: Apache-2.0
// The file that keeps packed weights from one process to the next. In: blocks of bytes under names, which say what they
// were packed from. Out: a file for this user alone, and its blocks as a mapping that processes share. A file is
// believed only where its identity (library, CPU level, layout) is this process's own; each block, where its bytes have
// the fingerprint that was written with them.
#ifndef HALITE_RUNTIME_WEIGHTS_FILE_H
#define HALITE_RUNTIME_WEIGHTS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

// How files begin: what must be the same for their blocks to be of use.
struct hl_weights_identity {
    char text[96]; // zeros after it
};
void hl_weights_identify(struct hl_weights_identity *identity, const char *level);

// A file in use: by a cache, and by each block that lies in it.
struct hl_weights_file;

// NULL: *why says what is wrong with the file, and is NULL where there is none. *foreign: it is something else, which
// must not be replaced.
struct hl_weights_file *hl_weights_file_open(const char *path, const struct hl_weights_identity *identity,
                                             const char **why, bool *foreign);
// One more user, and one less: the last one takes the mapping. Both take NULL, and are for one thread at a time.
struct hl_weights_file *hl_weights_file_keep(struct hl_weights_file *file);
void hl_weights_file_drop(struct hl_weights_file *file);

// The block of this name and size, in cache lines, and *sum, the fingerprint that its bytes were found to have. NULL:
// there is none, or, where *damaged is set, none any more.
const void *hl_weights_file_find(struct hl_weights_file *file, const struct hl_digest *name, size_t size,
                                 struct hl_digest *sum, bool *damaged);

// A block to be written. Those with the same data lie side by side, and are written once.
struct hl_weights_item {
    struct hl_digest name, sum; // sum: of the data
    const void *data;
    size_t size;
};
// The blocks of a file, without those that were found damaged; *count of them. The caller frees the array. NULL: none,
// or no memory.
struct hl_weights_item *hl_weights_file_items(const struct hl_weights_file *file, size_t room, size_t *count);
// Puts a file with these blocks in the place of another. False: *why says why the old one stays.
bool hl_weights_file_write(const char *path, const struct hl_weights_identity *identity,
                           const struct hl_weights_item *items, size_t count, const char **why);

#endif
