// SPDX-License-Identifier: Apache-2.0
// A reader of ZIP archives, as far as models have them: no encryption, no archives above 4 GiB. In: a model's bytes.
// Out: a packed file's. Every offset is checked against the file; what does not fit reads as absent.
#include "packed_file.h"

#include <string.h>

// Compiled in image.c; these are the zlib part of the PNG reader.
#define STBI_NO_STDIO
#include <stb/stb_image.h>

#include "files.h"

enum {
    END_SIZE = 22,
    ENTRY_SIZE = 46,
    LOCAL_SIZE = 30,
    COMMENT = 65535,    // the longest that may stand behind the end
    CONTENT = 16 << 20, // the most that is read
    STORED = 0,
    DEFLATED = 8,
};

struct archive {
    const unsigned char *bytes;
    size_t size;
    size_t directory, directory_end; // the list of files
    size_t start;                    // what offsets count from
};

static size_t read16(const unsigned char *at)
{
    return (size_t)at[0] | (size_t)at[1] << 8;
}

static size_t read32(const unsigned char *at)
{
    return read16(at) | read16(at + 2) << 16;
}

// Whether so many bytes are there.
static bool holds(const struct archive *archive, size_t at, size_t count)
{
    return at <= archive->size && count <= archive->size - at;
}

static bool open_archive(const TfLiteModel *model, struct archive *archive)
{
    *archive = (struct archive){.bytes = model->file_bytes, .size = model->file_size};
    if (archive->bytes == NULL || archive->size < END_SIZE) return false;
    size_t last = archive->size - END_SIZE, first = last > COMMENT ? last - COMMENT : 0;
    for (size_t at = last + 1; at-- > first;) {
        const unsigned char *end = archive->bytes + at;
        if (memcmp(end, "PK\5\6", 4) != 0) continue;
        size_t size = read32(end + 12), offset = read32(end + 16);
        if (size > at || offset > at - size) return false;
        archive->directory = at - size;
        archive->directory_end = at;
        archive->start = at - size - offset;
        return true;
    }
    return false;
}

static bool unpack(const struct archive *archive, const unsigned char *entry, struct hl_text *content)
{
    size_t method = read16(entry + 10), packed = read32(entry + 20), size = read32(entry + 24);
    size_t offset = read32(entry + 42), flags = read16(entry + 8);
    if ((flags & 1) != 0 || size > CONTENT || packed > CONTENT || offset > archive->size - archive->start) return false;
    size_t local = archive->start + offset;
    if (!holds(archive, local, LOCAL_SIZE) || memcmp(archive->bytes + local, "PK\3\4", 4) != 0) return false;
    size_t data = local + LOCAL_SIZE + read16(archive->bytes + local + 26) + read16(archive->bytes + local + 28);
    if (!holds(archive, data, packed)) return false;
    const char *bytes = (const char *)archive->bytes + data;
    if (method == STORED) {
        if (packed != size) return false;
        hl_text_add_bytes(content, bytes, size);
        return true;
    }
    if (method != DEFLATED) return false;
    char *unpacked = hl_alloc(size, 1);
    bool ok = stbi_zlib_decode_noheader_buffer(unpacked, (int)size, bytes, (int)packed) == (int)size;
    if (ok) hl_text_add_bytes(content, unpacked, size);
    free(unpacked);
    return ok;
}

static bool fits(const char *name, size_t length, const char *part, const char *ending)
{
    struct hl_text text = {0};
    hl_text_add_bytes(&text, name, length);
    const char *string = hl_text_string(&text);
    bool found = strstr(string, part) != NULL && hl_files_ends_with(string, ending);
    hl_text_free(&text);
    return found;
}

bool hl_packed_file_read(const TfLiteModel *model, const char *part, const char *ending, struct hl_text *content)
{
    struct archive archive;
    if (!open_archive(model, &archive)) return false;
    for (size_t at = archive.directory; at < archive.directory_end;) {
        const unsigned char *entry = archive.bytes + at;
        if (!holds(&archive, at, ENTRY_SIZE) || memcmp(entry, "PK\1\2", 4) != 0) return false;
        size_t name = read16(entry + 28), rest = read16(entry + 30) + read16(entry + 32);
        if (!holds(&archive, at + ENTRY_SIZE, name + rest)) return false;
        if (fits((const char *)entry + ENTRY_SIZE, name, part, ending)) return unpack(&archive, entry, content);
        at += ENTRY_SIZE + name + rest;
    }
    return false;
}
