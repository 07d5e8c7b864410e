// SPDX-License-Identifier: Apache-2.0
// ZIP archives in memory: no encryption, none above 4 GiB. In: bytes, which may stand behind others, as labels do
// behind a model. Out: files by name; or an archive made of files that are stored as they are.
#ifndef HALITE_TOOLS_ZIP_H
#define HALITE_TOOLS_ZIP_H

#include <stdbool.h>

#include "text.h"

struct hl_zip {
    const unsigned char *bytes; // lent
    size_t size;
    size_t directory, directory_end; // the list of files
    size_t start;                    // what offsets count from
};

struct hl_zip_file {
    const char *name; // lent, not terminated
    size_t name_length;
    const unsigned char *entry; // in the directory
};

// False where there is none, or none that makes sense.
bool hl_zip_open(struct hl_zip *zip, const void *bytes, size_t size);
// The files in order; *at is 0 before the first one. False behind the last one, or where the directory is damaged.
bool hl_zip_next(const struct hl_zip *zip, size_t *at, struct hl_zip_file *file);
// Adds a file's bytes to `content`. False where it is damaged (its checksum says), packed in another way than these two
// (stored, deflated) or, deflated, larger than 16 MiB.
bool hl_zip_read(const struct hl_zip *zip, const struct hl_zip_file *file, struct hl_text *content);
// The bytes of a file that is stored, in the archive; NULL likewise.
const unsigned char *hl_zip_stored(const struct hl_zip *zip, const struct hl_zip_file *file, size_t *size);

// `struct hl_zip_writer writer = {0};` starts an archive in writer.bytes.
struct hl_zip_writer {
    struct hl_text bytes, directory;
    int count;
    bool too_large; // 4 GiB, or 65535 files, are the most
};
void hl_zip_add(struct hl_zip_writer *writer, const char *name, const void *bytes, size_t size);
// Completes writer.bytes.
void hl_zip_finish(struct hl_zip_writer *writer);
void hl_zip_writer_free(struct hl_zip_writer *writer);

#endif
